"""Checks audit evidence without trusting whoever serves it: hash chain, acceptance, receipts.

`evidence.py EVIDENCE.json PEERS_FOLDER PLATFORM_AGENT` prints what held; the shape of evidence is open (O-07), and
this is the one of the exchange this agent was written for.
"""

import hashlib
import sys

from canonical import Refused, canonical, plain, read, require
from peers import Peers, verify_statement


def check_chain(entries):
    """Each entry carries the hash of the thread's previous one; where a neighbour is not shown, the link is open."""
    previous = None
    for entry in entries:
        shown = dict(entry["proof"])
        claimed = shown.pop("hash")
        computed = hashlib.sha256(canonical({**entry, "proof": shown})).hexdigest()
        require(computed == claimed, f"entry {entry['position']} is not what was recorded")
        if previous and entry["position"] == previous["position"] + 1:
            require(shown["previous_hash"] == previous["proof"]["hash"], f"the chain breaks at {entry['position']}")
        previous = entry
    return f"{len(entries)} entries are what was recorded"


def accepted_at(evidence, metadata, kid, peers, platform):
    """When the platform says, signed, that it accepted this digest under this key; None where it says nothing."""
    for entry in evidence["entries"]:
        statement = entry["proof"].get("acceptance")
        if not statement or statement["package_id"] != metadata["package_id"]:
            continue
        key = peers.signing_key(platform, statement["signature"]["key_id"], statement["accepted_at"])
        verify_statement(key, statement)
        require(statement["content_digest"] == metadata["content_digest"], "other content was accepted")
        require(statement["signing_key_id"] == kid, "accepted under another key")
        return statement["accepted_at"]
    return None


def verify_bound(key, stated, package_id):
    """Receipts and revocations are signed with the package id added, or without (O-22)."""
    try:
        verify_statement(key, stated, added={"package_id": package_id})
        return "bound"
    except Refused:
        verify_statement(key, stated)
        return "plain"


def check_package(evidence, peers, platform):
    package, metadata = evidence["package"], evidence["package"]["metadata"]
    package_id, sender = package["package_id"], metadata["sender_agent_id"]
    entries = [entry["proof"] for entry in evidence["entries"]]
    kid = next(proof["signing_key_id"] for proof in entries if proof["kind"] == "package_accepted")
    moment = accepted_at(evidence, metadata, kid, peers, platform)
    require(moment, "nothing says when the package was accepted")
    yield f"accepted at {moment}, signed by the platform"

    stated = evidence["policy_receipt"]["receipt"]
    key = peers.signing_key(sender, stated["signature"]["key_id"], stated["evaluated_at"], moment)
    verify_statement(key, stated)
    require(stated["content_digest"] == metadata["content_digest"], "the policy receipt is of other content")
    yield "policy receipt, signed by the sender"

    for receipt in evidence["receipts"]:
        body = {name: receipt[name] for name in ("receipt_id", "state", "occurred_at", "actor_agent_id")}
        body |= {name: receipt[name] for name in ("package_digest", "signature")}
        require(receipt["package_digest"] == metadata["content_digest"], "a receipt of other content")
        require(receipt["actor_agent_id"] == metadata["recipient_agent_id"], "a receipt by somebody else")
        key = peers.signing_key(
            receipt["actor_agent_id"],
            receipt["signature"]["key_id"],
            receipt["occurred_at"],
            receipt["accepted_at"],
        )
        yield f"receipt {receipt['state']}, {verify_bound(key, body, package_id)}, signed by the recipient"

    for proof in entries:
        if proof["kind"] != "package_revoked":
            continue
        body = {name: proof[name] for name in ("requested_at", "reason_code", "reason_detail", "signature")}
        arrival = proof.get("accepted_at", proof["recorded_at"])
        key = peers.signing_key(sender, proof["signature"]["key_id"], proof["requested_at"], arrival)
        yield f"revocation, {verify_bound(key, body, package_id)}, signed by the sender"


def main(file, folder, platform):
    evidence = read(file)
    print(check_chain(evidence["entries"]))
    if evidence["has_more"]:
        print("more entries follow, which are not checked here")
    for line in check_package(evidence, Peers(folder), platform) if "package" in evidence else ():
        print(plain(line))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
