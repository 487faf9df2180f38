"""A validator for the published JSON Schemas. An unknown keyword is an error.

What a schema cannot say (two times compared) is added below. `schemas FOLDER OBJECT.json` checks one object.
"""

import json
import pathlib
import re
import sys

from .canonical_json import Refused, parse, read_file
from .encodings_and_keys import require
from .instants import instant
from .terminal import plain

OBJECT_TYPES = (
    "reasoning_package",
    "response_object",
    "policy_envelope",
    "loop_thread",
    "network_story",
    "audit_event",
)
TYPES = {
    "object": dict,
    "array": list,
    "string": str,
    "boolean": bool,
    "number": (int, float),
    "integer": int,
}
ANNOTATIONS = {"$schema", "$id", "$defs", "title", "description", "x-requirement", "x-open-point", "x-values-in-use"}
WITH_IF = {"then"}
DATE_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")


def is_date_time(value):
    try:
        instant(re.sub(r"\.\d+", "", value))
        return DATE_TIME.fullmatch(value) is not None
    except Refused:
        return False


def is_type(value, name):
    return isinstance(value, TYPES[name]) and (name == "boolean" or not isinstance(value, bool))


def matches(pattern, value):
    # In ECMA-262 $ matches only the end; in Python it also matches before a final line break.
    return re.search(re.sub(r"\$$", r"\\Z", pattern), value, re.ASCII) is not None


def distinct(items):
    return len({json.dumps(item, sort_keys=True) for item in items})


# Each keyword applies only to values of its type; "type" checks the others.
KEYWORDS = {
    "type": lambda value, wanted: is_type(value, wanted),
    "enum": lambda value, wanted: value in wanted,
    "const": lambda value, wanted: value == wanted,
    "required": lambda value, names: not isinstance(value, dict) or set(names) <= set(value),
    "pattern": lambda value, pattern: not isinstance(value, str) or matches(pattern, value),
    "format": lambda value, name: not isinstance(value, str) or (name == "date-time" and is_date_time(value)),
    "minLength": lambda value, limit: not isinstance(value, str) or len(value) >= limit,
    "minItems": lambda value, limit: not isinstance(value, list) or len(value) >= limit,
    "maxItems": lambda value, limit: not isinstance(value, list) or len(value) <= limit,
    "minimum": lambda value, limit: not is_type(value, "number") or value >= limit,
    "maximum": lambda value, limit: not is_type(value, "number") or value <= limit,
    "uniqueItems": lambda value, wanted: not (isinstance(value, list) and wanted) or distinct(value) == len(value),
}


def fits(value, schema, root):
    try:
        check(value, schema, root)
        return True
    except Refused:
        return False


def check(value, schema, root, at=""):
    for keyword, argument in schema.items():
        if keyword == "$ref":
            check(value, root["$defs"][argument.removeprefix("#/$defs/")], root, at)
        elif keyword == "items":
            for index, item in enumerate(value if isinstance(value, list) else ()):
                check(item, argument, root, f"{at}/{index}")
        elif keyword == "properties":
            for name in set(argument) & set(value if isinstance(value, dict) else ()):
                check(value[name], argument[name], root, f"{at}/{name}")
        elif keyword == "additionalProperties":
            known = set(schema["properties"] if argument is False else value)
            require(not isinstance(value, dict) or set(value) <= known, f"{at or '/'} has an unknown member")
        elif keyword == "not":
            require(not fits(value, argument, root), f"{at or '/'} breaks not")
        elif keyword == "if":
            if fits(value, argument, root):
                check(value, schema["then"], root, at)
        elif keyword not in ANNOTATIONS | WITH_IF:
            require(keyword in KEYWORDS, f"this agent does not know the schema keyword {keyword}")
            require(KEYWORDS[keyword](value, argument), f"{at or '/'} breaks {keyword}")


def check_object(folder, value):
    """The schema of the object, then the rules between its members."""
    object_type = value.get("object_type") if isinstance(value, dict) else None
    require(object_type in OBJECT_TYPES, "not a protocol object")
    schema = read_file(pathlib.Path(folder) / f"{object_type}.schema.json")
    check(value, schema, schema)
    due = value.get("response_required", {}).get("deadline") or value.get("next_update")
    require(due is None or instant(due) >= instant(value["created_at"]), "due before it was created")
    return value


if __name__ == "__main__":
    try:
        check_object(sys.argv[1], parse(pathlib.Path(sys.argv[2]).read_bytes()))
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
