"""Opens a package, verifies all of it, and sends the signed receipts: `opener.py --dir ./aex-agent PACKAGE_ID`.

Prints the plaintext. The checks are those of the agent in ../../curl-agent.
"""

import argparse
import datetime
import hashlib
import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "curl-agent"))

from jwcrypto.jwa import JWA  # noqa: E402

from canonical import Refused, canonical, encode, plain, require  # noqa: E402
from exchange import Exchange, ExchangeFailed, Folder, TooLarge  # noqa: E402
from opening import NotOpened, WronglySealed, verified_plaintext  # noqa: E402
from peers import Peers  # noqa: E402
from schemas import OBJECT_TYPES  # noqa: E402
from times import write  # noqa: E402

PLATFORM = "agent_platform"
CONTENT_BYTES = 4_194_304


class Opener:
    def __init__(self, folder, content_bytes=CONTENT_BYTES):
        self.folder, self.exchange, self.content_bytes = folder, Exchange(folder), content_bytes
        self.peers = Peers(folder.path / "python-peers")

    def open(self, package_id):
        """The plaintext. A failure sends the receipt that tells the sender, and is then raised."""
        resource = self.exchange.get_json(f"/v1/packages/{package_id}")
        metadata = resource["metadata"]
        if {resource["package_id"], metadata["package_id"]} != {package_id}:
            raise ExchangeFailed("the answer is about another package")
        try:
            plaintext = self.verify(resource)
        except (NotOpened, TooLarge) as error:
            # Sealed wrongly is the sender's fault; a missing key or a limit is ours.
            self.receipt(resource, "rejected" if isinstance(error, WronglySealed) else "failed")
            raise
        except (Refused, KeyError, TypeError, UnicodeDecodeError):
            self.receipt(resource, "rejected")
            raise
        for state in ("received", "opened"):
            self.receipt(resource, state)
        return plaintext

    def verify(self, resource):
        metadata = resource["metadata"]
        for name in ("thread_id", "transport_mode"):
            require(resource[name] == metadata[name], f"the exchange shows another {name} than the metadata")
        key_id, key = self.folder.key("encryption")
        if key is None:
            raise NotOpened("this agent has no encryption key")
        for agent_id in (metadata["sender_agent_id"], PLATFORM):
            self.peers.pin(self.exchange.get_json(f"/v1/directory/agents/{agent_id}/keys"), agent_id)
        fetched = {
            "package": resource,
            "receipt": self.exchange.get_json(f"/v1/policy-receipts/{metadata['policy_receipt_id']}")["receipt"],
            "evidence": self.exchange.get_json(f"/v1/audit/packages/{metadata['package_id']}"),
            "content": self.exchange.get(resource["ciphertext_download_url"], self.content_bytes),
        }
        return verified_plaintext(
            fetched, self.peers, self.folder.agent_id, PLATFORM, key_id, key, self.schemas()
        )

    def schemas(self):
        folder = self.folder.path / "python-schemas"
        folder.mkdir(exist_ok=True)
        for name in OBJECT_TYPES:
            file = folder / f"{name}.schema.json"
            if not file.exists():
                file.write_bytes(self.exchange.get(f"/schemas/{name}.schema.json"))
        return folder

    def receipt(self, resource, state):
        """Signed over the body and the package id, so that it holds for no other package. Sent once."""
        package_id, agent_id = resource["package_id"], self.folder.agent_id
        mark = hashlib.sha256(f"{package_id} {state} {agent_id}".encode()).digest()
        body = {
            "receipt_id": f"rcpt_{encode(mark)}",
            "state": state,
            "occurred_at": write(datetime.datetime.now(datetime.timezone.utc)),
            "actor_agent_id": agent_id,
            "package_digest": resource["metadata"]["content_digest"],
        }
        key_id, key = self.folder.key("signing")
        signature = JWA.signing_alg("ES256").sign(key, canonical({**body, "package_id": package_id}))
        body["signature"] = {"key_id": key_id, "algorithm": "ES256", "signature": encode(signature)}
        try:
            self.exchange.post_json(f"/v1/packages/{package_id}/receipts", body)
        except ExchangeFailed as error:
            # An earlier run sent it.
            if error.code != "identifier_conflict":
                raise


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="./aex-agent")
    parser.add_argument("--maximum-bytes", type=int, default=CONTENT_BYTES)
    parser.add_argument("package_id")
    given = parser.parse_args()
    if not re.fullmatch(r"(pkg|resp)_[A-Za-z0-9][A-Za-z0-9_-]{0,127}", given.package_id):
        sys.exit("That is not the id of a package.")
    try:
        plaintext = Opener(Folder(given.dir), given.maximum_bytes).open(given.package_id)
        print(json.dumps(json.loads(plaintext), indent=2))
    except (Refused, NotOpened, TooLarge, ExchangeFailed) as error:
        sys.exit(f"Not opened: {plain(error)}")
    except (KeyError, TypeError, UnicodeDecodeError):
        sys.exit("Not opened: a member is missing or of another kind")


if __name__ == "__main__":
    main()
