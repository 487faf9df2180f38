"""Prints the canonical form of an object: `print_canonical [@FILE] [NAME=TEXT]... [NAME:=INTEGER]...`"""

import sys

from .canonical_json import Refused, canonical_bytes, read_file
from .terminal import plain


def member(argument):
    name, _, text = argument.partition("=")
    return (name[:-1], int(text)) if name.endswith(":") else (name, text)


if __name__ == "__main__":
    try:
        members = sys.argv[1:]
        base = read_file(members.pop(0)[1:]) if members and members[0].startswith("@") else {}
        sys.stdout.buffer.write(canonical_bytes({**base, **dict(map(member, members))} if members else base))
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
