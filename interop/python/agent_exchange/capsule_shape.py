"""The closed shape of a capsule of format 3: a member that no step verifies would be a claim that nobody checked."""

import re

from .encodings_and_keys import require
from .instants import parse_instant

MAXIMUM_DEPTH = 32
LARGEST = 2**53 - 1
TAIL = "[A-Za-z0-9][A-Za-z0-9_-]{0,127}"
CHECK_IDS = {
    "object_schema",
    "skill_profile",
    "prohibited_disclosure",
    "recipient_authorization",
    "retention_and_forwarding",
}
EVENT_TYPES = {
    "package_created",
    "policy_evaluated",
    "human_approved",
    "package_sent",
    "package_received",
    "response_created",
    "thread_phase_changed",
    "network_story_created",
    "decision_made",
    "outcome_recorded",
    "package_revoked",
}


def text(value):
    require(isinstance(value, str), "no text")


def name(value):
    require(isinstance(value, str) and value, "empty")


def integer(smallest):
    def check(value):
        is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
        require(is_number and value == int(value) and smallest <= value <= LARGEST, "no integer of that range")

    return check


def matching(pattern):
    compiled = re.compile(pattern, re.ASCII)
    return lambda value: require(isinstance(value, str) and compiled.fullmatch(value), f"not {pattern}")


def identifier(prefix):
    return matching(f"{prefix}_{TAIL}")


def prefixed(prefix):
    return lambda value: require(isinstance(value, str) and value.startswith(f"{prefix}_"), f"not {prefix}_")


def one_of(*values):
    def check(value):
        require(any(type(value) is type(each) and value == each for each in values), "another value")

    return check


def listed(item, maximum, minimum=0):
    def check(value):
        require(isinstance(value, list) and minimum <= len(value) <= maximum, "no list of that length")
        for each in value:
            item(each)

    return check


def members(known, optional=(), is_closed=True):
    def check(value):
        require(isinstance(value, dict), "no object")
        require(set(known) - set(optional) <= set(value), f"lacks {set(known) - set(optional) - set(value)}")
        require(not is_closed or set(value) <= set(known), f"has {set(value) - set(known)}")
        for each in set(value) & set(known):
            known[each](value[each])

    return check


def resource_id(value):
    is_segment = isinstance(value, str) and re.fullmatch(r'[!"$&-.0->@-~]+', value) and value not in (".", "..")
    require(is_segment, "no id")


def timestamp(value):
    is_utc = isinstance(value, str) and re.fullmatch(r"[^tz]+T[^tz]+(?:Z|\+00:00)", value)
    require(is_utc and parse_instant(value), "no UTC time")


def date_time(value):
    require(parse_instant(value), "no time")


digest = matching(r"sha-256=:[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=:")
version = matching(r"[0-9]+\.[0-9]+\.[0-9]+")
organization, agent, thread = identifier("org"), identifier("agent"), identifier("thread")
position = integer(1)
hash_text = matching("[0-9a-f]{64}")
signature = members(
    {
        "key_id": name,
        "algorithm": one_of("ES256"),
        "signature": matching("(?:[A-Za-z0-9_-]{85}|[A-Za-z0-9+/]{85})[AQgw](?:==)?"),
    }
)
# In one spelling: no hash covers it.
uncovered_signature = members(
    {"key_id": name, "algorithm": one_of("ES256"), "signature": matching("[A-Za-z0-9_-]{85}[AQgw]")}
)
ROUTE = {
    "policy_receipt_id": resource_id,
    "package_id": resource_id,
    "thread_id": thread,
    "sender_org_id": organization,
    "sender_agent_id": agent,
    "recipient_org_id": organization,
    "recipient_agent_id": agent,
    "protocol_version": text,
    "skill_id": text,
    "skill_version": text,
    "content_digest": digest,
}
metadata = members(
    {
        **ROUTE,
        "schema_version": version,
        "created_at": timestamp,
        "expires_at": timestamp,
        "content_type": text,
        "transport_mode": one_of("native", "ds_x"),
        "responds_to_package_id": resource_id,
    },
    ["responds_to_package_id"],
)
approval = members(
    {"required": one_of(True, False), "outcome": text, "approval_reference": text, "approved_at": timestamp},
    ["outcome", "approval_reference", "approved_at"],
)
receipt_members = members(
    {
        **ROUTE,
        "receipt_version": text,
        "policy_id": text,
        "policy_schema_version": text,
        "policy_digest": digest,
        "checks": listed(members({"check_id": one_of(*CHECK_IDS), "outcome": text}), 5, 5),
        "human_approval": approval,
        "evaluated_at": timestamp,
        "statement": text,
        "signature": signature,
    }
)


