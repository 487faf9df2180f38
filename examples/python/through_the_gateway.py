"""Sends a sealed package through the gateway, waits for the answer in the inbox, and keeps its capsule.

GATEWAY_URL=http://127.0.0.1:8090 GATEWAY_KEY=aexg_... python3 through_the_gateway.py AGENT RECIPIENT POLICY content.json
"""
import json, os, sys, urllib.error, urllib.request, uuid

URL, KEY = os.environ["GATEWAY_URL"], os.environ["GATEWAY_KEY"]


def call(method, path, body=None, timeout=60):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/api/v1{path}", data, headers, method=method)
    try:
        with urllib.request.urlopen(request, timeout=timeout) as answer:
            return json.load(answer)
    except urllib.error.HTTPError as refused:
        sys.exit(refused.read().decode())


agent, recipient, policy, file = sys.argv[1:]
with open(file, encoding="utf-8") as content:
    draft = call("POST", f"/agents/{agent}/drafts", {
        "to": recipient, "object_type": "reasoning_package", "policy_id": policy, "content": json.load(content)})
sent = call("POST", f"/agents/{agent}/drafts/{draft['draft_id']}/send", {})
print(sent["state"], sent["package_id"], flush=True)

while sent["state"] == "sent":
    for lease in call("POST", "/inbox/leases", {"agent_id": agent, "wait": 20})["leases"]:
        answer, token = lease["package"], {"lease_token": lease["lease_token"]}
        if lease["thread_id"] != sent["thread_id"]:
            call("POST", f"/inbox/leases/{lease['item_id']}/failed", {**token, "reason": "not for this program"})
            continue
        capsule = call("GET", f"/agents/{agent}/capsule?thread_id={lease['thread_id']}&wait=20")
        with open(f"{lease['thread_id']}.capsule.json", "w", encoding="utf-8") as kept:
            json.dump(capsule, kept)
        call("POST", f"/inbox/leases/{lease['item_id']}/done", token)
        sys.exit(print(answer["object"]["response_summary"]))
