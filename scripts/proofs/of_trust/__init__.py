"""The promises that `scripts/prove trust` tries to break: one module for each."""
