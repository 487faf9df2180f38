"""A program of a company at its gateway. A line of JSON on standard input is one step; a line on standard output its result."""
import json, os, sys, urllib.error, urllib.request, uuid

URL, KEY, AGENT = os.environ["GATEWAY_URL"], os.environ["GATEWAY_KEY"], os.environ["GATEWAY_AGENT"]


def call(method, path, body=None):
    headers = {"Authorization": f"Bearer {KEY}", "Content-Type": "application/json"}
    if method == "POST":
        headers["Idempotency-Key"] = str(uuid.uuid4())
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(f"{URL}/api/v1{path}", data, headers, method=method)
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def take(wait):
    """Takes the next package from the inbox, or nothing."""
    leases = call("POST", "/inbox/leases", {"agent_id": AGENT, "wait": wait})["leases"]
    for lease in leases:
        call("POST", f"/inbox/leases/{lease['item_id']}/done", {"lease_token": lease["lease_token"]})
        return lease["package"]


def answer(responds_to, policy_id, content):
    terms = {"responds_to": responds_to, "policy_id": policy_id, "content": content}
    draft = call("POST", f"/agents/{AGENT}/drafts", terms)
    sent = call("POST", f"/agents/{AGENT}/drafts/{draft['draft_id']}/send", {})
    return read(sent["package_id"])


def read(package_id):
    return call("GET", f"/agents/{AGENT}/packages/{package_id}")


def capsule(thread_id):
    return call("GET", f"/agents/{AGENT}/capsule?thread_id={thread_id}&wait=20")


STEPS = {"take": take, "answer": answer, "read": read, "capsule": capsule}
for line in sys.stdin:
    step, arguments = json.loads(line)
    try:
        result = {"result": STEPS[step](**arguments)}
    except urllib.error.HTTPError as refused:
        result = {"refused": json.load(refused)["code"]}
    print(json.dumps(result), flush=True)
