"""RFC 8785 canonical JSON, and a strict parser for its input."""

import json
import math
import pathlib
import re

MAXIMUM_DEPTH = 32


class Refused(Exception):
    """The input violates the profile."""


def parse(data):
    """Strict JSON (RFC 7493)."""
    if isinstance(data, bytes):
        try:
            data = data.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Refused("not UTF-8") from error
    if data.startswith("\ufeff"):
        raise Refused("byte order mark")
    try:
        value = json.loads(
            data,
            object_pairs_hook=_members,
            parse_int=_integer,
            parse_float=_float,
            parse_constant=_constant,
        )
    except (ValueError, RecursionError) as error:
        raise Refused("no JSON") from error
    _require_plain(value, 0)
    return value


def read_file(path):
    return parse(pathlib.Path(path).read_bytes())


def canonicalize(value):
    if value is None or isinstance(value, bool):
        return json.dumps(value)
    if isinstance(value, str):
        # With ensure_ascii=False, Python escapes as RFC 8785 section 3.2.2.2 requires.
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, (int, float)):
        return _number(float(value))
    if isinstance(value, list):
        return "[" + ",".join(map(canonicalize, value)) + "]"
    # RFC 8785 section 3.2.3: names sort by UTF-16 code units, like their big-endian bytes.
    names = sorted(value, key=lambda name: name.encode("utf-16-be"))
    return "{" + ",".join(canonicalize(name) + ":" + canonicalize(value[name]) for name in names) + "}"


def canonical_bytes(value):
    try:
        return canonicalize(value).encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("a lone surrogate") from error


def _number(value):
    """Number::toString of ECMAScript, from the shortest digits, which repr of Python also gives."""
    if value == 0:
        return "0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).rstrip("0") if fraction != "0" else whole.rstrip("0")
    # The position of the decimal point, counted from the first non-zero digit.
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.lstrip("0")
    if len(digits) <= point <= 21:
        return sign + digits + "0" * (point - len(digits))
    if 0 < point <= 21:
        return sign + digits[:point] + "." + digits[point:]
    if -6 < point <= 0:
        return sign + "0." + "0" * -point + digits
    power = f"e{point - 1:+d}"
    return sign + digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + power


def _members(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        raise Refused("a member name repeats")
    return members


def _integer(literal):
    value = float(literal)
    if math.isinf(value) or (int(literal) != int(value) and _number(value) != literal):
        raise Refused("an integer that no double holds")
    return int(literal) if int(literal) == int(value) else value


def _float(literal):
    value = float(literal)
    vanished = value == 0 and re.search("[1-9]", re.split("[eE]", literal)[0])
    if math.isinf(value) or vanished:
        raise Refused("a number that no double holds")
    return value


def _constant(name):
    raise Refused(f"{name} is no JSON")


def _require_plain(value, depth):
    if isinstance(value, str):
        if re.search("[\ud800-\udfff]", value):
            raise Refused("a lone surrogate")
    elif isinstance(value, (list, dict)):
        if depth == MAXIMUM_DEPTH:
            raise Refused("nested too deeply")
        for item in value:
            _require_plain(item, depth + 1)
        for item in value.values() if isinstance(value, dict) else ():
            _require_plain(item, depth + 1)
