"""What the parties and the platform signed about the packages of a capsule, and whether the entries say the same."""

from .canonical_json import canonicalize
from .capsule_chains import PLATFORM, acceptance_of, is_hidden, verify_statement
from .capsule_checks import attempt, holds
from .envelopes import CONTENT_TYPES, digest_rule, read_envelope, verify_envelope
from .instants import is_earlier, judge_key
from .package_progress import PackageProgress

RECEIPT = "receipt_"
RECEIPT_MEMBERS = ("receipt_id", "occurred_at", "actor_agent_id", "package_digest", "signature")
REVOCATION_MEMBERS = ("requested_at", "reason_code", "reason_detail", "signature")
RECEIPT_LEADS_TO = {"received": ["received"], "opened": ["received", "opened"], "rejected": [], "failed": []}
POLICY_KINDS = ("policy_receipt_accepted", "approval_recorded")
SIGNED_KINDS = (*POLICY_KINDS, "package_accepted", "response_accepted", "package_revoked")
MAXIMUM_TRIED_KEYS = 16
BOUND = (
    "policy_receipt_id",
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
)
MISSING = object()


def at(value, path):
    for step in path.split("/"):
        if not isinstance(value, dict) or step not in value:
            return MISSING
        value = value[step]
    return value


def text_at(value, path, default=None):
    found = at(value, path)
    return found if isinstance(found, str) else default


def same(left, right):
    texts = [attempt(canonicalize, value) if value is not MISSING else None for value in (left, right)]
    return None not in texts and texts[0] == texts[1]


class Statements:
    """Verifies all packages of a capsule."""

    def __init__(self, capsule, keys, checks):
        self.capsule, self.keys, self.checks = capsule, keys, checks
        # Agent and key id of every signature that holds, with package and position of its entry.
        self.uses = []
        self.signatures, self.proved = {}, {}
        self.check_owners()
        self.cases = [Case(self, package) for package in capsule["packages"]]
        for case in self.cases:
            self.proved[case.package_id] = {**case.prove(), "case": case}
        for case in self.cases:
            case.follow()
        for case in self.cases:
            case.check_answer()

    def is_content_signed(self, package_id):
        return self.proved[package_id]["is_content_signed"]

    def check_owners(self):
        owners = {}
        for package in self.capsule["packages"]:
            for role in ("sender", "recipient"):
                owners[package["metadata"][f"{role}_agent_id"]] = package["metadata"][f"{role}_org_id"]
        for key in self.keys.values():
            organization = key["organization_id"]
            self.checks.check("key_owner", owners.get(key["agent_id"], organization) == organization)


