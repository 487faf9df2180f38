"""Makes a log of its own, with new keys, and prints its leaves, checkpoints and proofs as vectors."""

import base64
import secrets

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from jwcrypto.common import base64url_encode

from agent_exchange.transparency_log import LOG_KEY, LOG_PROFILES, WITNESS_KEY, leaf_hash, node_hash, sha256

ORIGIN, SIZE, TIME = "python.example/log", 11, 1_800_000_000


def text(data):
    return base64.b64encode(data).decode()


class Signer:
    def __init__(self, name, kind):
        self.private, self.name = Ed25519PrivateKey.generate(), name
        data = bytes([kind]) + self.private.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self.id = sha256(f"{name}\n".encode() + data)[:4]
        self.verifier_key = f"{name}+{self.id.hex()}+{text(data)}"

    def line(self, message, before=b""):
        return f"— {self.name} {text(self.id + before + self.private.sign(message.encode()))}\n"


def root_of(hashes):
    """RFC 9162 section 2.1.1, by its definition."""
    if len(hashes) == 1:
        return hashes[0]
    middle = 1 << (len(hashes) - 1).bit_length() - 1
    return node_hash(root_of(hashes[:middle]), root_of(hashes[middle:]))


def path_of(index, hashes):
    """RFC 9162 section 2.1.3.1."""
    if len(hashes) == 1:
        return []
    middle = 1 << (len(hashes) - 1).bit_length() - 1
    if index < middle:
        return [*path_of(index, hashes[:middle]), root_of(hashes[middle:])]
    return [*path_of(index - middle, hashes[middle:]), root_of(hashes[:middle])]


def log_vectors(valid, published):
    log, witness = Signer(ORIGIN, LOG_KEY), Signer("python.example/witness", WITNESS_KEY)
    keys = [log.verifier_key, witness.verifier_key]
    leaves = [secrets.token_bytes(64) for _ in range(SIZE)]
    hashes = list(map(leaf_hash, leaves))
    root = root_of(hashes)
    body = f"{ORIGIN}\n{SIZE}\n{text(root)}\n"
    cosigned = witness.line(f"cosignature/v1\ntime {TIME}\n{body}", TIME.to_bytes(8, "big"))
    note = f"{body}\n{log.line(body)}{cosigned}"
    signatures = [{"name": ORIGIN}, {"name": witness.name, "time": TIME}]
    output = {"origin": ORIGIN, "size": SIZE, "root": base64url_encode(root), "signatures": signatures}
    yield valid("log-checkpoint", "signed and cosigned", {"note": note, "verifier_keys": keys}, output)
    for index, leaf in enumerate(leaves):
        lines = ["c2sp.org/tlog-proof@v1", f"index {index}", *map(text, path_of(index, hashes)), "", note]
        given = {"leaf": base64url_encode(leaf), "proof": "\n".join(lines), "verifier_keys": keys}
        yield valid("log-inclusion", f"leaf {index} of {SIZE}", given, {"index": index, "size": SIZE})
    for profile in ("log-record-leaf", "log-chain-record-leaf", "log-key-leaf"):
        given = {**published(profile)["input"], "batch_secret": base64url_encode(secrets.token_bytes(32))}
        yield valid(profile, "with a salt of its own", given, LOG_PROFILES[profile](given))
    given = {**published("log-origin-leaf")["input"], "previous_root": base64url_encode(root)}
    yield valid("log-origin-leaf", "with a root of its own", given, LOG_PROFILES["log-origin-leaf"](given))
