"""From a draft to the signing input: completes the object, evaluates the policy, and seals it.

Writes `receipt.json` (the policy receipt) and `payload.json` (metadata and sealed content) into --out, both in
canonical form and unsigned, and prints the package id. The plaintext stays in memory.
"""

import argparse
import datetime
import json
import pathlib
import secrets
import sys

from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK

from .canonical_json import Refused, canonical_bytes, read_file
from .encodings_and_keys import require, sha256_digest
from .envelopes import JWE_HEADER, WRAPPING
from .instants import write
from .peers import Peers, public_jwk
from .policy import approval, evaluate, receipt
from .terminal import plain

VERSION = "svc/1.0"
VALID_FOR = datetime.timedelta(days=7)
ANSWER_WITHIN = datetime.timedelta(days=2)


def new_id(prefix):
    return f"{prefix}_{secrets.token_hex(16)}"


def complete(draft, policy, given, now):
    """Adds ids, times, parties and policy to a draft, which holds the business part."""
    kind = "response_object" if given.responds_to else "reasoning_package"
    mine = {"organization_id": given.organization, "agent_id": given.agent}
    common = {
        "id": new_id("resp" if given.responds_to else "pkg"),
        "object_type": kind,
        "protocol_version": VERSION,
        "schema_version": "1.0.0",
        "created_at": write(now),
        "created_by": mine,
        "thread_id": given.thread or new_id("thread"),
        "trace": {"correlation_id": new_id("corr"), "idempotency_key": new_id("idem")},
    }
    under = {name: policy[name] for name in ("policy_id", "purpose")}
    if given.responds_to:
        return {**draft, **common, "responds_to_package_id": given.responds_to, "policy_envelope": under}
    required, reference = policy["human_approval"]["required"], given.approved_by or "none"
    return {
        **draft,
        **common,
        "sender": {**draft.get("sender", {}), **mine},
        "recipients": [{"organization_id": given.to_org, "role": "recipient", "required": True}],
        "response_required": {"deadline": write(now + ANSWER_WITHIN), **draft["response_required"]},
        "policy_envelope": {**under, "human_approval": {"required": required, "approval_id": reference}},
    }


def route(item, given, now):
    """Package metadata: readable routing data without content."""
    return {
        # A response object refers to ids with the prefix "pkg_", so a response package gets such an id.
        "package_id": new_id("pkg") if given.responds_to else item["id"],
        "thread_id": item["thread_id"],
        "sender_org_id": given.organization,
        "sender_agent_id": given.agent,
        "recipient_org_id": given.to_org,
        "recipient_agent_id": given.to_agent,
        "protocol_version": VERSION,
        "schema_version": "1.0.0",
        "skill_id": given.skill,
        "skill_version": given.skill_version,
        "created_at": item["created_at"],
        "expires_at": write(now + VALID_FOR),
        "content_type": JWE_HEADER["cty"],
        "transport_mode": "native",
        "policy_receipt_id": new_id("receipt"),
        **({"responds_to_package_id": given.responds_to} if given.responds_to else {}),
    }


def seal(plaintext, aad, readers):
    """RFC 7516 section 7.2.1, General JSON: one content key, wrapped for each recipient, sender first."""
    token = JWE(plaintext, protected=canonical_bytes(JWE_HEADER).decode(), aad=aad, algs=[WRAPPING, JWE_HEADER["enc"]])
    for kid, key in readers:
        token.add_recipient(key, header=json.dumps({"alg": WRAPPING, "kid": kid}))
    return json.loads(token.serialize())


def main(given):
    now = datetime.datetime.now(datetime.timezone.utc)
    policy, recipient = read_file(given.policy), read_file(given.recipient)
    require((recipient["organization_id"], recipient["agent_id"]) == (given.to_org, given.to_agent), "another recipient")
    item = complete(read_file(given.draft), policy, given, now)
    skill = {"id": given.skill, "version": given.skill_version}
    checks = evaluate(
        {"object": item, "policy": policy, "recipient": recipient, "skill": skill, "schemas": given.schemas}
    )
    human_approval = approval(policy, given.approved_by, item["created_at"])

    metadata = route(item, given, now)
    theirs = Peers(given.peers).encryption_key(given.to_agent, now.timestamp())
    own = JWK.from_pem(pathlib.Path(given.encryption_key).read_bytes())
    readers = [(given.encryption_key_id, own), (theirs["key_id"], public_jwk(theirs["public_key"]))]
    # Readable and authenticated, so that the sealed content belongs to one package only.
    bound = {name: value for name, value in metadata.items() if name != "transport_mode"}
    aad = canonical_bytes({"format": "aex-aad/1", "metadata": bound})
    jwe = seal(json.dumps(item, ensure_ascii=False).encode("utf-8"), aad, readers)
    metadata["content_digest"] = sha256_digest(canonical_bytes(jwe))

    out = pathlib.Path(given.out)
    (out / "receipt.json").write_bytes(canonical_bytes(receipt(metadata, policy, checks, human_approval)))
    (out / "payload.json").write_bytes(canonical_bytes({"metadata": metadata, "jwe": jwe}))
    print(metadata["package_id"])


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    for name in "organization agent encryption-key encryption-key-id peers schemas recipient to-org to-agent".split():
        parser.add_argument(f"--{name}", required=True)
    for name in "draft policy skill skill-version out".split():
        parser.add_argument(f"--{name}", required=True)
    for name in "thread responds-to approved-by".split():
        parser.add_argument(f"--{name}", default="")
    try:
        main(parser.parse_args())
    except Refused as refusal:
        sys.exit(f"Not sent: {plain(refusal)}")
