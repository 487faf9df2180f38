"""Exchange envelopes (JWS) and the sealed packages (JWE) in them, as strict as the profiles."""

import hmac
import json
import re

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from jwcrypto.common import JWException, base64url_encode
from jwcrypto.jwk import JWK
from jwcrypto.jws import JWS

from .canonical_json import Refused, canonical_bytes, parse
from .encodings_and_keys import decode, exactly, read_ephemeral_jwk, require, sha256_digest

JWS_HEADER = {
    "alg": "ES256",
    "typ": "application/svc+jws",
    "cty": "application/svc.exchange-envelope+json",
    "syv": "svc/1.0",
}
JWE_HEADER = {
    "enc": "A256GCM",
    "typ": "application/svc+jwe",
    "cty": "application/svc.reasoning-package+json",
    "syv": "svc/1.0",
}
# O-35: a response may have a type of its own.
CONTENT_TYPES = (JWE_HEADER["cty"], "application/svc.response-object+json")
WRAPPING = "ECDH-ES+A256KW"
CONTENT_KEY_BYTES = 32


def read_sealed(jwe, content_types=(JWE_HEADER["cty"],)):
    exactly(jwe, "aad", "ciphertext", "iv", "protected", "recipients", "tag")
    header = parse(decode(jwe["protected"]))
    require(any(header == {**JWE_HEADER, "cty": each} for each in content_types), "another JWE header")
    require(len(decode(jwe["iv"])) == 12 and len(decode(jwe["tag"])) == 16, "iv or tag")
    require(decode(jwe["aad"]) and decode(jwe["ciphertext"]), "empty")
    require(isinstance(jwe["recipients"], list) and len(jwe["recipients"]) == 2, "not two recipients")
    for recipient in jwe["recipients"]:
        exactly(recipient, "encrypted_key", "header")
        exactly(recipient["header"], "alg", "epk", "kid")
        require(recipient["header"]["alg"] == WRAPPING, "another key wrapping")
        require(is_name(recipient["header"]["kid"]), "no kid")
        require(len(decode(recipient["encrypted_key"])) == 40, "wrapped key")
        read_ephemeral_jwk(recipient["header"]["epk"])
    return jwe


def read_envelope(body, content_types=(JWE_HEADER["cty"],)):
    envelope = exactly(parse(body), "protected", "payload", "signature")
    header = parse(decode(envelope["protected"]))
    require(isinstance(header, dict) and is_name(header.get("kid")), "no kid")
    require(header == {**JWS_HEADER, "kid": header["kid"]}, "another JWS header")
    require(len(decode(envelope["signature"])) == 64, "not 64 bytes")
    payload_bytes = decode(envelope["payload"])
    payload = exactly(parse(payload_bytes), "metadata", "jwe")
    read_sealed(payload["jwe"], content_types)
    return header["kid"], payload, payload_bytes.decode("utf-8")


def verify_envelope(body, jwk):
    token = JWS()
    token.allowed_algs = ["ES256"]
    try:
        token.deserialize(body, JWK(**jwk))
    except JWException as error:
        raise Refused("the signature does not hold") from error


def digest_rule(payload, text, content_digest, rules=None):
    """The first rule by which the content has this digest; None if there is none."""
    start = re.search(r'"jwe"\s*:\s*', text).end()
    _, end = json.JSONDecoder().raw_decode(text, start)
    covered = {
        "jcs-jwe": canonical_bytes(payload["jwe"]),
        "jwe-text": text[start:end].encode("utf-8"),
        "ciphertext-bytes": decode(payload["jwe"]["ciphertext"]),
    }
    return next((rule for rule in rules or covered if sha256_digest(covered[rule]) == content_digest), None)


def commitment_to(content_key):
    return base64url_encode(hmac.digest(content_key, b"agent-exchange/content-key/v1", "sha256"))


def open_with_content_key(jwe, content_key):
    # HMAC pads keys with zeros, so a shorter key can have the same commitment.
    require(len(content_key) == CONTENT_KEY_BYTES, "not 256 bits")
    sealed = decode(jwe["ciphertext"]) + decode(jwe["tag"])
    authenticated = f"{jwe['protected']}.{jwe['aad']}".encode("ascii")
    try:
        return AESGCM(content_key).decrypt(decode(jwe["iv"]), sealed, authenticated)
    except InvalidTag as error:
        raise Refused("another key") from error


def is_name(value):
    return isinstance(value, str) and value != ""
