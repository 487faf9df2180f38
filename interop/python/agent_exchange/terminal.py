"""Text of other parties on a terminal."""


def plain(value):
    """Without control characters."""
    return str(value).encode("unicode_escape").decode("ascii")
