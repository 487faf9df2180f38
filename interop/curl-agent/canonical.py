"""Canonical JSON (RFC 8785), a strict reader, digests and base64url.

As a command, prints the canonical form of an object: `canonical.py [@FILE] [NAME=TEXT]... [NAME:=INTEGER]...`

Whatever is signed or digested here holds strings, integers, booleans, null, lists and objects with ASCII names.
For those, json.dumps with sorted names and without blanks writes RFC 8785 byte for byte. It would not for
fractions (section 3.2.2.3 wants ECMAScript's form) or for other names (section 3.2.3 sorts by UTF-16 units), so
these are refused rather than written wrongly. A package's plaintext may hold them: it is sealed as bytes.
"""

import base64
import hashlib
import json
import pathlib
import re
import sys

LARGEST_INTEGER = 2**53 - 1
MAXIMUM_DEPTH = 32


class Refused(Exception):
    """The input is invalid."""


def plain(value):
    """Text for a terminal, without control characters of other parties."""
    return str(value).encode("unicode_escape").decode("ascii")


def require(holds, reason):
    if not holds:
        raise Refused(reason)


def exactly(value, *names):
    require(isinstance(value, dict) and set(value) == set(names), f"not exactly the members {', '.join(names)}")
    return value


def parse(data):
    """Strict JSON: UTF-8 and no duplicate members."""
    try:
        text = data.decode("utf-8") if isinstance(data, bytes) else data
        return json.loads(text, object_pairs_hook=_members, parse_constant=_constant)
    except (ValueError, RecursionError) as error:
        raise Refused("not JSON") from error


def read(path):
    return parse(pathlib.Path(path).read_bytes())


def canonical(value):
    _require_exact(value)
    try:
        text = json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("a lone surrogate has no canonical form") from error


def digest(data):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def decode(text):
    """Canonical base64url without padding."""
    require(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]*", text) and len(text) % 4 != 1, "not base64url")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(encode(data) == text, "base64url in another form")
    return data


def encode(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("a member twice")
    return members


def _constant(name):
    raise ValueError(f"{name} is not JSON")


def _require_exact(value, depth=0):
    if isinstance(value, (dict, list)):
        require(depth < MAXIMUM_DEPTH, "nested too deeply")
        names = value if isinstance(value, dict) else ()
        require(all(isinstance(name, str) and name.isascii() for name in names), "a member name beyond ASCII")
        for item in value.values() if isinstance(value, dict) else value:
            _require_exact(item, depth + 1)
    elif isinstance(value, int) and not isinstance(value, bool):
        require(abs(value) <= LARGEST_INTEGER, "an integer that not every reader can hold")
    else:
        require(value is None or isinstance(value, (str, bool)), "a fraction has no simple canonical form")


def _argument(argument):
    name, _, text = argument.partition("=")
    return (name[:-1], int(text)) if name.endswith(":") else (name, text)


if __name__ == "__main__":
    try:
        members = sys.argv[1:]
        base = read(members.pop(0)[1:]) if members and members[0].startswith("@") else {}
        sys.stdout.buffer.write(canonical({**base, **dict(map(_argument, members))} if members else base))
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
