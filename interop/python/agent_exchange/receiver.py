"""Receives signed webhooks and keeps each event once: `python3 -m agent_exchange.receiver --dir ./aex-agent --port 8443`.

204 means that the event is on disk. Put a TLS-terminating proxy in front, and name the registered address with
--public-url if the proxy changes host or path.
"""

import argparse
import http.server
import json
import pathlib
import re
import socketserver
import sqlite3
import sys
import time

from cryptography.exceptions import InvalidSignature
from jwcrypto.common import JWException

from .canonical_json import Refused, parse
from .exchange import Exchange, ExchangeFailed, Folder
from .instants import instant
from .webhooks import check_body_digest, check_event_id, verify_signature

BODY_BYTES, BODY_SECONDS = 65_536, 10
REFUSALS = (Refused, JWException, InvalidSignature)
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
STATES = "accepted encrypted_available transfer_started delivered received opened responded revoked".split()
TEXTS = "notification_id event_id event_type organization_id package_id thread_id content_digest correlation_id".split()


class Rejected(Exception):
    def __init__(self, status, reason):
        super().__init__(reason)
        self.status = status


def check_notification(event, organization_id):
    def holds(condition, what):
        if not condition:
            raise Rejected(422, f"not a notification: {what}")

    holds(isinstance(event, dict), "not an object")
    for name in TEXTS:
        holds(isinstance(event.get(name), str) and event[name], name)
    sequence = event.get("sequence")
    is_number = isinstance(sequence, (int, float)) and not isinstance(sequence, bool)
    holds(is_number and sequence == int(sequence) and 0 <= sequence < 2**53, "sequence")
    holds(event.get("protocol_version") == "svc/1.0", "protocol_version")
    holds(event.get("state") in STATES, "state")
    holds(event.get("transport_mode") in ("native", "ds_x"), "transport_mode")
    occurred = event.get("occurred_at")
    holds(isinstance(occurred, str) and TIME.fullmatch(occurred), "occurred_at")
    instant(occurred)
    holds(event["organization_id"] == organization_id, "of another organization")


class Inbox:
    """One row for each event_id and each sequence."""

    def __init__(self, file):
        self.database = sqlite3.connect(file, isolation_level=None)
        self.database.execute("pragma journal_mode = wal")
        self.database.execute("pragma synchronous = full")
        self.database.execute(
            "create table if not exists event (event_id text primary key, sequence integer unique, body text)"
        )

    def store(self, event):
        body = json.dumps(event, sort_keys=True)
        row = (event["event_id"], int(event["sequence"]), body)
        self.database.execute("insert into event values (?, ?, ?) on conflict do nothing", row)
        found = self.database.execute("select * from event where event_id = ?", row[:1]).fetchone()
        if found != row:
            raise Rejected(422, "another event has this id or sequence")


class Receiver:
    def __init__(self, folder, keys, inbox, public_url=None, now=time.time):
        self.folder, self.keys, self.inbox = folder, keys, inbox
        self.public_url, self.now = public_url, now

    def take(self, headers, body, url):
        """The steps of the specification, in its order."""
        request = {"method": "POST", "url": self.public_url or url, "headers": headers}
        try:
            verified = verify_signature(request, self.keys(), self.now())
        except REFUSALS as error:
            raise Rejected(401, f"signature: {error}") from error
        try:
            check_body_digest(headers, body)
        except REFUSALS as error:
            raise Rejected(400, f"digest: {error}") from error
        try:
            event = parse(body)
            check_notification(event, self.folder.organization_id)
            check_event_id(event, verified["event_id"])
        except REFUSALS as error:
            raise Rejected(422, f"notification: {error}") from error
        self.inbox.store(event)
        return event


def handler_of(receiver):
    class Handler(http.server.BaseHTTPRequestHandler):
        timeout = BODY_SECONDS

        def do_POST(self):
            try:
                event = receiver.take(list(self.headers.items()), self.body(), self.url())
                print(int(event["sequence"]), event["event_type"], event["package_id"], flush=True)
                self.answer(204)
            except Rejected as rejection:
                print("refused", rejection.status, str(rejection).encode("unicode_escape").decode(), file=sys.stderr)
                self.answer(rejection.status)
            except (sqlite3.Error, ExchangeFailed):
                # Not the delivery's fault: it is delivered again.
                self.answer(503)

        def refuse(self):
            self.answer(405)

        do_GET = do_HEAD = do_PUT = do_DELETE = do_PATCH = do_OPTIONS = refuse

        def body(self):
            media_type = self.headers.get("content-type", "application/json").split(";")[0].strip().lower()
            if media_type != "application/json":
                raise Rejected(415, "not application/json")
            length = self.headers.get("content-length", "")
            if not re.fullmatch(r"[0-9]{1,9}", length):
                raise Rejected(411, "no length")
            if int(length) > BODY_BYTES:
                raise Rejected(413, "larger than a notification")
            try:
                return self.rfile.read(int(length))
            except TimeoutError as error:
                raise Rejected(408, "too slow") from error

        def url(self):
            return f"https://{self.headers.get('host', '')}{self.path}"

        def answer(self, status):
            # One connection for each delivery: what is left of a refused body is never read as a request.
            self.close_connection = True
            self.send_response_only(status)
            self.send_header("Connection", "close")
            if status == 405:
                self.send_header("Allow", "POST")
            self.send_header("Content-Length", "0")
            self.end_headers()

    return Handler


def pinned_keys(folder, file):
    """From a file, or from the exchange and then every five minutes."""
    if file:
        keys = json.loads(pathlib.Path(file).read_text("utf-8"))["keys"]
        return lambda: keys
    exchange, kept = Exchange(folder), {"keys": [], "at": float("-inf")}

    def current():
        if time.monotonic() - kept["at"] > 300:
            shown = exchange.get_json("/v1/directory/notification-keys")["keys"]
            kept.update(keys=shown, at=time.monotonic())
        return kept["keys"]

    current()
    return current


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dir", default="./aex-agent")
    parser.add_argument("--port", type=int, default=8443)
    parser.add_argument("--public-url")
    parser.add_argument("--keys", help="key directory in a file, instead of that of the exchange")
    parser.add_argument("--now", help="a fixed time, for tests")
    given = parser.parse_args()
    folder = Folder(given.dir)
    receiver = Receiver(
        folder,
        pinned_keys(folder, given.keys),
        Inbox(folder.path / "python-inbox.db"),
        given.public_url,
        (lambda: instant(given.now)) if given.now else time.time,
    )
    # Not HTTPServer, which looks up the name of the machine when it starts.
    server = socketserver.TCPServer(("127.0.0.1", given.port), handler_of(receiver))
    print("listening on", server.server_address[1], flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
