"""Keys of other agents: pinned on first use, checked before each use.

`peers pin FOLDER DIRECTORY.json AGENT_ID` keeps a directory and prints its keys;
`peers trust FOLDER AGENT_ID FINGERPRINT` takes a fingerprint that its owner gave over another channel.
"""

import json
import os
import pathlib
import re
import sys

from jwcrypto.jwa import JWA
from jwcrypto.jwk import JWK

from .canonical_json import Refused, canonical_bytes, read_file
from .encodings_and_keys import decode, exactly, require
from .instants import instant
from .terminal import plain

POINT = ("kty", "crv", "x", "y")


def public_jwk(jwk):
    exactly(jwk, *POINT)
    require((jwk["kty"], jwk["crv"]) == ("EC", "P-256"), "not a P-256 key")
    require(len(decode(jwk["x"])) == len(decode(jwk["y"])) == 32, "coordinates are not 32 bytes")
    try:
        key = JWK(**jwk)
        key.get_op_key("verify")
        return key
    except ValueError as error:
        raise Refused("not a point on the curve") from error


def verify(jwk, message, signature):
    """ES256 (RFC 7518 section 3.4)."""
    require(len(signature) == 64, "a signature that is not 64 bytes")
    try:
        JWA.signing_alg("ES256").verify(public_jwk(jwk), message, signature)
    except Refused:
        raise
    except Exception as error:
        raise Refused("the signature does not hold") from error


def verify_statement(jwk, signed, *, added=None, member="signature"):
    """A signature over the canonical form of an object without the signature itself."""
    carried = exactly(signed.get(member), "key_id", "algorithm", "signature")
    require(carried["algorithm"] == "ES256", "another algorithm than ES256")
    body = {name: value for name, value in signed.items() if name != member}
    # Other encodings are allowed; compare the bytes.
    text = str(carried["signature"]).removesuffix("==").translate(str.maketrans("+/", "-_"))
    verify(jwk, canonical_bytes({**body, **(added or {})}), decode(text))


def introductions(directory, pins):
    """Unpinned keys whose ids prove that a pinned signing key introduced them (see keys.sh)."""
    found = {}
    introducers = [
        key["public_key"]
        for key in directory["keys"]
        if key["key_id"] in pins and key["use"] == "signing" and key["status"] in ("active", "retiring")
    ]
    for key in directory["keys"]:
        proof = re.fullmatch(r"key_([A-Za-z0-9_-]{43})\.([A-Za-z0-9_-]{86})", key["key_id"])
        if key["key_id"] in pins or not proof or proof[1] != public_jwk(key["public_key"]).thumbprint():
            continue
        about = {name: directory[name] for name in ("organization_id", "agent_id")}
        about |= {"purpose": "aex-key-introduction", "use": key["use"], "thumbprint": proof[1]}
        if any(holds(introducer, canonical_bytes(about), decode(proof[2])) for introducer in introducers):
            found[key["key_id"]] = proof[1]
    return found


def holds(jwk, message, signature):
    try:
        verify(jwk, message, signature)
        return True
    except Refused:
        return False


class Peers:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def pin(self, directory, agent_id):
        require(directory.get("agent_id") == agent_id, "the directory of another agent")
        shown = {key["key_id"]: public_jwk(key["public_key"]).thumbprint() for key in directory["keys"]}
        require(len(shown) == len(directory["keys"]), "one key id for two keys")
        known = self._read(agent_id)
        pins, trusted = known.get("pins", {}), known.get("trusted", [])
        for key_id, fingerprint in shown.items():
            require(pins.get(key_id, fingerprint) == fingerprint, f"{key_id} is not the key that was pinned")
        # Trust on first use, unless a fingerprint was given: then only keys that it vouches for.
        first = not pins and not trusted
        pins.update({key_id: mark for key_id, mark in shown.items() if first or mark in trusted})
        while introduced := introductions(directory, pins):
            pins.update(introduced)
        self._write(agent_id, {"pins": pins, "trusted": trusted, "directory": directory})

    def trust(self, agent_id, fingerprint):
        require(re.fullmatch(r"[A-Za-z0-9_-]{43}", fingerprint), "not a fingerprint (43 characters)")
        known = self._read(agent_id)
        self._write(agent_id, {**known, "trusted": sorted({*known.get("trusted", []), fingerprint})})

    def keys(self, agent_id):
        return self._read(agent_id).get("directory", {}).get("keys", [])

    def organization(self, agent_id):
        return self._read(agent_id).get("directory", {}).get("organization_id")

    def encryption_key(self, agent_id, now):
        usable = [
            key
            for key in self.keys(agent_id)
            if key["use"] == "encryption"
            and instant(key["valid_from"]) <= now
            and all(now < instant(key[end]) for end in ("valid_until", "invalid_from") if end in key)
            # A key with a future end is still valid; a revoked key without one has ended.
            and key["status"] != "retired"
            and ("invalid_from" in key or key["status"] != "revoked")
        ]
        require(usable, f"{agent_id} has no usable encryption key")
        best = max(usable, key=lambda key: (key["status"] == "active", instant(key["valid_from"])))
        return self._pinned(agent_id, best)

    def signing_key(self, agent_id, key_id, signed_at, accepted_at=None):
        """The key, if it was valid when the statement was signed and when it arrived. A revoked key needs proof of that."""
        found = [key for key in self.keys(agent_id) if (key["key_id"], key["use"]) == (key_id, "signing")]
        require(found, f"{agent_id} has no signing key {key_id}")
        key = self._pinned(agent_id, found[0])
        times = [instant(time) for time in (signed_at, accepted_at) if time is not None]
        require(instant(key["valid_from"]) <= min(times), "signed or accepted before the key was valid")
        if "invalid_from" in key or key["status"] == "revoked":
            end = instant(key.get("invalid_from", key.get("revoked_at")))
            require(accepted_at is not None, "the key was revoked, and nothing shows an earlier acceptance")
            require(max(times) < end, "signed or accepted after the key was bad")
        return key["public_key"]

    def _pinned(self, agent_id, key):
        fingerprint = public_jwk(key["public_key"]).thumbprint()
        known = self._read(agent_id)["pins"].get(key["key_id"])
        require(
            known == fingerprint,
            f"{agent_id} has a new key, {fingerprint}. Compare it with its owner over another channel, then: "
            f"agent.sh trust {agent_id} {fingerprint}",
        )
        return key

    def _path(self, agent_id):
        require(re.fullmatch(r"agent_[A-Za-z0-9_-]{1,128}", agent_id), "not an agent id")
        return self.folder / f"{agent_id}.json"

    def _read(self, agent_id):
        path = self._path(agent_id)
        return read_file(path) if path.exists() else {}

    def _write(self, agent_id, known):
        path = self._path(agent_id)
        path.parent.mkdir(exist_ok=True)
        fresh = path.with_suffix(".new")
        fresh.write_text(json.dumps(known), "utf-8")
        os.replace(fresh, path)


def main(command, folder, *arguments):
    peers = Peers(folder)
    if command == "trust":
        return peers.trust(*arguments)
    file, agent_id = arguments
    peers.pin(read_file(file), agent_id)
    for key in peers.keys(agent_id):
        print(plain(f"{key['use']} {key['status']} {public_jwk(key['public_key']).thumbprint()} {key['key_id']}"))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except Refused as refusal:
        sys.exit(f"Refused: {plain(refusal)}")
