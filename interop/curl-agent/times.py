"""Times of the protocol, compared as instants."""

import datetime

from canonical import Refused


def instant(text):
    try:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (AttributeError, ValueError) as error:
        raise Refused("not a time") from error


def write(moment):
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
