"""C2SP tlog-policy: whom a verifier trusts, and what enough witnesses saw."""

from .transparency_log import open_checkpoint, verifier_key


def parse_policy(text):
    logs, members, quorum = [], {}, None
    for line in text.splitlines():
        keyword, *words = line.split()
        if keyword == "log":
            logs.append(verifier_key(words[0]))
        elif keyword == "witness":
            members[words[0]] = verifier_key(words[1])
        elif keyword == "group":
            name, count, *names = words
            needed = {"all": len(names), "any": 1}.get(count) or int(count)
            members[name] = (needed, names)
        elif keyword == "quorum":
            quorum = words[0]
    return {"logs": logs, "members": members, "quorum": quorum}


def is_witnessed(name, members, cosigners):
    member = members.get(name)
    if isinstance(member, tuple):
        needed, names = member
        return sum(is_witnessed(each, members, cosigners) for each in names) >= needed
    return member is not None and (member["name"], member["id"]) in cosigners


def open_log(log, note, policy):
    """The verified checkpoint and the level that it reaches under a policy."""
    own = verifier_key(log["key"])
    witnesses = [member for member in policy["members"].values() if isinstance(member, dict)]
    open_checkpoint(note, [own])
    trusted = [key for key in policy["logs"] if key != own]
    head, used = open_checkpoint(note, [own, *trusted, *witnesses])
    signers = {(key["name"], key["id"]) for key, _ in used}
    is_pinned = any((key["name"], key["id"]) in signers and key["name"] == head["origin"] for key in policy["logs"])
    is_met = is_pinned and is_witnessed(policy["quorum"], policy["members"], signers)
    head["newest_at"] = time_of_quorum(policy, used, True) if is_met else None
    head["seen_by"] = time_of_quorum(policy, used, False) if is_met else None
    return head, "witnessed" if is_met else "log-signed" if is_pinned else "unpinned"


def time_of_quorum(policy, used, is_latest):
    """The latest time at which enough witnesses had seen no larger tree, or the earliest by which they had seen it."""
    times = [(found["time"], (key["name"], key["id"])) for key, found in used if "time" in found]
    times.sort(reverse=is_latest)
    for count, (time, _) in enumerate(times, 1):
        if is_witnessed(policy["quorum"], policy["members"], {signer for _, signer in times[:count]}):
            return time
