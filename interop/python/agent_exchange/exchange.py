"""The folder of an agent (`aex agent init`, without a passphrase) and its connection to the exchange.

Only the standard library and jwcrypto. Discovery by RFC 9728 and RFC 8414, client authentication by RFC 7523.
"""

import json
import pathlib
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid

from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

SECONDS = 30
ANSWER_BYTES = 4_194_304


class ExchangeFailed(Exception):
    """The exchange refused, or did not answer. `code` is that of its problem."""

    def __init__(self, what, code=None):
        super().__init__(what)
        self.code = code


class TooLarge(Exception):
    """An answer above the limit."""


class NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the token elsewhere."""

    def redirect_request(self, *_):
        return None


class Folder:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        described = json.loads((self.path / "agent.json").read_text("utf-8"))
        self.organization_id, self.agent_id = described["organization_id"], described["agent_id"]
        self.base_url, self.client_id = described.get("base_url"), described.get("client_id")

    def key(self, role):
        """The key id and the private JWK of a role; (None, None) without one."""
        stored = json.loads((self.path / "keys.json").read_text("utf-8"))
        if "keys" not in stored:
            raise SystemExit("The keys are encrypted with a passphrase, which this example does not read.")
        for key in stored["keys"]:
            if (key["role"], key["stage"]) == (role, "current"):
                return key["key_id"], JWK(**key["private_jwk"])
        return None, None


class Exchange:
    def __init__(self, folder):
        self.folder = folder
        # `http_proxy` is respected; redirects are not.
        self.opener = urllib.request.build_opener(NoRedirect)
        self.token, self.until = None, 0

    def get(self, path, limit=ANSWER_BYTES):
        return self._send(urllib.request.Request(self._address(path)), limit)

    def get_json(self, path):
        return json.loads(self.get(path))

    def post_json(self, path, body):
        headers = {"Content-Type": "application/json", "Idempotency-Key": str(uuid.uuid4())}
        request = urllib.request.Request(self._address(path), json.dumps(body).encode(), headers, method="POST")
        return json.loads(self._send(request, ANSWER_BYTES))

    def _address(self, path):
        base = self.folder.base_url
        if path.startswith("/"):
            return base + path
        # An absolute address, such as that of content: the token goes only to its own exchange.
        if not path.startswith(f"{base}/"):
            raise ExchangeFailed("the exchange named an address that is not its own")
        return path

    def _send(self, request, limit):
        request.add_header("Authorization", f"Bearer {self._token()}")
        request.add_header("X-Correlation-ID", f"corr_{uuid.uuid4().hex}")
        return self._read(request, limit)

    def _read(self, request, limit=ANSWER_BYTES):
        try:
            with self.opener.open(request, timeout=SECONDS) as answer:
                data = answer.read(limit + 1)
        except urllib.error.HTTPError as error:
            problem = _problem(error)
            raise ExchangeFailed(f"the exchange answered {error.code} {problem or ''}".strip(), problem) from error
        except (urllib.error.URLError, OSError) as error:
            raise ExchangeFailed("the exchange did not answer") from error
        if len(data) > limit:
            raise TooLarge(f"more than {limit} bytes")
        return data

    def _token(self):
        if self.token is None or time.time() > self.until:
            base = self.folder.base_url
            resource = json.loads(self._read(_request(well_known(base, "oauth-protected-resource"))))
            issuer = resource["authorization_servers"][0]
            server = json.loads(self._read(_request(well_known(issuer, "oauth-authorization-server"))))
            if (resource["resource"], server["issuer"]) != (base, issuer):
                raise ExchangeFailed("the metadata is of another exchange")
            form = {
                "grant_type": "client_credentials",
                "resource": base,
                "client_assertion_type": "urn:ietf:params:oauth:client-assertion-type:jwt-bearer",
                "client_assertion": self._assertion(issuer),
            }
            body = urllib.parse.urlencode(form).encode()
            answer = json.loads(self._read(urllib.request.Request(server["token_endpoint"], body)))
            self.token, self.until = answer["access_token"], time.time() + answer["expires_in"] - 60
        return self.token

    def _assertion(self, issuer):
        _, key = self.folder.key("client")
        client, now = self.folder.client_id, int(time.time())
        claims = {"iss": client, "sub": client, "aud": issuer, "jti": uuid.uuid4().hex, "iat": now, "exp": now + 60}
        assertion = JWT(header={"alg": "ES256", "typ": "JWT"}, claims=claims)
        assertion.make_signed_token(key)
        return assertion.serialize()


def well_known(url, name):
    """RFC 8414 section 3.1: the well-known part goes between host and path."""
    parts = urllib.parse.urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}/.well-known/{name}{parts.path.rstrip('/')}"


def _request(url):
    return urllib.request.Request(url)


def _problem(error):
    try:
        return json.loads(error.read(65_536)).get("code")
    except (ValueError, AttributeError):
        return None
