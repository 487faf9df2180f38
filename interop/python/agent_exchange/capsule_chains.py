"""The structure of a capsule of format 3: chains without a hole, records and key events in the log, bound keys, heads."""

from itertools import groupby

from jwcrypto.jwk import JWK

from .canonical_json import canonical_bytes
from .capsule_checks import attempt, holds
from .encodings_and_keys import decode, decode_signature, read_public_jwk, require, sha256_digest, verify_es256
from .transparency_log import (
    body_hash,
    chain_record_leaf,
    chain_start,
    key_leaf,
    leaf_hash,
    next_link,
    parse_proof,
    verify_inclusion,
)

PLATFORM = "agent_platform"
# Kinds of entries that only one organization may see.
ONE_SIDED_KINDS = {"delivery_replayed"}


def is_hidden(entry):
    return "body_hash" in entry


def kind_of(entry):
    return entry["kind"] if is_hidden(entry) else entry["proof"]["kind"]


def identity_of(package):
    metadata = package["metadata"]
    return {
        "package_id": metadata["package_id"],
        "thread_id": metadata["thread_id"],
        "content_digest": metadata["content_digest"],
        "receipt_signature": package["policy_receipt"]["signature"]["signature"],
    }


def follow_chain(package, checks):
    """Link n at index n; None where the entries are no chain."""
    entries = package["entries"]
    positions = [entry["position"] for entry in entries]
    if not checks.check("chain_positions", positions and positions == list(range(1, len(entries) + 1))):
        return None
    links = [chain_start(identity_of(package))]
    for entry in entries:
        kind, visibility = kind_of(entry), entry["visibility"]
        checks.check("chain_visibility", visibility == "both" or kind in ONE_SIDED_KINDS)
        link = attempt(lambda: next_link(links[-1], len(links), kind, visibility, body_hash(entry)))
        if not checks.check("chain_body", link):
            return None
        links.append(link)
    return links


def acceptance_of(entries):
    """The entry with the platform's statement."""
    for entry in entries:
        if not is_hidden(entry) and entry["proof"]["kind"] == "package_accepted" and "acceptance" in entry["proof"]:
            return entry
    return None


def check_metadata(package, checks):
    entry = acceptance_of(package["entries"])
    statement = entry and entry["proof"]["acceptance"]
    stated = statement.get("metadata_digest") if isinstance(statement, dict) else None
    checks.check("metadata_digest", stated == sha256_digest(canonical_bytes(package["metadata"])))


class Tree:
    """A verified checkpoint, to which all proofs of a capsule lead."""

    def __init__(self, note, head):
        self.note, self.size, self.root, self.origin = note, head["size"], head["root"], head["origin"]

    def place(self, leaf, proof):
        index, hashes, checkpoint = parse_proof(proof)
        require(checkpoint == self.note and not proof.split("\n", 2)[1].startswith("extra "), "another checkpoint")
        verify_inclusion(index, self.size, self.root, leaf_hash(b"".join(leaf)), hashes)
        return index


def place_records(package, links, tree, checks):
    """The index of the leaf of each entry, by position."""
    leaves, covered, last_index = {}, 0, -1
    for record in package["records"]:
        first, last = record["first_position"], record["last_position"]
        if not checks.check("record_positions", first == covered + 1 and first <= last < len(links)):
            return leaves
        covered = last
        ends = {"link_before": links[first - 1].hex(), "last_link": links[last].hex()}
        content = {**record, **identity_of(package), **ends}
        index = attempt(lambda: tree.place(chain_record_leaf(content, decode(record["salt"])), record["proof"]))
        if not checks.check("record_leaf", index is not None):
            continue
        checks.check("record_order", index > last_index)
        last_index = index
        leaves.update(dict.fromkeys(range(first, last + 1), index))
    if covered < len(links) - 1:
        checks.lower()
    return leaves


def check_head(package, links, leaves, tree, keys, checks):
    head, metadata = package.get("head"), package["metadata"]
    if head is None:
        return
    subject = (head["package_id"], head["thread_id"], head["log"]["origin"])
    checks.check("head_subject", subject == (metadata["package_id"], metadata["thread_id"], tree.origin))
    key = keys.get((PLATFORM, head["signature"]["key_id"]))
    checks.check("head_signature", key and holds(verify_statement, key, head))
    position = head["position"]
    checks.check("head_link", position < len(links) and links[position].hex() == head["link"])
    for at, index in leaves.items():
        checks.check("head_false", at <= position or index >= head["log"]["size"])


def verify_statement(key, statement, member="signature", added=None):
    """A detached ES256 signature over RFC 8785 without the member that carries it."""
    body = {name: value for name, value in statement.items() if name != member}
    signature = decode_signature(statement[member]["signature"])
    verify_es256(key["jwk"], canonical_bytes({**body, **(added or {})}), signature)


def place_key_events(events, tree, checks):
    logged = []
    for event in events:
        index = attempt(lambda: tree.place(key_leaf(event, decode(event["salt"])), event["proof"]))
        if checks.check("key_event_leaf", index is not None):
            logged.append((index, event))
    by_agent = sorted(logged, key=lambda each: (each[1]["agent_id"], each[0]))
    for _, own in groupby(by_agent, key=lambda each: each[1]["agent_id"]):
        indexes, numbers = zip(*((index, event["number"]) for index, event in own))
        is_counted = list(numbers) == list(range(1, len(numbers) + 1))
        checks.check("key_event_numbers", is_counted and len(set(indexes)) == len(indexes))
    return logged


def bind_keys(shown, logged, checks):
    """Usable keys by agent and id, each with what the log says of it."""
    keys = {}
    for key in shown:
        name = (key["agent_id"], key["key_id"])
        own = [event for _, event in logged if (event["agent_id"], event["key_id"]) == name]
        jwk = attempt(read_public_jwk, key["public_key"])
        thumbprint = jwk and JWK(**jwk).thumbprint()
        expected = (key["organization_id"], "signing", thumbprint)
        is_same = all((event["organization_id"], event["use"], event["thumbprint"]) == expected for event in own)
        registered = [event for event in own if event["kind"] == "registered"]
        if checks.check("key_bound", jwk and registered and is_same and name not in keys):
            revocations = [
                (event["invalid_from"], event["recorded_at"])
                for event in own
                if event["kind"] == "revoked" and "invalid_from" in event
            ]
            keys[name] = {
                "agent_id": key["agent_id"],
                "key_id": key["key_id"],
                "organization_id": key["organization_id"],
                "jwk": jwk,
                "valid_from": registered[0]["valid_from"],
                "revocations": revocations,
            }
    return keys


def verify_chains(capsule, tree, checks):
    """The key events with their leaves, the keys, and the leaf of every entry by package id."""
    logged = place_key_events(capsule["log"]["key_events"], tree, checks)
    keys = bind_keys(capsule["keys"], logged, checks)
    leaves, before = {}, -1
    for package in capsule["packages"]:
        metadata = package["metadata"]
        package_id = metadata["package_id"]
        is_own = metadata["thread_id"] == capsule["thread_id"] and package_id not in leaves
        checks.check("entry_package", is_own)
        if not checks.check("package_thread", is_own):
            continue
        leaves[package_id] = {}
        links = follow_chain(package, checks)
        check_metadata(package, checks)
        if links is None:
            continue
        own = leaves[package_id] = place_records(package, links, tree, checks)
        check_head(package, links, own, tree, keys, checks)
        # A package whose leaves are not shown yet comes after all others.
        first = own.get(1, tree.size)
        checks.check("package_order", first >= before)
        before = first
    return logged, keys, leaves
