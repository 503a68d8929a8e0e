"""Settings, overlays, personas and models: what the kit, the user and the project bring along.

It calls nobody and writes nothing.
"""
