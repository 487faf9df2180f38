"""Content that a party of a package shows to others: the envelope that the sender signed, and its content key."""

from .canonical_json import parse
from .capsule_chains import verify_statement
from .capsule_checks import attempt, holds
from .capsule_statements import MISSING
from .encodings_and_keys import decode, sha256_digest
from .envelopes import CONTENT_TYPES, commitment_to, open_with_content_key, read_envelope


def verify_disclosures(capsule, logged, statements, checks):
    """By package id, on what basis content is shown, and its digest."""
    shown = {}
    for package in capsule["packages"]:
        if "disclosure" in package:
            found = disclosed_content(package, logged, statements, checks)
            if found:
                shown[package["metadata"]["package_id"]] = found
    return shown


def disclosed_content(package, logged, statements, checks):
    metadata, disclosure = package["metadata"], package["disclosure"]
    by, key_id = disclosure["disclosed_by"], disclosure["signature"]["key_id"]
    content_key = attempt(decode, disclosure["content_key"])
    is_party = by["organization_id"] in (metadata["sender_org_id"], metadata["recipient_org_id"])
    key = statements.keys.get((by["agent_id"], key_id))
    is_signed = (
        is_party
        and key
        and key["organization_id"] == by["organization_id"]
        and content_key is not None
        and holds(verify_statement, key, statement_of(metadata["package_id"], disclosure, content_key))
    )
    if not checks.check("disclosure_signature", is_signed):
        return None
    own = [event for _, event in logged if (event["agent_id"], event["key_id"]) == (by["agent_id"], key_id)]
    if any(event["kind"] == "revoked" for event in own):
        checks.doubt()
    if not statements.is_content_signed(metadata["package_id"]):
        return None
    opened = attempt(open_disclosed, disclosure["envelope"], content_key)
    if not checks.check("disclosure_content", opened):
        return None
    aad, plaintext = opened
    committed, is_sealed_for = read_additional_data(aad, metadata)
    is_committed = committed == commitment_to(content_key)
    if not checks.check("disclosure_key", is_sealed_for and (committed is None or is_committed)):
        return None
    is_proved = is_committed or by["organization_id"] == metadata["recipient_org_id"]
    return {"basis": "proved" if is_proved else "claimed", "plaintext_digest": sha256_digest(plaintext)}


def statement_of(package_id, disclosure, content_key):
    return {
        "type": "aex-disclosure/1",
        "package_id": package_id,
        "envelope_digest": sha256_digest(disclosure["envelope"].encode("utf-8", "replace")),
        "content_key_digest": sha256_digest(content_key),
        "disclosed_by": disclosure["disclosed_by"],
        "signature": disclosure["signature"],
    }


def open_disclosed(envelope, content_key):
    _, payload, _ = read_envelope(envelope, CONTENT_TYPES)
    plaintext = open_with_content_key(payload["jwe"], content_key)
    # What is no Unicode is shown with replacement characters.
    return decode(payload["jwe"]["aad"]), plaintext.decode("utf-8", "replace").encode("utf-8")


def read_additional_data(aad, metadata):
    """The commitment of the sender, and whether it sealed the content for this package; other data say nothing."""
    data = attempt(parse, aad)
    if not isinstance(data, dict) or data.get("format") != "aex-aad/1":
        return None, True
    commitment, bound = data.get("key_commitment"), data.get("metadata")
    known = {"responds_to_package_id": MISSING, **metadata}
    is_same = isinstance(bound, dict) and all(bound[name] == known[name] for name in bound if name in known)
    return commitment if isinstance(commitment, str) else None, is_same
