"""Opens a package, verifies all of it, and sends the signed receipts: `python3 -m agent_exchange.opener --dir ./aex-agent PACKAGE_ID`.

Prints the plaintext.
"""

import argparse
import datetime
import hashlib
import json
import re
import sys

from jwcrypto.common import base64url_encode
from jwcrypto.jwa import JWA

from .canonical_json import Refused, canonical_bytes
from .encodings_and_keys import require
from .exchange import Exchange, ExchangeFailed, Folder, TooLarge
from .instants import write
from .opening import NotOpened, WronglySealed, verified_plaintext
from .peers import Peers
from .schemas import OBJECT_TYPES
from .terminal import plain

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
            "receipt_id": f"rcpt_{base64url_encode(mark)}",
            "state": state,
            "occurred_at": write(datetime.datetime.now(datetime.timezone.utc)),
            "actor_agent_id": agent_id,
            "package_digest": resource["metadata"]["content_digest"],
        }
        key_id, key = self.folder.key("signing")
        signature = JWA.signing_alg("ES256").sign(key, canonical_bytes({**body, "package_id": package_id}))
        body["signature"] = {"key_id": key_id, "algorithm": "ES256", "signature": base64url_encode(signature)}
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
