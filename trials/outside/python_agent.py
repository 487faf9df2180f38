"""An agent with the generated client and jwcrypto: it registers, signs a policy receipt, and pages through its stream."""

import base64
import hashlib
import json
import os
import secrets
import uuid
from datetime import datetime, timezone

import openapi_client
from jwcrypto import jwa, jwk

CHECKS = (
    "object_schema",
    "skill_profile",
    "prohibited_disclosure",
    "recipient_authorization",
    "retention_and_forwarding",
)
MAXIMUM_PAGES = 100

organization = os.environ["AEX_ORGANIZATION"]
recipient_organization, recipient_agent = os.environ["AEX_RECIPIENT"].split()
agent_id = f"agent_{secrets.token_hex(16)}"
now = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def digest(data):
    return f"sha-256=:{base64.b64encode(hashlib.sha256(data).digest()).decode()}:"


def new_key(key_id, use):
    pair = jwk.JWK.generate(kty="EC", crv="P-256")
    public = json.loads(pair.export_public())
    point = {name: public[name] for name in ("kty", "crv", "x", "y")}
    return pair, {"key_id": key_id, "use": use, "format": "jwk", "public_key": point, "valid_from": now}


def sign(pair, key_id, statement):
    """ES256 over RFC 8785, which for ASCII strings is sorted JSON without white space."""
    text = json.dumps(statement, sort_keys=True, separators=(",", ":"))
    raw = jwa.JWA.signing_alg("ES256").sign(pair, text.encode())
    signature = base64.urlsafe_b64encode(raw).rstrip(b"=").decode()
    return {**statement, "signature": {"key_id": key_id, "algorithm": "ES256", "signature": signature}}


def fresh():
    return str(uuid.uuid4())


configuration = openapi_client.Configuration(host=os.environ["AEX_URL"], access_token=os.environ["AEX_TOKEN"])
with openapi_client.ApiClient(configuration) as client:
    agents = openapi_client.AgentsApi(client)
    signing, signing_key = new_key("sig_1", "signing")
    _, encryption_key = new_key("enc_1", "encryption")
    registration = openapi_client.AgentRegistrationRequest.from_dict(
        {
            "organization_id": organization,
            "agent_id": agent_id,
            "implementation": "generated client",
            "implementation_version": "1.0.0",
            "protocol_versions": ["svc/1.0"],
            "skill_versions": {"skill_alignment": "1.0.0"},
            "transport_modes": ["native"],
            "keys": [signing_key, encryption_key],
        }
    )
    registered = agents.register_agent(fresh(), fresh(), registration)
    found = agents.get_agent(fresh(), agent_id)
    assert registered.agent_id == found.agent_id == agent_id
    assert {key.key_id for key in found.keys} == {"sig_1", "enc_1"}, found.keys

    statement = {
        "policy_receipt_id": f"receipt_{secrets.token_hex(16)}",
        "receipt_version": "1.0",
        "package_id": f"pkg_{secrets.token_hex(16)}",
        "thread_id": f"thread_{secrets.token_hex(16)}",
        "sender_org_id": organization,
        "sender_agent_id": agent_id,
        "recipient_org_id": recipient_organization,
        "recipient_agent_id": recipient_agent,
        "protocol_version": "svc/1.0",
        "skill_id": "skill_alignment",
        "skill_version": "1.0.0",
        "content_digest": digest(b"content"),
        "policy_id": "pol_supply_alignment",
        "policy_schema_version": "1.0.0",
        "policy_digest": digest(b"policy"),
        "checks": [{"check_id": name, "outcome": "passed"} for name in CHECKS],
        "human_approval": {"required": False},
        "evaluated_at": now,
        "statement": "Evaluated by a generated client.",
    }
    receipt = openapi_client.PolicyReceipt.from_dict(sign(signing, "sig_1", statement))
    accepted = openapi_client.PolicyReceiptsApi(client).create_policy_receipt(fresh(), fresh(), receipt)
    assert (accepted.signature_status, accepted.package_authorization) == ("verified", "eligible"), accepted

    stream = openapi_client.NotificationsApi(client)
    sequences, pages, after = [], 0, None
    for pages in range(1, MAXIMUM_PAGES):
        page = stream.list_notifications(fresh(), after=after, limit=1)
        sequences += [item.sequence for item in page.items]
        after = page.next_cursor
        if not page.has_more:
            break
    assert pages > 1 and sequences == list(range(1, len(sequences) + 1)), sequences
    print(f"registered, signed, read {len(sequences)} notifications on {pages} pages")
