"""Leaves, checkpoints and Merkle proofs of the transparency log (docs/transparency-format.md, C2SP, RFC 9162)."""

import base64
import hashlib
import hmac
import re

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from jwcrypto.common import base64url_encode

from .canonical_json import Refused, canonical_bytes
from .encodings_and_keys import decode, decode_signature, parse_digest, require

TAG = "agent-exchange/log/"
LOG_KEY, WITNESS_KEY = 1, 4
# The last second of the year 9999.
LATEST_TIME = 253_402_300_799
LARGEST = 2**53 - 1


def sha256(data):
    return hashlib.sha256(data).digest()


def number(value):
    require(isinstance(value, int) and 0 <= value <= LARGEST, "no number")
    return value.to_bytes(8, "big")


def text_bytes(value):
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError as error:
        raise Refused("no Unicode") from error


def fields(tag, *values):
    values = [(TAG + tag).encode(), *(text_bytes(value) if isinstance(value, str) else value for value in values)]
    return b"".join(len(value).to_bytes(4, "big") + value for value in values)


def of_length(data, length):
    require(len(data) == length, f"not {length} bytes")
    return data


def hex_hash(text):
    require(re.fullmatch(r"[0-9a-f]{64}", text), "no hash")
    return bytes.fromhex(text)


def salt_of(secret, offset):
    return hmac.digest(of_length(decode(secret), 32), fields("v1/salt", number(offset)), "sha256")


def record_leaf(record, salt):
    first, last, hashes = record["first_position"], record["last_position"], record["entry_hashes"]
    require(first >= 1 and len(hashes) == last - first + 1, "positions")
    label = fields("v1/record-label", *package_identity(record), number(first))
    previous = b"" if record["previous_hash"] is None else hex_hash(record["previous_hash"])
    chain = (number(first), number(last), previous, b"".join(map(hex_hash, hashes)))
    commitment = fields("v1/record-commitment", of_length(salt, 32), record["thread_id"], *chain)
    return sha256(label), sha256(commitment)


def package_identity(package):
    r = of_length(decode_signature(package["receipt_signature"]), 64)[:32]
    return package["package_id"], parse_digest(package["content_digest"]), r


def chain_start(package):
    package_id, digest, r = package_identity(package)
    return sha256(fields("v2/chain-start", package_id, package["thread_id"], digest, r))


def body_hash(entry):
    """Of the event, where there is one, and the proof; a placeholder carries it."""
    if "body_hash" in entry:
        return hex_hash(entry["body_hash"])
    return sha256(canonical_bytes({name: entry[name] for name in ("event", "proof") if name in entry}))


def next_link(previous, position, kind, visibility, body):
    require(position >= 1, "positions start at 1")
    return sha256(fields("v2/link", of_length(previous, 32), number(position), kind, visibility, of_length(body, 32)))


def chain_record_leaf(record, salt):
    first, last = record["first_position"], record["last_position"]
    require(1 <= first <= last, "positions")
    links = [hex_hash(record[name]) for name in ("link_before", "last_link")]
    label = fields("v2/record-label", *package_identity(record), number(first))
    commitment = fields("v2/record-commitment", of_length(salt, 32), number(first), number(last), *links)
    return sha256(label), sha256(commitment)


def log_package_chain(vector):
    link = start = chain_start(vector)
    links = []
    for position, entry in enumerate(vector["entries"], 1):
        body = body_hash(entry.get("body", entry))
        link = next_link(link, position, entry["kind"], entry["visibility"], body)
        links.append({"body_hash": body.hex(), "link": link.hex()})
    return {"start": start.hex(), "links": links}


def key_leaf(event, salt):
    require(event["number"] >= 1, "numbers start at 1")
    label = fields("v1/key-label", event["agent_id"], number(event["number"]))
    commitment = fields(
        "v1/key-commitment",
        of_length(salt, 32),
        event["organization_id"],
        event["agent_id"],
        number(event["number"]),
        event["key_id"],
        event["kind"],
        event["use"],
        of_length(decode(event["thumbprint"]), 32),
        event["valid_from"],
        event["recorded_at"],
        event.get("invalid_from", ""),
    )
    return sha256(label), sha256(commitment)


def origin_leaf(vector):
    label = fields("v1/origin-label", vector["origin"])
    root = of_length(decode(vector["previous_root"]), 32)
    previous = (vector["previous_origin"], number(vector["previous_size"]), root)
    return sha256(label), sha256(fields("v1/origin-commitment", vector["origin"], *previous))


def leaf_hash(leaf):
    return sha256(b"\0" + leaf)


def leaf_vector(make):
    def check(vector):
        salt = salt_of(vector["batch_secret"], vector["offset"])
        label, commitment = make(vector, salt)
        parts = {"salt": salt, "label": label, "commitment": commitment, "leaf_hash": leaf_hash(label + commitment)}
        return {name: base64url_encode(value) for name, value in parts.items()}

    return check


def log_origin_leaf(vector):
    label, commitment = origin_leaf(vector)
    parts = {"label": label, "commitment": commitment, "leaf_hash": leaf_hash(label + commitment)}
    return {name: base64url_encode(value) for name, value in parts.items()}


def standard_base64(text):
    require(re.fullmatch(r"[A-Za-z0-9+/]+={0,2}", text) and len(text) % 4 == 0, "no base64")
    data = base64.b64decode(text)
    require(base64.b64encode(data).decode() == text, "not canonical")
    return data


def decimal(text):
    require(re.fullmatch(r"0|[1-9][0-9]{0,15}", text) and int(text) <= LARGEST, "no decimal")
    return int(text)


