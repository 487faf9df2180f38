"""Opens packages for the conformance kit: reads one package id a line, answers each with a line of JSON.

`python3 interop/python/open_lines.py ./aex-agent`
"""

import json
import sys

from agent_exchange.canonical_json import Refused
from agent_exchange.exchange import ExchangeFailed, Folder, TooLarge
from agent_exchange.opener import Opener
from agent_exchange.opening import NotOpened

FAILURES = (Refused, NotOpened, TooLarge, ExchangeFailed, KeyError, TypeError, UnicodeDecodeError)

opener = Opener(Folder(sys.argv[1]))
for line in sys.stdin:
    try:
        answer = {"opened": True, "object": json.loads(opener.open(line.strip()))}
    except FAILURES as error:
        answer = {"opened": False, "reason": type(error).__name__}
    print(json.dumps(answer), flush=True)
