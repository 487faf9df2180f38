"""Base64url, digests, public keys and ES256, as strict as the profiles."""

import base64
import hashlib
import re

from jwcrypto.common import base64url_encode
from jwcrypto.jwa import JWA
from jwcrypto.jwk import JWK

from .canonical_json import Refused

POINT = ("kty", "crv", "x", "y")
PRIVATE = {"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}
DECORATION = {"kid", "alg", "use", "key_ops", "ext"}


def require(holds, reason):
    if not holds:
        raise Refused(reason)


def exactly(value, *names):
    require(isinstance(value, dict) and set(value) == set(names), f"not exactly {', '.join(names)}")
    return value


def decode(text):
    """Canonical base64url."""
    require(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]*", text), "not base64url")
    require(len(text) % 4 != 1, "a length that no bytes have")
    data = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    require(base64url_encode(data) == text, "not canonical")
    return data


def decode_signature(text):
    """The bytes of a detached signature: either alphabet, padded or not."""
    require(isinstance(text, str) and re.fullmatch(r"[A-Za-z0-9_-]+(==)?|[A-Za-z0-9+/]+(==)?", text), "no base64")
    return decode(text.removesuffix("==").translate(str.maketrans("+/", "-_")))


def sha256_digest(data):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def parse_digest(text):
    match = re.fullmatch(r"sha-256=:([A-Za-z0-9+/]{43}=):", text)
    require(match, "no digest")
    data = base64.b64decode(match[1])
    require(base64.b64encode(data).decode() == match[1], "not canonical")
    return data


def verify_es256(jwk, message, signature):
    require(len(signature) == 64, "not 64 bytes")
    JWA.signing_alg("ES256").verify(JWK(**jwk), message, signature)


def holds_private(value):
    if isinstance(value, dict):
        return bool(PRIVATE & set(value)) or any(map(holds_private, value.values()))
    return isinstance(value, list) and any(map(holds_private, value))


def read_ephemeral_jwk(jwk):
    point = read_public_jwk(jwk)
    require(set(jwk) <= set(POINT) | DECORATION, "other members")
    return point


def read_public_jwk(jwk):
    require(isinstance(jwk, dict) and not holds_private(jwk), "no public key")
    require(set(POINT) <= set(jwk), "no point")
    require((jwk["kty"], jwk["crv"]) == ("EC", "P-256"), "no P-256 key")
    require(len(decode(jwk["x"])) == len(decode(jwk["y"])) == 32, "not 32 bytes")
    point = {name: jwk[name] for name in POINT}
    try:
        JWK(**point).get_op_key("verify")
    except ValueError as error:
        raise Refused("not on the curve") from error
    return point