def policy_receipt(value):
    receipt_members(value)
    require({check["check_id"] for check in value["checks"]} == CHECK_IDS, "a check is missing")


edc = members(
    {
        "connector_id": name,
        "asset_id": name,
        "asset_digest": digest,
        "contract_agreement_id": name,
        "transfer_process_id": name,
    },
    ["contract_agreement_id", "transfer_process_id"],
)
audit_event = members(
    {
        "id": identifier("audit"),
        "object_type": one_of("audit_event"),
        "protocol_version": one_of("svc/1.0"),
        "schema_version": version,
        "created_at": timestamp,
        "created_by": members(
            {"organization_id": organization, "agent_id": agent, "human_id": identifier("user")}, ["human_id"]
        ),
        "trace": members({"correlation_id": identifier("corr"), "idempotency_key": identifier("idem")}),
        "thread_id": thread,
        "event_type": one_of(*EVENT_TYPES),
        "occurred_at": date_time,
        "actor": members(
            {"organization_id": prefixed("org"), "agent_id": prefixed("agent"), "human_id": prefixed("user")},
            ["agent_id", "human_id"],
            is_closed=False,
        ),
        "target": members({"object_id": text, "object_type": text}, is_closed=False),
        "decision": text,
        "policy_id": prefixed("pol"),
    },
    ["decision", "policy_id"],
)
shown_entry = members(
    {
        "position": position,
        "visibility": one_of("both", "one"),
        "event": audit_event,
        "proof": members({"kind": text, "recorded_at": text}, is_closed=False),
    },
    ["event"],
)
hidden_entry = members({"position": position, "kind": text, "visibility": one_of("one"), "body_hash": hash_text})


def entry(value):
    (hidden_entry if isinstance(value, dict) and "body_hash" in value else shown_entry)(value)


head = members(
    {
        "type": one_of("aex-package-head/1"),
        "package_id": text,
        "thread_id": text,
        "position": position,
        "link": hash_text,
        "log": members({"origin": text, "size": integer(0)}),
        "stated_at": text,
        "signature": uncovered_signature,
    }
)
disclosure = members(
    {
        "envelope": text,
        "content_key": text,
        "disclosed_by": members({"organization_id": text, "agent_id": text}),
        "signature": uncovered_signature,
    }
)
package = members(
    {
        "metadata": metadata,
        "policy_receipt": policy_receipt,
        "edc": edc,
        "sender_signature": uncovered_signature,
        "entries": listed(entry, 500_000),
        "records": listed(
            members({"first_position": position, "last_position": position, "salt": text, "proof": text}), 250_000
        ),
        "head": head,
        "disclosure": disclosure,
    },
    ["edc", "sender_signature", "head", "disclosure"],
)
key_event = members(
    {
        "organization_id": text,
        "agent_id": text,
        "number": position,
        "key_id": text,
        "kind": text,
        "use": text,
        "thumbprint": text,
        "valid_from": text,
        "recorded_at": text,
        "invalid_from": text,
        "salt": text,
        "proof": text,
    },
    ["invalid_from"],
)
log = members(
    {
        "key": text,
        "checkpoint": text,
        "key_events": listed(key_event, 100_000),
        "history": listed(members({"checkpoint": text, "consistency": listed(text, 63)}), 1_000),
    },
    ["history"],
)
public_key = members({"kty": one_of("EC"), "crv": text, "x": text, "y": text})
capsule = members(
    {
        "format": one_of("aex-evidence/3"),
        "thread_id": text,
        "packages": listed(package, 1_000),
        "keys": listed(
            members({"organization_id": text, "agent_id": text, "key_id": text, "public_key": public_key}), 10_000
        ),
        "log": log,
    }
)


def require_shape(value):
    require(not is_deeper(value, MAXIMUM_DEPTH), "too deep")
    capsule(value)


def is_deeper(value, levels):
    if not isinstance(value, (dict, list)):
        return False
    inner = value.values() if isinstance(value, dict) else value
    return levels == 0 or any(is_deeper(each, levels - 1) for each in inner)
