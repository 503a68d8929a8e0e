"""Settings, overlays, personas and models: from the kit, the user and the project.

It calls nobody and writes nothing.
"""
