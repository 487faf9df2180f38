"""RFC 3339 times as exact instants, and when a key counted."""

import re
from datetime import datetime, timedelta
from fractions import Fraction

from .canonical_json import Refused

TIME = re.compile(r"(\d{4}-\d\d-\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d+))?(?:[Zz]|([+-])(\d\d):(\d\d))", re.ASCII)
ALWAYS = "0001-01-01T00:00:00Z"
DAY = 86_400


def parse_instant(text):
    """Seconds and the digits of the fraction; None unless the text is a time."""
    match = TIME.fullmatch(text) if isinstance(text, str) else None
    if not match:
        return None
    date, *clock, fraction, sign, offset_hours, offset_minutes = match.groups()
    hours, minutes, seconds = map(int, clock)
    offset = (int(offset_hours), int(offset_minutes)) if sign else (0, 0)
    if hours > 23 or minutes > 59 or seconds > 60 or offset[0] > 23 or offset[1] > 59 or date.startswith("0000"):
        return None
    try:
        day = datetime.strptime(date, "%Y-%m-%d")
    except ValueError:
        return None
    shift = (offset[0] * 3_600 + offset[1] * 60) * (-1 if sign == "-" else 1)
    total = (day - datetime(1970, 1, 1)) // timedelta(seconds=1) + hours * 3_600 + minutes * 60 + seconds - shift
    if seconds == 60 and total % DAY:
        return None
    return total, (fraction or "").rstrip("0")


def is_earlier(left, right):
    """None unless both are times."""
    first, second = parse_instant(left), parse_instant(right)
    return None if first is None or second is None else first < second


def seconds_of(text):
    found = parse_instant(text)
    return None if found is None else found[0] + float(f"0.{found[1] or 0}")


def instant(text):
    """Seconds, exactly: a nanosecond counts."""
    found = parse_instant(text)
    if found is None:
        raise Refused("not a time")
    return found[0] + Fraction(f"0.{found[1] or 0}")


def write(moment):
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def time_or(text, default):
    return text if parse_instant(text) else default


def judge_key(key, arrived_at, claimed_at=None):
    """Whether a key counted when a statement was made and when it arrived: valid, doubt or invalid."""
    times = [arrived_at] if claimed_at is None else [arrived_at, claimed_at]
    if any(is_earlier(time, key["valid_from"]) is not False for time in times):
        return "invalid"
    # A time that cannot be read counts against the key.
    cutoffs = [
        (time_or(invalid_from, key["valid_from"]), time_or(recorded_at, ALWAYS))
        for invalid_from, recorded_at in key["revocations"]
    ]
    passed = [recorded for cutoff, recorded in cutoffs if any(is_earlier(time, cutoff) is not True for time in times)]
    if any(is_earlier(recorded, arrived_at) is True for recorded in passed):
        return "invalid"
    return "doubt" if passed else "valid"
