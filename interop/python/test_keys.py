"""The public test keys of ../keys.json. Never use them outside of tests."""

import json
import pathlib

from agent_exchange.encodings_and_keys import POINT
from jwcrypto.jwa import JWA
from jwcrypto.jwk import JWK

KEYS = {
    key["key_id"]: key
    for key in json.loads(pathlib.Path(__file__).parents[1].joinpath("keys.json").read_text("utf-8"))["keys"]
}


def private_key(key_id):
    return JWK(**KEYS[key_id]["jwk"])


def public_jwk_of(key_id):
    return {name: KEYS[key_id]["jwk"][name] for name in POINT}


def sign_es256(key_id, message):
    return JWA.signing_alg("ES256").sign(private_key(key_id), message)