class Case:
    """One package."""

    def __init__(self, whole, package):
        self.whole, self.package, self.checks = whole, package, whole.checks
        self.metadata, self.receipt = package["metadata"], package["policy_receipt"]
        self.package_id = self.metadata["package_id"]
        self.entries = [entry for entry in package["entries"] if not is_hidden(entry)]
        self.acceptance = acceptance_of(self.entries)
        self.accepted_at = text_at(self.acceptance, "proof/acceptance/accepted_at")

    def key(self, agent_id, key_id):
        return self.whole.keys.get((agent_id, key_id))

    def used(self, code, key, entry, is_signed, arrived_at, claimed_at=None):
        """Whether a signature holds and its key counted."""
        verdict = judge_key(key, arrived_at, claimed_at) if is_signed else "invalid"
        if not self.checks.check(code, verdict != "invalid"):
            return False
        if verdict == "doubt":
            self.checks.doubt()
        self.whole.uses.append((self.package_id, entry["position"], key["agent_id"], key["key_id"]))
        return True

    def prove(self):
        is_accepted = self.check_acceptance()
        is_from_sender = self.check_policy_receipt()
        is_manifest_signed, is_content_signed = self.check_manifest(), self.check_content()
        return {
            "is_proved": is_accepted and is_from_sender,
            "is_metadata_signed": is_manifest_signed or is_content_signed,
            "is_content_signed": is_content_signed,
        }

    def check_acceptance(self):
        entry, arrived_at = self.acceptance, self.accepted_at
        key = self.key(PLATFORM, text_at(entry, "proof/acceptance/signature/key_id"))
        if not self.checks.check("acceptance_signature", entry and key and arrived_at is not None):
            return False
        statement = entry["proof"]["acceptance"]
        is_signed = is_detached(statement) and holds(verify_statement, key, statement)
        is_accepted = self.used("acceptance_signature", key, entry, is_signed, arrived_at, arrived_at)
        said = {"statement": "package_accepted", "package_id": self.package_id}
        said |= {name: self.metadata[name] for name in ("thread_id", "content_digest")}
        is_about = self.checks.check("acceptance_subject", all(statement.get(name) == said[name] for name in said))
        sender = self.key(self.metadata["sender_agent_id"], statement.get("signing_key_id"))
        if self.checks.check("acceptance_key", sender):
            self.used("acceptance_key", sender, entry, True, arrived_at, self.metadata["created_at"])
        return is_accepted and is_about

    def check_policy_receipt(self):
        entry = next((each for each in self.entries if each["proof"]["kind"] == "policy_receipt_accepted"), None)
        key = self.key(self.metadata["sender_agent_id"], self.receipt["signature"]["key_id"])
        if not self.checks.check("policy_receipt_signature", entry and key):
            return False
        paths = ("proof/accepted_at", "event/occurred_at", "proof/recorded_at")
        arrived_at = next(found for path in paths if (found := text_at(entry, path)) is not None)
        is_signed = holds(verify_statement, key, self.receipt)
        evaluated_at = self.receipt["evaluated_at"]
        is_from_sender = self.used("policy_receipt_signature", key, entry, is_signed, arrived_at, evaluated_at)
        approval, created_at = self.receipt["human_approval"], self.metadata["created_at"]
        times = [evaluated_at]
        times += [approval["approved_at"]] if approval["required"] and "approved_at" in approval else []
        covers = all(self.receipt[name] == self.metadata[name] for name in BOUND)
        covers = covers and all(is_earlier(created_at, time) is False for time in times)
        self.checks.check("policy_receipt_subject", covers)
        self.checks.check("policy_receipt_eligible", is_eligible(self.receipt))
        return is_from_sender and covers

    def check_manifest(self):
        """The signed control manifest of a transfer. The exchange withholds it after a revocation."""
        edc, signature = self.package.get("edc"), self.package.get("sender_signature")
        is_native = self.metadata["transport_mode"] == "native"
        if edc is None or signature is None or is_native:
            is_revoked = any(entry["proof"]["kind"] == "package_revoked" for entry in self.entries)
            is_none = edc is None and signature is None
            self.checks.check("manifest_signature", is_none and (is_native or is_revoked))
            return False
        key = self.key(self.metadata["sender_agent_id"], signature["key_id"])
        if not self.checks.check("manifest_signature", key and self.acceptance and self.accepted_at is not None):
            return False
        signing_key_id = at(self.acceptance, "proof/acceptance/signing_key_id")
        self.checks.check("manifest_key", signing_key_id == signature["key_id"])
        manifest = {"transport_mode": "ds_x", "metadata": self.metadata, "edc": edc, "sender_signature": signature}
        is_signed = holds(verify_statement, key, manifest, "sender_signature")
        created_at = self.metadata["created_at"]
        return self.used("manifest_signature", key, self.acceptance, is_signed, self.accepted_at, created_at)

    def check_content(self):
        """The envelope that a party discloses is the one that the sender signed and the platform accepted."""
        if "disclosure" not in self.package:
            return False
        body = self.package["disclosure"]["envelope"]
        read = attempt(read_envelope, body, CONTENT_TYPES)
        if not self.checks.check("content_signature", read and same(read[1]["metadata"], self.metadata)):
            return False
        kid, payload, text = read
        rule = digest_rule(payload, text, self.metadata["content_digest"])
        if not self.checks.check("content_signature", rule):
            return False
        if at(self.acceptance, "proof/content_digest_rule") is not MISSING:
            self.expect(self.acceptance, content_digest_rule=rule)
        key = self.key(self.metadata["sender_agent_id"], kid)
        # In ds_x the platform has seen the manifest alone.
        is_accepted = kid == at(self.acceptance, "proof/acceptance/signing_key_id")
        is_known = key and self.acceptance and self.accepted_at is not None
        is_known = is_known and (is_accepted or self.metadata["transport_mode"] != "native")
        if not self.checks.check("content_signature", is_known):
            return False
        is_signed = holds(verify_envelope, body, key["jwk"])
        created_at = self.metadata["created_at"]
        return self.used("content_signature", key, self.acceptance, is_signed, self.accepted_at, created_at)

    def follow(self):
        progress, previous = PackageProgress(self.metadata["transport_mode"]), None
        for entry in self.entries:
            is_repeated = previous and repeats(entry, previous[0])
            is_signed, leads_to, facts = previous[1] if is_repeated else self.check_entry(entry)
            self.check_event(entry, facts)
            if not is_repeated:
                self.checks.check("entry_state", self.moves(entry, is_signed, leads_to, progress))
            previous = entry, (is_signed, leads_to, facts)

    def check_entry(self, entry):
        """Whether a signature proves it, the states that it may lead to, and what its event has to repeat."""
        kind = entry["proof"]["kind"]
        if kind.startswith(RECEIPT):
            return self.check_receipt(entry, kind.removeprefix(RECEIPT))
        known = {
            "policy_receipt_accepted": self.check_policy_entry,
            "approval_recorded": self.check_policy_entry,
            "package_accepted": self.check_acceptance_entry,
            "response_accepted": self.check_response,
            "package_revoked": self.check_revocation,
        }
        if kind in known:
            return known[kind](entry)
        return False, ["encrypted_available", "transfer_started", "delivered"], None

    def expect(self, entry, **expected):
        for path, value in expected.items():
            self.checks.check("entry_repeats_signed", same(at(entry["proof"], path), value))

    def sender(self, **more):
        named = {"agent_id": self.metadata["sender_agent_id"], "organization_id": self.metadata["sender_org_id"]}
        return {**named, "policy_id": self.receipt["policy_id"], **more}

    def check_policy_entry(self, entry):
        names = ("policy_receipt_id", "content_digest", "policy_digest", "signature")
        self.expect(entry, **{name: self.receipt[name] for name in names})
        is_approval = entry["proof"]["kind"] == "approval_recorded"
        if is_approval:
            self.expect(entry, approved_at=at(self.receipt, "human_approval/approved_at"))
        evaluated = "eligible" if is_eligible(self.receipt) else "ineligible"
        return True, [], self.sender(decision="approved" if is_approval else evaluated)

    def check_acceptance_entry(self, entry):
        self.expect(entry, content_digest=self.metadata["content_digest"])
        if "acceptance" in entry["proof"]:
            stated = at(entry, "proof/acceptance/signing_key_id")
            self.expect(entry, signing_key_id=stated, policy_receipt_id=self.metadata["policy_receipt_id"])
        return True, [], self.sender()

    def check_receipt(self, entry, state):
        proof, metadata = entry["proof"], self.metadata
        actor = text_at(proof, "actor_agent_id", "")
        key = self.key(actor, text_at(proof, "signature/key_id"))
        is_recipients = key and key["organization_id"] == metadata["recipient_org_id"]
        is_possible = state in RECEIPT_LEADS_TO and "signature" in proof and self.names_content(proof) and is_recipients
        if not self.checks.check("receipt_signature", is_possible):
            return False, [], None
        body = {name: proof[name] for name in RECEIPT_MEMBERS if name in proof} | {"state": state}
        if not self.check_signed(entry, "receipt_signature", body, [key], None):
            return False, [], None
        return True, RECEIPT_LEADS_TO[state], key

    def names_content(self, proof):
        edc = self.package.get("edc")
        known = [self.metadata["content_digest"], *([edc["asset_digest"]] if edc else [])]
        return text_at(proof, "package_digest") in known or (self.metadata["transport_mode"] == "ds_x" and not edc)

    def check_revocation(self, entry):
        proof, metadata = entry["proof"], self.metadata
        key_id = text_at(proof, "signature/key_id")
        own = self.key(metadata["sender_agent_id"], key_id)
        others = [
            key
            for key in self.whole.keys.values()
            if key is not own and (key["key_id"], key["organization_id"]) == (key_id, metadata["sender_org_id"])
        ]
        keys = ([own] if own else []) + others
        if not self.checks.check("revocation_signature", "signature" in proof and keys):
            return False, [], None
        body = {name: proof[name] for name in REVOCATION_MEMBERS if name in proof}
        said_at = text_at(proof, "requested_at", "never")
        key = self.check_signed(entry, "revocation_signature", body, keys[:MAXIMUM_TRIED_KEYS], said_at)
        return (True, ["revoked"], key) if key else (False, [], None)

    def check_signed(self, entry, code, body, keys, claimed_at):
        """The key that signed a receipt or a revocation, once, about this package."""
        proof = entry["proof"]
        signature = text_at(proof, "signature/signature", "").translate(str.maketrans("-_", "+/")).rstrip("=")
        place = (id(self), entry["position"])
        if not self.checks.check(code, self.whole.signatures.setdefault(signature, place) == place):
            return None
        arrived_at = text_at(proof, "accepted_at", proof["recorded_at"])
        for key in keys:
            for form, added in (("bound", {"package_id": self.package_id}), ("plain", None)):
                if is_detached(body) and holds(verify_statement, key, body, "signature", added):
                    if not self.used(code, key, entry, True, arrived_at, claimed_at):
                        return None
                    if "signature_form" in proof:
                        self.expect(entry, signature_form=form)
                    return key
        self.checks.check(code, False)
        return None

    def check_response(self, entry):
        response = self.whole.proved.get(text_at(entry, "proof/response_package_id", ""))
        if not response:
            return False, ["responded"], None
        metadata = response["case"].metadata
        parties = ("sender_org_id", "recipient_org_id", "responds_to_package_id")
        expected = (self.metadata["recipient_org_id"], self.metadata["sender_org_id"], self.package_id)
        is_answer = tuple(metadata.get(name) for name in parties) == expected
        is_right = self.checks.check("response_package", response["is_proved"] and is_answer)
        self.expect(entry, content_digest=metadata["content_digest"])
        if "acceptance" in entry["proof"]:
            self.expect(entry, acceptance=at(response["case"].acceptance, "proof/acceptance"))
        facts = {"agent_id": metadata["sender_agent_id"], "organization_id": metadata["sender_org_id"]}
        return is_right and response["is_metadata_signed"], ["responded"], facts

    def check_answer(self):
        original = self.whole.proved.get(self.metadata.get("responds_to_package_id"))
        if original:
            proofs = [entry["proof"] for entry in original["case"].entries]
            answers = [at(proof, "response_package_id") for proof in proofs if proof["kind"] == "response_accepted"]
            self.checks.check("response_recorded", self.package_id in answers)

    def check_event(self, entry, facts):
        event = entry.get("event")
        if event is None:
            return
        expected = {"thread_id": self.metadata["thread_id"]}
        if facts:
            expected |= {"target/object_id": self.package_id, "actor/organization_id": facts["organization_id"]}
            given = {"actor/agent_id": "agent_id", "policy_id": "policy_id", "decision": "decision"}
            known = {path: facts[name] for path, name in given.items() if name in facts}
            expected |= {path: value for path, value in known.items() if at(event, path) is not MISSING}
        for path, value in expected.items():
            self.checks.check("entry_repeats_signed", at(event, path) == value)

    def moves(self, entry, is_signed, leads_to, progress):
        """Whether what the entry does to the package follows."""
        proof, kind = entry["proof"], entry["proof"]["kind"]
        if kind in POLICY_KINDS:
            return True
        if kind == "package_accepted" and "acceptance" in proof:
            return progress.accept(proof.get("states"))
        if progress.state is None:
            return False
        is_receipt = kind.startswith(RECEIPT)
        is_signed_kind = is_receipt or kind in SIGNED_KINDS
        if progress.state == "revoked" and is_signed_kind and not (is_receipt and "state" not in proof):
            return False
        if kind == "response_accepted" and "state" not in proof:
            return progress.respond(is_signed)
        if "state" not in proof:
            return True
        return proof["state"] in leads_to and progress.move(proof["state"], proof.get("implied_states"), is_signed)


def is_eligible(receipt):
    """All checks passed, and a required approval is there."""
    approval = receipt["human_approval"]
    is_named = approval.get("approval_reference") and "approved_at" in approval
    is_approved = approval.get("outcome") == "approved" and is_named
    has_passed = all(check["outcome"] == "passed" for check in receipt["checks"])
    return has_passed and (not approval["required"] or is_approved)


def repeats(entry, previous):
    """Where one step leaves several audit events, each has its entry with the same proof."""
    is_next = entry["position"] == previous["position"] + 1
    return is_next and "event" in entry and "event" in previous and same(entry["proof"], previous["proof"])


def is_detached(statement):
    carried = statement.get("signature") if isinstance(statement, dict) else None
    is_closed = isinstance(carried, dict) and set(carried) == {"key_id", "algorithm", "signature"}
    return is_closed and carried["algorithm"] == "ES256" and carried["key_id"] and isinstance(carried["key_id"], str)
