"""Findings: read from replies, placed in the documents, merged, challenged, patched and rendered.

Pure, and optional: without this room every other debate still runs.
"""
