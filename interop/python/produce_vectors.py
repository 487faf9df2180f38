"""Seals and signs documents and prints them as vectors, which the other side must accept."""

import json
import pathlib

from agent_exchange.canonical_json import canonical_bytes, canonicalize
from jwcrypto.common import base64url_encode
from agent_exchange.encodings_and_keys import sha256_digest
from produce_log_vectors import log_vectors
from profiles import seal, sign_detached, sign_envelope

VECTORS = pathlib.Path(__file__).parents[1] / "vectors"
SENDER, RECIPIENT = "key_seats_encryption_1", "key_carmaker_encryption_1"
SIGNATURES = {
    "policy-receipt": ("signature", "key_seats_signing_1"),
    "dsx-manifest": ("sender_signature", "key_seats_signing_1"),
    "skill-release": ("manifest_signature", "key_platform_release_1"),
    "package-receipt": ("signature", "key_carmaker_signing_1"),
    "package-revocation": ("signature", "key_seats_signing_1"),
}


def published(profile):
    """Uses the document of the first vector of a profile; signatures and ciphertext are created here."""
    return json.loads((VECTORS / f"{profile}.json").read_text("utf-8"))["vectors"][0]


def valid(profile, name, given, output):
    return {
        "profile": profile,
        "vector": {
            "name": name,
            "description": "Made by the second implementation.",
            "input": given,
            "expect": "valid",
            "output": output,
        },
    }


def packages():
    story = json.loads((VECTORS / "objects/valid/reasoning-package.json").read_text("utf-8"))
    plaintext, aad = canonicalize(story), "made by another implementation"
    jwe = seal(plaintext.encode("utf-8"), aad.encode("utf-8"), [SENDER, RECIPIENT])
    for kid in (SENDER, RECIPIENT):
        output = {"plaintext": plaintext, "aad": base64url_encode(aad)}
        yield valid("sealed-package", f"opened with {kid}", {"jwe": jwe, "open_with": kid}, output)

    content_digest = sha256_digest(canonical_bytes(jwe))
    metadata = {**published("exchange-envelope")["output"]["metadata"], "content_digest": content_digest}
    kid = "key_seats_signing_1"
    body = sign_envelope(metadata, jwe, kid)
    given = {"body": body, "verify_with": kid}
    yield valid("exchange-envelope", "signed", given, {"kid": kid, "metadata": metadata})
    given = {"body": body, "content_digest": content_digest}
    yield valid("content-digest", "of the sealed content", given, {"rule": "jcs-jwe"})


def documents():
    for profile, (member, key_id) in SIGNATURES.items():
        given = published(profile)["input"]
        body = {name: value for name, value in given["object"].items() if name != member}
        forms = {"signed": body}
        if "package_id" in given:
            forms = {"bound": {**body, "package_id": given["package_id"]}, "plain": body}
        for form, covered in forms.items():
            signed = sign_detached(body, member, key_id, covered)
            output = {"signed_text": canonicalize(covered)}
            if form != "signed":
                output["form"] = form
            yield valid(profile, form, {**given, "object": signed}, output)


print(json.dumps([*packages(), *documents(), *log_vectors(valid, published)]))
