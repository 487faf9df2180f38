"""Verification of signed webhooks (RFC 9421, RFC 9530), step by step."""

import base64
import re
import urllib.parse

from .canonical_json import parse
from .encodings_and_keys import parse_digest, require, sha256_digest, verify_es256
from .instants import instant

COMPONENTS = (
    "@method",
    "@authority",
    "@path",
    "content-digest",
    "content-type",
    "svc-delivery-id",
    "svc-event-id",
    "svc-delivery-attempt",
)
# The service writes the parameters in this order, so a receiver of its webhooks may expect it.
INPUT = re.compile(
    r"sig1=(\("
    + " ".join(f'"{name}"' for name in COMPONENTS)
    + r'\);created=(\d+);expires=(\d+);keyid="([\x21\x23-\x5b\x5d-\x7e]+)"'
    + r';alg="ecdsa-p256-sha256";tag="svc-webhook")'
)
MEMBER = re.compile(r"([a-z*][a-z0-9_.*-]*)=(:[A-Za-z0-9+/]*=*:)")
SKEW = 5
MAXIMUM_LIFETIME = 300


def content_digest_field(field):
    members = [MEMBER.fullmatch(part.strip(" \t")) for part in field.split(",")]
    require(all(members), "no dictionary of byte sequences")
    digests = [member[2] for member in members if member[1] == "sha-256"]
    require(len(digests) == 1, "not one sha-256")
    parse_digest(f"sha-256={digests[0]}")
    return f"sha-256={digests[0]}"


def webhook_signature(vector):
    request = vector["request"]
    verified = verify_signature(request, vector["pinned_keys"], instant(vector["now"]))
    check_body_digest(request["headers"], request["body"].encode("utf-8"))
    check_event_id(parse(request["body"].encode("utf-8")), verified["event_id"])
    return verified


def verify_signature(request, pinned_keys, now):
    """Profile, key and time window, then the signature over the base. The body is not needed yet."""
    fields = read_fields(request["headers"])
    parameters = INPUT.fullmatch(fields["signature-input"])
    require(parameters, "not the signature profile")
    created, expires, key_id = int(parameters[2]), int(parameters[3]), parameters[4]
    key = usable_key(pinned_keys, key_id, now)
    require(1 <= expires - created <= MAXIMUM_LIFETIME, "lifetime")
    require(created - SKEW <= now <= expires + SKEW, "outside its time window")

    base = signature_base(request, fields, parameters[1])
    carried = re.fullmatch(r"sig1=:([A-Za-z0-9+/]{86}==):", fields["signature"])
    require(carried, "not one signature of 64 bytes")
    verify_es256(key["public_key"], base.encode("utf-8"), base64.b64decode(carried[1]))
    return {
        "key_id": key_id,
        "delivery_id": fields["svc-delivery-id"],
        "event_id": fields["svc-event-id"],
        "attempt": int(fields["svc-delivery-attempt"]),
        "signature_base": base,
    }


def check_body_digest(headers, body):
    field = read_fields(headers)["content-digest"]
    require(content_digest_field(field) == sha256_digest(body), "another body")


def check_event_id(event, event_id):
    require(event.get("event_id") == event_id, "another event")


def read_fields(headers):
    fields = {}
    for name, value in headers:
        fields.setdefault(name.lower(), []).append(value.strip(" \t"))
    for name in (*COMPONENTS[3:], "signature", "signature-input"):
        require(name in fields, f"no {name}")
    return {name: ", ".join(values) for name, values in fields.items()}


def usable_key(pinned, key_id, now):
    key = next((key for key in pinned if key["key_id"] == key_id), None)
    require(key and key["status"] in ("active", "retiring"), "not a key for new deliveries")
    require(key.get("use", "signing") == "signing", "not a key for signatures")
    require(instant(key["valid_from"]) <= now + SKEW, "not valid yet")
    require("valid_until" not in key or now - SKEW < instant(key["valid_until"]), "not valid any more")
    return key


def signature_base(request, fields, parameters):
    """RFC 9421 section 2.5."""
    url = urllib.parse.urlsplit(request["url"])
    # hostname is already lower-case; the default port is omitted (section 2.2.3).
    authority = url.hostname if url.port in (None, 443) else f"{url.hostname}:{url.port}"
    values = {**fields, "@method": request["method"], "@authority": authority, "@path": url.path or "/"}
    lines = [f'"{name}": {values[name]}' for name in COMPONENTS]
    return "\n".join([*lines, f'"@signature-params": {parameters}'])
