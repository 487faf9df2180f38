"""A program of a company with the client generated from the gateway's document: it sends, takes the answer, keeps the capsule."""

import json
import os
import uuid

import openapi_client

ATTEMPTS = 4
WAIT_SECONDS = 15

agent, recipient, policy = os.environ["AEX_AGENTS"].split()


def fresh():
    return str(uuid.uuid4())


configuration = openapi_client.Configuration(host=os.environ["AEX_URL"], access_token=os.environ["AEX_KEY"])
with openapi_client.ApiClient(configuration) as client:
    drafts, inbox = openapi_client.DraftsApi(client), openapi_client.InboxApi(client)
    packages = openapi_client.PackagesApi(client)
    request = openapi_client.DraftRequest.from_dict(
        {
            "to": recipient,
            "object_type": "reasoning_package",
            "policy_id": policy,
            "content": json.loads(os.environ["AEX_CONTENT"]),
        }
    )
    draft = drafts.create_draft(agent, fresh(), request)
    sent = drafts.send_draft(agent, draft.draft_id, fresh(), {})
    assert sent.state == "sent", sent
    print(f"sent {sent.package_id}", flush=True)

    leases = []
    for _ in range(ATTEMPTS):
        wanted = openapi_client.LeaseRequest.from_dict({"agent_id": agent, "wait": WAIT_SECONDS})
        leases = inbox.lease_items(wanted).leases
        if leases:
            break
    (lease,) = leases
    assert lease.thread_id == sent.thread_id, lease
    token = openapi_client.LeaseReference.from_dict({"lease_token": lease.lease_token})
    capsule = packages.read_capsule_without_preload_content(agent, thread_id=sent.thread_id, wait=WAIT_SECONDS)
    with open("kept.capsule.json", "wb") as kept:
        kept.write(capsule.data)
    assert inbox.finish_lease(lease.item_id, token, fresh()).item_id == lease.item_id
    print(f"took {lease.content_type} {lease.package_id}, kept its capsule")
