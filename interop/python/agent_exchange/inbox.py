"""The inbox: one file per notification, stored before the cursor advances.

`inbox keep FOLDER PAGE.json` prints the highest sequence up to which nothing is missing; an event that is there
already must be the same. `inbox show EVENT.json` prints one in a line.
"""

import json
import os
import pathlib
import sys

from .canonical_json import Refused, read_file
from .encodings_and_keys import require
from .terminal import plain


def keep(folder, event):
    path = folder / f"{event['sequence']:012d}.json"
    if path.exists():
        require(read_file(path) == event, f"another event under sequence {event['sequence']}")
        return
    fresh = path.with_suffix(".new")
    with fresh.open("w", encoding="utf-8") as file:
        json.dump(event, file)
        file.flush()
        os.fsync(file.fileno())
    os.replace(fresh, path)


def contiguous(folder):
    sequences = sorted(int(path.stem) for path in folder.glob("*.json"))
    for one, following in zip(sequences, sequences[1:]):
        if following != one + 1:
            return one
    return sequences[-1] if sequences else 0


def main(command, *arguments):
    if command == "show":
        event = read_file(*arguments)
        return print(*(plain(event[name]) for name in ("sequence", "event_type", "package_id", "state")))
    folder = pathlib.Path(arguments[0])
    for event in read_file(arguments[1])["items"]:
        keep(folder, event)
    print(contiguous(folder))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
