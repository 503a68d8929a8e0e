"""What commands print with --json, checked against its schema."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema

DOCS = Path(__file__).resolve().parent.parent / "docs"
SCHEMA = json.loads((DOCS / "cli.schema.json").read_text("utf-8"))
FORMATS = jsonschema.Draft202012Validator.FORMAT_CHECKER


def check(kind: str, value: Any) -> None:
    schema = {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{kind}"}]}
    jsonschema.Draft202012Validator(schema, format_checker=FORMATS).validate(value)
