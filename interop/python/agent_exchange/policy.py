"""Policy evaluation by the sender: five checks of an object, and the receipt with their outcomes.

What each check looks at is this agent's reading; the protocol names the checks and leaves the rest to the sender.
"""

from .canonical_json import Refused, canonical_bytes
from .encodings_and_keys import require, sha256_digest
from .schemas import check_object


def object_schema(case):
    check_object(case["schemas"], case["object"])
    check_object(case["schemas"], case["policy"])


def skill_profile(case):
    recipient, skill = case["recipient"], case["skill"]
    require("svc/1.0" in recipient["protocol_versions"], "the recipient does not speak svc/1.0")
    require(recipient["skill_versions"].get(skill["id"]) == skill["version"], "the recipient has not this skill version")


def prohibited_disclosure(case):
    found = member_names(case["object"]) & set(case["policy"]["granularity"]["prohibited_fields"])
    require(not found, f"the policy prohibits {', '.join(sorted(found))}")


def recipient_authorization(case):
    allowed = case["policy"]["allowed_recipients"]
    require(case["recipient"]["organization_id"] in allowed, "the policy does not allow this recipient")
    require("read" in case["policy"]["allowed_actions"], "the policy does not allow reading")


def retention_and_forwarding(case):
    boundaries, policy = case["object"]["boundaries"], case["policy"]
    days = boundaries.get("retention_days", policy["retention"]["duration_days"])
    require(days <= policy["retention"]["duration_days"], "kept longer than the policy allows")
    forwarded = boundaries.get("forwarding_allowed", False)
    require(policy["forwarding"]["allowed"] or not forwarded, "forwarded against the policy")


CHECKS = (
    object_schema,
    skill_profile,
    prohibited_disclosure,
    recipient_authorization,
    retention_and_forwarding,
)


def evaluate(case):
    """Outcomes of the five checks; an object that fails one is never sealed."""
    for check in CHECKS:
        try:
            check(case)
        except Refused as refusal:
            raise Refused(f"the check {check.__name__} failed: {refusal}") from refusal
    return [{"check_id": check.__name__, "outcome": "passed"} for check in CHECKS]


def approval(policy, reference, at):
    if not policy["human_approval"]["required"]:
        return {"required": False}
    require(reference, "the policy asks for a human approval: --approved-by REFERENCE")
    return {"required": True, "outcome": "approved", "approval_reference": reference, "approved_at": at}


def receipt(metadata, policy, checks, human_approval):
    """Identifiers, versions, digests and outcomes without content, to be signed in canonical form."""
    bound = (
        "package_id",
        "thread_id",
        "sender_org_id",
        "sender_agent_id",
        "recipient_org_id",
        "recipient_agent_id",
        "protocol_version",
        "skill_id",
        "skill_version",
        "content_digest",
        "policy_receipt_id",
    )
    return {
        **{name: metadata[name] for name in bound},
        "receipt_version": "1.0",
        "policy_id": policy["policy_id"],
        "policy_schema_version": policy["schema_version"],
        "policy_digest": sha256_digest(canonical_bytes(policy)),
        "checks": checks,
        "human_approval": human_approval,
        # A receipt may not be later than the package it covers; the same instant is allowed.
        "evaluated_at": metadata["created_at"],
        "statement": "Five checks passed before the content was sealed.",
    }


def member_names(value):
    if isinstance(value, dict):
        return set(value).union(*map(member_names, value.values()))
    return set().union(*map(member_names, value)) if isinstance(value, list) else set()
