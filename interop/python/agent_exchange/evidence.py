"""Checks audit evidence without trusting whoever serves it: hash chain, acceptance, receipts, states.

`evidence check EVIDENCE.json PEERS_FOLDER PLATFORM_AGENT` prints what a signature proves, and as the exchange's word
what nobody signed; `evidence agents EVIDENCE.json` prints whose keys that takes. The shape of evidence is open (O-07),
and this is the one of the exchange this agent was written for.
"""

import hashlib
import sys

from .canonical_json import Refused, canonical_bytes, read_file
from .encodings_and_keys import require
from .instants import instant
from .peers import Peers, verify_statement
from .terminal import plain

RECEIPT_STATES = ("received", "opened", "rejected", "failed")
RECEIPT_MEMBERS = ("receipt_id", "occurred_at", "actor_agent_id", "package_digest", "signature")
SIGNED_ABOVE = ("policy_receipt_accepted", "approval_recorded", "package_accepted")
REVOCATION_MEMBERS = ("requested_at", "reason_code", "reason_detail", "signature")


def check_chain(entries):
    """Each entry has the hash of the previous entry of the thread; a link to an entry that is not shown is unchecked."""
    previous = None
    for entry in entries:
        shown = dict(entry["proof"])
        claimed = shown.pop("hash")
        computed = hashlib.sha256(canonical_bytes({**entry, "proof": shown})).hexdigest()
        require(computed == claimed, f"entry {entry['position']} is not what was recorded")
        if previous and entry["position"] == previous["position"] + 1:
            require(shown["previous_hash"] == previous["proof"]["hash"], f"the chain breaks at {entry['position']}")
        previous = entry
    return f"{len(entries)} entries are what was recorded"


def accepted_at(evidence, metadata, kid, peers, platform):
    """The time of acceptance in a signed statement of the platform for this digest and key; None without one."""
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


def receipt_accepted_at(evidence, stated, moment):
    """When the policy receipt itself arrived: it may be before its key was retired, and its package after."""
    for entry in evidence["entries"]:
        proof = entry["proof"]
        if (proof["kind"], proof.get("policy_receipt_id")) == ("policy_receipt_accepted", stated["policy_receipt_id"]):
            return min(proof["accepted_at"], moment or proof["accepted_at"], key=instant)
    return moment


def verify_bound(key, stated, package_id):
    """Receipts and revocations are signed with the package id added, or without (O-22)."""
    try:
        verify_statement(key, stated, added={"package_id": package_id})
        return "bound"
    except Refused:
        verify_statement(key, stated)
        return "plain"


def signed_body(proof, names, what):
    require(proof.get("signature"), f"nobody signed the {what}: only the exchange says so")
    for name in names:
        require(name in proof, f"the {what} lacks {name}")
    return {name: proof[name] for name in names}


def check_receipt(proof, metadata, peers):
    """A receipt needs a signature over all members by a key that was valid at its arrival."""
    state = proof["kind"].removeprefix("receipt_")
    require(state in RECEIPT_STATES, f"there is no receipt {state}")
    body = signed_body(proof, RECEIPT_MEMBERS, f"receipt {state}") | {"state": state}
    require(body["package_digest"] == metadata["content_digest"], "a receipt of other content")
    actor = body["actor_agent_id"]
    by = signer(actor, metadata["recipient_agent_id"], metadata["recipient_org_id"], "recipient", peers)
    arrived_at = proof.get("accepted_at", proof["recorded_at"])
    key = peers.signing_key(actor, body["signature"]["key_id"], arrived_at, arrived_at)
    return state, f"receipt {state}, {verify_bound(key, body, metadata['package_id'])}, signed by {by}"


def check_revocation(entry, metadata, peers):
    proof = entry["proof"]
    body = signed_body(proof, REVOCATION_MEMBERS, "revocation")
    sender = metadata["sender_agent_id"]
    actor = entry.get("event", {}).get("actor", {}).get("agent_id", sender)
    by = signer(actor, sender, metadata["sender_org_id"], "sender", peers)
    arrived_at = proof.get("accepted_at", proof["recorded_at"])
    key = peers.signing_key(actor, body["signature"]["key_id"], body["requested_at"], arrived_at)
    return f"revocation, {verify_bound(key, body, metadata['package_id'])}, signed by {by}"


def signer(actor, party, organization, role, peers):
    """The agent of the package, or another agent of its organization (O-46) by the directory."""
    if actor == party:
        return f"the {role}"
    require(peers.organization(actor) == organization, f"{actor} is not of the {role}'s organization")
    return f"{actor}; that it is of {organization} is the exchange's word"


def check_state(claimed, proved):
    """Statements of recipient and sender need their signatures."""
    if claimed in proved:
        return f"state {claimed}, signed"
    require(claimed not in ("received", "opened", "revoked"), f"nobody signed that the package is {claimed}")
    return f"state {claimed}: the exchange's word"


def check_package(evidence, peers, platform):
    package, metadata = evidence["package"], evidence["package"]["metadata"]
    entries = [entry["proof"] for entry in evidence["entries"]]
    kid = next(proof["signing_key_id"] for proof in entries if proof["kind"] == "package_accepted")
    moment = accepted_at(evidence, metadata, kid, peers, platform)
    require(moment, "nothing says when the package was accepted")
    yield f"accepted at {moment}, signed by the platform"

    stated = evidence["policy_receipt"]["receipt"]
    arrived_at = receipt_accepted_at(evidence, stated, moment)
    key = peers.signing_key(
        metadata["sender_agent_id"], stated["signature"]["key_id"], stated["evaluated_at"], arrived_at
    )
    verify_statement(key, stated)
    require(stated["content_digest"] == metadata["content_digest"], "the policy receipt is of other content")
    yield "policy receipt, signed by the sender"

    proved = {"accepted"}
    for entry in evidence["entries"]:
        proof = entry["proof"]
        if proof["kind"].startswith("receipt_"):
            state, line = check_receipt(proof, metadata, peers)
            if "revoked" in proved:
                require("state" not in proof, "a receipt moved a revoked package")
                yield f"{line}, after the revocation"
            else:
                proved.add(state)
                yield line
        elif proof["kind"] == "package_revoked":
            yield check_revocation(entry, metadata, peers)
            proved.add("revoked")
        elif proof["kind"] not in SIGNED_ABOVE:
            yield f"{proof['kind']} at {proof['recorded_at']}: the exchange's word"
    yield check_state(package["state"], proved)


def agents(file):
    """The parties of the package and the agents that signed for them."""
    evidence = read_file(file)
    metadata = evidence.get("package", {}).get("metadata", {})
    found = {metadata[name] for name in ("sender_agent_id", "recipient_agent_id") if name in metadata}
    for entry in evidence["entries"] if metadata else ():
        found.add(entry["proof"].get("actor_agent_id"))
        if entry["proof"]["kind"] == "package_revoked":
            found.add(entry.get("event", {}).get("actor", {}).get("agent_id"))
    print("\n".join(sorted(plain(agent) for agent in found - {None})))


def check(file, folder, platform):
    """Prints nothing before everything is verified, because partial output would look like a proof."""
    evidence = read_file(file)
    lines = [check_chain(evidence["entries"])]
    if evidence["has_more"]:
        lines.append("more entries follow, which are not checked here")
    if "package" in evidence:
        lines.extend(check_package(evidence, Peers(folder), platform))
    else:
        lines.append("signatures are checked package by package")
    for line in lines:
        print(plain(line))


if __name__ == "__main__":
    try:
        {"agents": agents, "check": check}[sys.argv[1]](*sys.argv[2:])
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
