"""Verifies and opens a fetched package, compares content and metadata, and prints the plaintext.

Exits with 3 where the sender's package is not right (a "rejected" receipt) and with 4 where it does not open with
our key (a "failed" one). Reads package.json, receipt.json, content and evidence.json from --fetched.
"""

import argparse
import json
import pathlib
import sys

from jwcrypto.common import JWException
from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK

from .canonical_json import Refused, parse, read_file
from .encodings_and_keys import decode, require
from .envelopes import CONTENT_TYPES, JWE_HEADER, WRAPPING, digest_rule, read_envelope, verify_envelope
from .evidence import accepted_at, receipt_accepted_at
from .instants import instant
from .peers import Peers, verify_statement
from .policy import CHECKS
from .schemas import check_object
from .terminal import plain

REJECTED, FAILED = 3, 4


class NotOpened(Exception):
    """The package does not open with our key."""


class WronglySealed(NotOpened):
    """It names our key, and our key does not open it: a mistake of the sender."""


def unseal(jwe, kid, key):
    # jwcrypto would try every recipient; use only the one that names our key.
    own = [slot for slot in jwe["recipients"] if slot["header"]["kid"] == kid]
    if not own:
        raise NotOpened("it was not sealed for our key")
    token = JWE(algs=[WRAPPING, JWE_HEADER["enc"]])
    try:
        token.deserialize(json.dumps({**jwe, "recipients": own}), key)
    except JWException as error:
        raise WronglySealed("it does not open with our key") from error
    return token.payload


def check_receipt(stated, metadata, jwk):
    """The policy receipt belongs to the sender, covers this content, and all five checks passed."""
    verify_statement(jwk, stated)
    for name in set(stated) & set(metadata):
        require(stated[name] == metadata[name], f"the policy receipt is of another {name}")
    outcomes = {check["check_id"]: check["outcome"] for check in stated["checks"]}
    require(outcomes == {check.__name__: "passed" for check in CHECKS}, "a policy check has not passed")
    human = stated["human_approval"]
    if human["required"]:
        given = human.get("outcome") == "approved" and human.get("approval_reference")
        require(given and "approved_at" in human, "the human approval is missing")
        require(instant(human["approved_at"]) <= instant(metadata["created_at"]), "approved after it was made")
    require(instant(stated["evaluated_at"]) <= instant(metadata["created_at"]), "judged after it was made")


def check_inside(item, aad, metadata, stated):
    """The content must not contradict the metadata."""
    kind = item["object_type"]
    # Id and time of the object may differ from those of the package.
    # A policy has no thread. Others than packages and responses may be passed on: they have their author inside (O-35).
    require(kind == "policy_envelope" or item["thread_id"] == metadata["thread_id"], "another thread inside")
    author, sender = item["created_by"]["organization_id"], metadata["sender_org_id"]
    is_own = kind in ("reasoning_package", "response_object")
    require(not is_own or author == sender, "another author inside")
    # The agent may have been replaced since the object was written.
    require("sender" not in item or item["sender"]["organization_id"] == sender, "another sender inside")
    if "recipients" in item:
        organizations = [recipient["organization_id"] for recipient in item["recipients"]]
        require(metadata["recipient_org_id"] in organizations, "other recipients inside")
    check_answer(item.get("responds_to_package_id"), metadata.get("responds_to_package_id"))
    if "policy_envelope" in item:
        require(item["policy_envelope"]["policy_id"] == stated["policy_id"], "another policy inside")
        asked = item["policy_envelope"].get("human_approval", {}).get("required", False)
        require(not asked or stated["human_approval"]["required"], "an approval inside that the receipt lacks")
    check_bound(aad, metadata)


def check_answer(named, answered):
    """A package may have any id, a response names one with a prefix: then it names the object inside the package."""
    if answered is None or named is None or answered.startswith("pkg_"):
        require(named == answered, "answers another package")


def check_bound(aad, metadata):
    """The content of the aad is an open point (O-17): what has our tag must match, everything else is opaque."""
    try:
        data = parse(aad)
    except Refused:
        return
    if not isinstance(data, dict) or data.get("format") != "aex-aad/1":
        return
    bound = data.get("metadata")
    require(isinstance(bound, dict), "sealed for metadata that are none")
    for name in set(bound) & {*metadata, "responds_to_package_id"}:
        require(bound[name] == metadata.get(name), f"sealed for another {name}")


def verified_plaintext(fetched, peers, agent, platform, own_key_id, own_key, schemas):
    """Checks everything about a fetched package and returns its plaintext."""
    resource, stated = fetched["package"], fetched["receipt"]
    kid, payload, payload_text = read_envelope(fetched["content"], CONTENT_TYPES)
    metadata, jwe = payload["metadata"], payload["jwe"]

    require(metadata == resource["metadata"], "the exchange shows other metadata than the sender signed")
    require(metadata["recipient_agent_id"] == agent, "it is addressed to another agent")
    sender = metadata["sender_agent_id"]
    require(peers.organization(sender) == metadata["sender_org_id"], "the sender is of another organization")
    since = accepted_at(fetched["evidence"], metadata, kid, peers, platform)
    key = peers.signing_key(sender, kid, metadata["created_at"], since)
    require(digest_rule(payload, payload_text, metadata["content_digest"]), "the digest is of other content")
    verify_envelope(fetched["content"].decode("utf-8"), key)
    arrived = receipt_accepted_at(fetched["evidence"], stated, since)
    stated_key = peers.signing_key(sender, stated["signature"]["key_id"], stated["evaluated_at"], arrived)
    check_receipt(stated, metadata, stated_key)

    plaintext = unseal(jwe, own_key_id, own_key)
    check_inside(check_object(schemas, parse(plaintext)), decode(jwe["aad"]), metadata, stated)
    return plaintext


def main(given):
    folder = pathlib.Path(given.fetched)
    fetched = {
        "package": read_file(folder / "package.json"),
        "receipt": read_file(folder / "receipt.json")["receipt"],
        "evidence": read_file(folder / "evidence.json"),
        "content": (folder / "content").read_bytes(),
    }
    own = JWK.from_pem(pathlib.Path(given.encryption_key).read_bytes())
    peers = Peers(given.peers)
    sys.stdout.buffer.write(
        verified_plaintext(
            fetched, peers, given.agent, given.platform, given.encryption_key_id, own, given.schemas
        )
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in "fetched agent platform peers schemas encryption-key encryption-key-id".split():
        parser.add_argument(f"--{name}", required=True)
    try:
        main(parser.parse_args())
    except NotOpened as refusal:
        print(f"Not opened: {plain(refusal)}", file=sys.stderr)
        sys.exit(FAILED)
    except (Refused, KeyError, TypeError, UnicodeDecodeError) as refusal:
        reason = refusal if isinstance(refusal, Refused) else "a member is missing or of another kind"
        print(f"Rejected: {plain(reason)}", file=sys.stderr)
        sys.exit(REJECTED)
