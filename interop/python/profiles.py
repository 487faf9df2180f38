"""A second implementation of the profiles, from their descriptions, with jwcrypto for the cryptography.

Every check returns what a vector of its profile lists as output, or raises one of REFUSALS.
"""

import hashlib
import json

from jwcrypto.common import base64url_encode
from jwcrypto.jwe import JWE
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

from agent_exchange.canonical_json import Refused, canonical_bytes, canonicalize, parse
from agent_exchange.capsule_checks import REFUSALS
from capsules import capsule_vector
from agent_exchange.encodings_and_keys import (
    decode,
    decode_signature,
    exactly,
    parse_digest,
    read_public_jwk,
    require,
    sha256_digest,
    verify_es256,
)
from agent_exchange.envelopes import (
    JWE_HEADER,
    JWS_HEADER,
    WRAPPING,
    commitment_to,
    digest_rule,
    read_envelope,
    read_sealed,
    verify_envelope,
)
from agent_exchange.transparency_log import LOG_PROFILES
from test_keys import private_key, public_jwk_of, sign_es256
from agent_exchange.webhooks import content_digest_field, webhook_signature


def canonical_json(vector):
    text = canonicalize(parse(vector["text"] if "text" in vector else decode(vector["bytes"])))
    return {"canonical": text, "digest": sha256_digest(text.encode("utf-8"))}


def digest(vector):
    data = parse_digest(vector["digest"])
    if "bytes" in vector:
        require(hashlib.sha256(decode(vector["bytes"])).digest() == data, "other bytes")
    return {"sha256": base64url_encode(data)}


def public_jwk(vector):
    # The registration names the use; what the key says about itself is ignored.
    point = read_public_jwk(vector["jwk"])
    return {"jwk": point, "thumbprint": JWK(**point).thumbprint()}


def es256(vector):
    verify_es256(public_jwk_of(vector["verify_with"]), decode(vector["message"]), decode(vector["signature"]))
    return {"verified": True}


def sign_detached(body, member, key_id, covered=None):
    signature = base64url_encode(sign_es256(key_id, canonical_bytes(covered or body)))
    return {**body, member: {"key_id": key_id, "algorithm": "ES256", "signature": signature}}


def verify_detached(signed, member, key_id, added=None):
    carried = exactly(signed.get(member), "key_id", "algorithm", "signature")
    require(carried["algorithm"] == "ES256" and carried["key_id"], "no ES256 signature")
    body = {name: value for name, value in signed.items() if name != member}
    text = canonicalize({**body, **(added or {})})
    verify_es256(public_jwk_of(key_id), text.encode("utf-8"), decode_signature(carried["signature"]))
    return text


def detached(member):
    return lambda vector: {"signed_text": verify_detached(vector["object"], member, vector["verify_with"])}


def statement(vector):
    added = {"bound": {"package_id": vector["package_id"]}, "plain": {}}
    for form in vector.get("accept", ["bound", "plain"]):
        try:
            text = verify_detached(vector["object"], "signature", vector["verify_with"], added[form])
            return {"form": form, "signed_text": text}
        except REFUSALS:  # the next form may fit
            continue
    raise Refused("no form fits")


def sealed_package(vector):
    jwe, kid = read_sealed(vector["jwe"]), vector["open_with"]
    own = [recipient for recipient in jwe["recipients"] if recipient["header"]["kid"] == kid]
    require(own, "not a recipient")
    # jwcrypto tries every recipient; use only those that name the key.
    token = JWE(algs=[WRAPPING, "A256GCM"])
    token.deserialize(json.dumps({**jwe, "recipients": own}), private_key(kid))
    return {"plaintext": token.payload.decode("utf-8"), "aad": jwe["aad"]}


def seal(plaintext, aad, kids):
    token = JWE(plaintext, protected=canonicalize(JWE_HEADER), aad=aad, algs=[WRAPPING, "A256GCM"])
    for kid in kids:
        token.add_recipient(JWK(**public_jwk_of(kid)), header=json.dumps({"alg": WRAPPING, "kid": kid}))
    return json.loads(token.serialize())


def sign_envelope(metadata, jwe, kid):
    token = JWS(canonical_bytes({"metadata": metadata, "jwe": jwe}))
    token.add_signature(private_key(kid), alg="ES256", protected=canonicalize({**JWS_HEADER, "kid": kid}))
    return token.serialize()


def exchange_envelope(vector):
    kid, payload, _ = read_envelope(vector["body"])
    verify_envelope(vector["body"], public_jwk_of(vector["verify_with"]))
    return {"kid": kid, "metadata": payload["metadata"]}


def content_digest(vector):
    parse_digest(vector["content_digest"])
    _, payload, text = read_envelope(vector["body"])
    rule = digest_rule(payload, text, vector["content_digest"], vector.get("rules"))
    require(rule, "no rule fits")
    return {"rule": rule}


def key_commitment(vector):
    require(commitment_to(decode(vector["content_key"])) == vector["key_commitment"], "another key")
    return {"committed": True}


PROFILES = {
    "canonical-json": canonical_json,
    "base64url": lambda vector: {"hex": decode(vector["text"]).hex()},
    "digest": digest,
    "content-digest-field": lambda vector: {"digest": content_digest_field(vector["field"])},
    "public-jwk": public_jwk,
    "es256": es256,
    "policy-receipt": detached("signature"),
    "dsx-manifest": detached("sender_signature"),
    "skill-release": detached("manifest_signature"),
    "package-head": detached("signature"),
    "package-receipt": statement,
    "package-revocation": statement,
    "exchange-envelope": exchange_envelope,
    "sealed-package": sealed_package,
    "content-digest": content_digest,
    "key-commitment": key_commitment,
    "webhook-signature": webhook_signature,
    **LOG_PROFILES,
    "capsule": capsule_vector,
    "chain-capsule": capsule_vector,
}
