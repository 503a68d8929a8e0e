"""The new core, built beside the old one. Nothing outside this folder imports it yet."""