def verifier_key(text):
    name, identifier, encoded = text.split("+", 2)
    data = standard_base64(encoded)
    require(data[0] in (LOG_KEY, WITNESS_KEY) and len(data) == 33, "key type")
    require(sha256(f"{name}\n".encode() + data)[:4].hex() == identifier, "key id")
    return {"name": name, "id": bytes.fromhex(identifier), "type": data[0], "key": data[1:]}


def verify_signature(key, text, signature):
    message = text.encode("utf-8")
    found = {"name": key["name"]}
    if key["type"] == WITNESS_KEY:
        found["time"] = int.from_bytes(signature[:8], "big")
        require(found["time"] <= LATEST_TIME, "time of a cosignature")
        message = f"cosignature/v1\ntime {found['time']}\n".encode() + message
        signature = signature[8:]
    Ed25519PublicKey.from_public_bytes(key["key"]).verify(of_length(signature, 64), message)
    return found


def signature_line(line):
    match = re.fullmatch(r"— ([^\s+]+) (\S+)", line)
    require(match, "no signature line")
    data = standard_base64(match[2])
    require(len(data) > 4, "no signature")
    return match[1], data[:4], data[4:]


def open_checkpoint(note, keys):
    """Origin, size and root, and the signatures by these keys."""
    require(not re.search(r"[\x00-\x09\x0b-\x1f]", note), "control character")
    text, blank, signatures = note.rpartition("\n\n")
    require(blank and signatures.endswith("\n"), "no note")
    text += "\n"
    origin, size, root, *extensions = text[:-1].split("\n") + [""] * (3 - text.count("\n"))
    require(origin and "" not in extensions, "no checkpoint")
    head = {"origin": origin, "size": decimal(size), "root": of_length(standard_base64(root), 32)}
    lines = [signature_line(line) for line in signatures[:-1].split("\n")]
    used = [
        (key, verify_signature(key, text, signature))
        for name, identifier, signature in lines
        for key in keys
        if (key["name"], key["id"]) == (name, identifier)
    ]
    require(any(key["type"] == LOG_KEY and key["name"] == origin for key, _ in used), "not signed by the log")
    return head, used


def log_checkpoint(vector):
    head, used = open_checkpoint(vector["note"], list(map(verifier_key, vector["verifier_keys"])))
    return {**head, "root": base64url_encode(head["root"]), "signatures": [found for _, found in used]}


def node_hash(left, right):
    return sha256(b"\1" + left + right)


def verify_inclusion(index, size, root, leaf, proof):
    """RFC 9162 section 2.1.3.2."""
    require(index < size, "index")
    node, last, value = index, size - 1, leaf
    for sibling in proof:
        require(last > 0, "too long")
        if node & 1 or node == last:
            value = node_hash(sibling, value)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            value = node_hash(value, sibling)
        node, last = node >> 1, last >> 1
    require(last == 0 and value == root, "another root")


def verify_consistency(old_size, old_root, new_size, new_root, proof):
    """RFC 9162 section 2.1.4.2; every tree continues the empty one."""
    require(old_size <= new_size, "backwards")
    if old_size in (0, new_size):
        require(not proof, "no proof is needed")
        return require(old_root == (sha256(b"") if old_size == 0 else new_root), "another root")
    path = [old_root, *proof] if old_size & (old_size - 1) == 0 else list(proof)
    require(path, "too short")
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node, last = node >> 1, last >> 1
    old = new = path[0]
    for sibling in path[1:]:
        require(last > 0, "too long")
        if node & 1 or node == last:
            old, new = node_hash(sibling, old), node_hash(sibling, new)
            while not node & 1 and node:
                node, last = node >> 1, last >> 1
        else:
            new = node_hash(new, sibling)
        node, last = node >> 1, last >> 1
    require(last == 0 and old == old_root and new == new_root, "another root")


def parse_proof(text):
    """C2SP tlog-proof: index, hashes and checkpoint."""
    head, blank, checkpoint = text.partition("\n\n")
    lines = head.split("\n")
    require(blank and lines.pop(0) == "c2sp.org/tlog-proof@v1", "no proof")
    if lines and lines[0].startswith("extra "):
        standard_base64(lines.pop(0).removeprefix("extra "))
    require(lines and lines[0].startswith("index "), "no index")
    index = decimal(lines.pop(0).removeprefix("index "))
    return index, [of_length(standard_base64(line), 32) for line in lines], checkpoint


def log_inclusion(vector):
    index, hashes, checkpoint = parse_proof(vector["proof"])
    head, _ = open_checkpoint(checkpoint, list(map(verifier_key, vector["verifier_keys"])))
    verify_inclusion(index, head["size"], head["root"], leaf_hash(decode(vector["leaf"])), hashes)
    return {"index": index, "size": head["size"]}


def log_consistency(vector):
    roots = (decode(vector["old_root"]), decode(vector["new_root"]))
    proof = list(map(decode, vector["proof"]))
    verify_consistency(vector["old_size"], roots[0], vector["new_size"], roots[1], proof)
    return {"consistent": True}


LOG_PROFILES = {
    "log-record-leaf": leaf_vector(record_leaf),
    "log-package-chain": log_package_chain,
    "log-chain-record-leaf": leaf_vector(chain_record_leaf),
    "log-key-leaf": leaf_vector(key_leaf),
    "log-origin-leaf": log_origin_leaf,
    "log-checkpoint": log_checkpoint,
    "log-inclusion": log_inclusion,
    "log-consistency": log_consistency,
}
