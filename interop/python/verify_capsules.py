"""Reads a capsule, a policy and changes to the capsule from standard input; prints a JSON line for each change."""

import copy
import json
import sys

from agent_exchange.capsule_checks import REFUSALS
from capsules import changed
from agent_exchange.chain_capsules import verify_chain_capsule
from agent_exchange.log_policy import parse_policy


def verdict(capsule, edits, policy):
    value = copy.deepcopy(capsule)
    for pointer, change in edits:
        changed(value, pointer, change)
    try:
        found = verify_chain_capsule(value, policy)
    except REFUSALS as error:
        return {"fails": sorted(error.codes)}
    return {name: value for name, value in found.items() if name not in ("origin", "size")}


given = json.load(sys.stdin)
trusted = parse_policy(given["policy"])
for edits in given["changes"]:
    print(json.dumps(verdict(given["capsule"], edits, trusted)))
