"""Verifies capsules. Of format 2 only the chain and the log part: the signatures in it have profiles of their own."""

import hashlib
import json
import pathlib
from datetime import datetime
from itertools import groupby

from jwcrypto.jwk import JWK

from agent_exchange.canonical_json import canonical_bytes
from agent_exchange.chain_capsules import verify_chain_capsule
from agent_exchange.encodings_and_keys import decode, require
from agent_exchange.log_policy import open_log, parse_policy
from agent_exchange.transparency_log import (
    key_leaf,
    leaf_hash,
    parse_proof,
    record_leaf,
    standard_base64,
    verify_consistency,
    verify_inclusion,
)

LOGGING_DELAY_SECONDS = 86_400
VECTORS = pathlib.Path(__file__).parents[1] / "vectors"


def changed(value, pointer, change):
    *path, last = pointer.split("/")[1:]
    place = value
    for step in path:
        place = place[int(step) if isinstance(place, list) else step]
    last = int(last) if isinstance(place, list) else last
    if change is None:
        del place[last]
    else:
        place[last] = change


def verify_chain(entries):
    previous = None
    for position, entry in enumerate(entries, 1):
        proof = {name: value for name, value in entry["proof"].items() if name != "hash"}
        digest = hashlib.sha256(canonical_bytes({**entry, "proof": proof})).hexdigest()
        require(entry["position"] == position and digest == entry["proof"]["hash"], "hash of an entry")
        require(proof["previous_hash"] == previous, "link of an entry")
        previous = digest


def place(log, head, parts, proof):
    index, hashes, checkpoint = parse_proof(proof)
    require(checkpoint == log["checkpoint"], "another checkpoint")
    verify_inclusion(index, head["size"], head["root"], leaf_hash(b"".join(parts)), hashes)
    return index


def place_records(capsule, head):
    """The index of the leaf of each entry, by position."""
    packages = {each["metadata"]["package_id"]: each for each in capsule["packages"]}
    entries = {entry["position"]: entry for entry in capsule["entries"]}
    indexes, last = {}, -1
    for record in sorted(capsule["log"]["records"], key=lambda each: each["first_position"]):
        package = packages[record["package_id"]]
        places = range(record["first_position"], record["last_position"] + 1)
        require(all(at in entries and at in package["positions"] for at in places), "entries of the record")
        require(not any(at in indexes for at in places), "overlap")
        content = {
            **record,
            "thread_id": capsule["thread_id"],
            "content_digest": package["metadata"]["content_digest"],
            "receipt_signature": package["policy_receipt"]["signature"]["signature"],
            "previous_hash": entries[places[0]]["proof"]["previous_hash"],
            "entry_hashes": [entries[at]["proof"]["hash"] for at in places],
        }
        index = place(capsule["log"], head, record_leaf(content, decode(record["salt"])), record["proof"])
        require(index > last, "order of records")
        indexes.update(dict.fromkeys(places, index))
        last = index
    return indexes


def place_key_events(log, head):
    logged = [(place(log, head, key_leaf(event, decode(event["salt"])), event["proof"]), event) for event in log["key_events"]]
    logged.sort(key=lambda each: (each[1]["agent_id"], each[1]["number"]))
    for _, own in groupby(logged, key=lambda each: each[1]["agent_id"]):
        own = list(own)
        for (index, event), (later, following) in zip(own, own[1:]):
            require(event["number"] < following["number"] and index < later, "order of key events")
        require([event["number"] for _, event in own] == list(range(1, len(own) + 1)), "a key event is missing")
    return logged


def history_of(record):
    return {(event["kind"], event["recorded_at"], event["details"].get("invalid_from")) for event in record["events"]}


def compare_keys(capsule, logged):
    """Whether the log proves the registration of each key that the evidence shows."""
    is_proved = True
    for record in capsule["keys"]:
        key = record["key"]
        own = [event for _, event in logged if (event["agent_id"], event["key_id"]) == (record["agent_id"], key["key_id"])]
        for event in own:
            require(event["thumbprint"] == JWK(**key["public_key"]).thumbprint(), "another key")
            logged_event = (event["kind"], event["recorded_at"], event.get("invalid_from"))
            require("events" not in record or logged_event in history_of(record), "hidden event")
        is_proved = is_proved and any(event["kind"] == "registered" for event in own)
    return is_proved


def uses_of_keys(capsule):
    """Agent and key id of every signature, with the position of the entry that carries or names it."""
    entries = {entry["position"]: entry["proof"] for entry in capsule["entries"]}
    for package in capsule["packages"]:
        sender = package["metadata"]["sender_agent_id"]
        for position in package["positions"]:
            proof = entries.get(position, {})
            if proof.get("kind") == "policy_receipt_accepted":
                yield position, sender, package["policy_receipt"]["signature"]["key_id"]
            elif "acceptance" in proof:
                yield position, sender, proof["acceptance"]["signing_key_id"]
                yield position, "agent_platform", proof["acceptance"]["signature"]["key_id"]
            elif "signature" in proof:
                yield position, proof.get("actor_agent_id", sender), proof["signature"]["key_id"]


def compare_order(capsule, logged, indexes):
    """Keys entered the log before their uses; whether no revocation did."""
    is_proved = True
    for position, agent_id, key_id in uses_of_keys(capsule):
        used = indexes.get(position)
        for index, event in logged:
            if used is None or (event["agent_id"], event["key_id"]) != (agent_id, key_id):
                continue
            require(event["kind"] != "registered" or index < used, "backdated key")
            is_proved = is_proved and not (event["kind"] == "revoked" and index < used)
    return is_proved


def are_times_possible(capsule, indexes, heads):
    """Whether no witness saw the log without an entry long after the time at which it was recorded."""
    for entry in capsule["entries"]:
        index = indexes.get(entry["position"])
        seen = [head["newest_at"] for head in heads if index is not None and head["size"] <= index and head["newest_at"]]
        recorded_at = datetime.fromisoformat(entry["proof"]["recorded_at"].replace("Z", "+00:00")).timestamp()
        if seen and max(seen) > recorded_at + LOGGING_DELAY_SECONDS:
            return False
    return True


def capsule_vector(vector):
    capsule = json.loads((VECTORS / vector["capsule"]).read_text("utf-8"))
    for pointer, change in vector["set"]:
        changed(capsule, pointer, change)
    policy = parse_policy(vector["policy"] or "")
    if capsule.get("format") == "aex-evidence/3":
        return verify_chain_capsule(capsule, policy)
    return verify_thread_capsule(capsule, policy)


def verify_thread_capsule(capsule, policy):
    """Format 2. Metadata are not bound there, and entries may be missing."""
    log = capsule["log"]
    verify_chain(capsule["entries"])
    head, level = open_log(log, log["checkpoint"], policy)
    heads = []
    for earlier in log.get("history", []):
        before, _ = open_log(log, earlier["checkpoint"], policy)
        proof = list(map(standard_base64, earlier["consistency"]))
        verify_consistency(before["size"], before["root"], head["size"], head["root"], proof)
        heads.append(before)
    indexes = place_records(capsule, head)
    logged = place_key_events(log, head)
    is_complete = compare_keys(capsule, logged) and len(indexes) == len(capsule["entries"])
    is_complete = compare_order(capsule, logged, indexes) and is_complete
    is_complete = are_times_possible(capsule, indexes, heads) and is_complete
    proved = level if is_complete else "signed-only"
    # The format binds neither all metadata nor each record, whatever its log proves.
    return {"level": "signed-only", "log": proved, "origin": head["origin"], "size": head["size"]}
