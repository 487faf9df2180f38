"""Verifies capsules of format 3: nothing in them is unbound, and nothing is missing in the middle."""

from .canonical_json import Refused
from .capsule_chains import Tree, is_hidden, verify_chains
from .capsule_checks import Checks, Contradiction, attempt, holds
from .encodings_and_keys import require
from .capsule_disclosures import verify_disclosures
from .capsule_shape import require_shape
from .capsule_statements import Statements
from .instants import is_earlier, seconds_of
from .log_policy import open_log
from .transparency_log import standard_base64, verify_consistency

# How far a recorded time may lie outside of what cosigned checkpoints before and after its leaf allow.
TOLERANCE_SECONDS = 600
REFUTED_SECONDS = 86_400


def open_history(log, head, policy, checks):
    """The earlier checkpoints that lead to this one."""
    heads = []
    for earlier in log.get("history", []):

        def lead():
            before, _ = open_log(log, earlier["checkpoint"], policy)
            proof = list(map(standard_base64, earlier["consistency"]))
            require(before["origin"] == head["origin"], "another log")
            verify_consistency(before["size"], before["root"], head["size"], head["root"], proof)
            heads.append(before)

        checks.check("log_history", holds(lead))
    return heads


def check_times(capsule, leaves, heads, checks):
    """Every recorded time lies between the last cosigned checkpoint without the leaf and the first one with it.

    Returns whether each has the former: without it, an entry may be backdated.
    """
    is_bounded_below = True
    for package in capsule["packages"]:
        own = leaves.get(package["metadata"]["package_id"], {})
        for entry in package["entries"]:
            index = own.get(entry["position"])
            if is_hidden(entry) or index is None:
                continue
            after = [head["newest_at"] for head in heads if head["size"] <= index and head["newest_at"] is not None]
            before = [head["seen_by"] for head in heads if head["size"] > index and head["seen_by"] is not None]
            is_bounded_below = is_bounded_below and bool(after)
            recorded = seconds_of(entry["proof"]["recorded_at"])
            if not checks.check("recorded_time", recorded is not None):
                continue
            outside = max(max(after) - recorded if after else 0, recorded - min(before) if before else 0)
            checks.check("recorded_time", outside <= REFUTED_SECONDS)
            if outside > TOLERANCE_SECONDS:
                checks.lower()
    return is_bounded_below


def check_key_order(statements, logged, leaves, checks):
    """Keys entered the log before what they signed. If a revocation did too, only the exchange says what came first."""
    for package_id, position, agent_id, key_id in statements.uses:
        used = leaves.get(package_id, {}).get(position)
        if used is None:
            continue
        events = [(index, event) for index, event in logged if event["agent_id"] == agent_id]
        own = [(index, event["kind"]) for index, event in events if event["key_id"] == key_id]
        registered = next((index for index, kind in own if kind == "registered"), None)
        checks.check("key_logged_before_use", registered is None or registered <= used)
        if any(kind == "revoked" and index < used for index, kind in own):
            checks.lower()


def stated_end(capsule):
    """Up to when the exchange states that nothing more was recorded."""
    end = None
    for package in capsule["packages"]:
        if "head" not in package:
            return None
        stated = package["head"]["stated_at"]
        end = stated if end is None or is_earlier(stated, end) else end
    return end


def verify_chain_capsule(capsule, policy):
    try:
        require_shape(capsule)
    except Refused as error:
        raise Contradiction(["capsule_readable"]) from error
    checks, log = Checks(), capsule["log"]
    opened = attempt(open_log, log, log["checkpoint"], policy)
    if not checks.check("log_checkpoint", opened):
        checks.conclude()
    head, level = opened
    heads = [head, *open_history(log, head, policy, checks)]
    logged, keys, leaves = verify_chains(capsule, Tree(log["checkpoint"], head), checks)
    statements = Statements(capsule, keys, checks)
    is_bounded_below = check_times(capsule, leaves, heads, checks)
    check_key_order(statements, logged, leaves, checks)
    disclosed = verify_disclosures(capsule, logged, statements, checks)
    checks.conclude()
    return {
        "level": "signed-only" if checks.is_lowered else level,
        "origin": head["origin"],
        "size": head["size"],
        "complete_up_to": stated_end(capsule),
        "earlier_checkpoint": is_bounded_below,
        "in_doubt": checks.is_in_doubt,
        "disclosed": disclosed,
    }
