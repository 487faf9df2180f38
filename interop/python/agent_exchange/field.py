"""Prints one member of a JSON file: `field FILE NAME...`; a number selects a list item. Prints nothing if it is missing."""

import sys

from .canonical_json import read_file

value = read_file(sys.argv[1])
for name in sys.argv[2:]:
    if isinstance(value, list):
        value = value[int(name)] if int(name) < len(value) else None
    else:
        value = value.get(name) if isinstance(value, dict) else None
if value is not None:
    print({True: "true", False: "false"}.get(value, value) if isinstance(value, bool) else value)
