"""A small OpenID provider on loopback, for tests of signing in: two people, no password.

It speaks the code flow with real HTTP and signs its tokens with a key of its own, as OpenID
Connect Core 1.0 asks: discovery, authorisation, token, and the keys.
"""

from __future__ import annotations

import html
import json
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from joserfc import jwt
from joserfc.jwk import RSAKey

PEOPLE = {"ada": "Ada Lamp", "ben": "Ben Rock"}
CLIENT, SECRET = "tracert-test", "not-a-secret-of-anybody"


class Provider:
    """The provider while it runs; `issuer` is its address."""

    def __init__(self) -> None:
        self.key = RSAKey.generate_key(2048, {"kid": "one", "use": "sig", "alg": "RS256"})
        self.codes: dict[str, dict[str, str]] = {}
        provider = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
                if parts.path == "/.well-known/openid-configuration":
                    self._json(provider.discovery())
                elif parts.path == "/keys":
                    self._json({"keys": [provider.key.as_dict(private=False)]})
                elif parts.path == "/authorize" and "person" in asked:
                    self.send_response(302)
                    self.send_header("Location", provider.approved(asked))
                    self.end_headers()
                elif parts.path == "/authorize":
                    self._page(provider.choice(asked))
                else:
                    self.send_error(404)

            def do_POST(self) -> None:
                length = int(self.headers.get("Content-Length", "0"))
                form = parse_qs(self.rfile.read(length).decode())
                made = provider.token(form["code"][0])
                self._json(made) if made else self.send_error(400)

            def _json(self, data: Any) -> None:
                self._send("application/json", json.dumps(data))

            def _page(self, body: str) -> None:
                self._send("text/html; charset=utf-8", body)

            def _send(self, kind: str, text: str) -> None:
                data = text.encode()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.issuer = f"http://127.0.0.1:{self.server.server_address[1]}"

    def discovery(self) -> dict[str, Any]:
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
        }

    def choice(self, asked: dict[str, str]) -> str:
        """The page on which a person says who one is."""
        links = "".join(
            f'<p><a href="/authorize?{html.escape(urlencode({**asked, "person": person}))}">'
            f"{name}</a></p>"
            for person, name in PEOPLE.items()
        )
        return f"<!doctype html><title>Who are you?</title>{links}"

    def approved(self, asked: dict[str, str]) -> str:
        """Where the browser goes back to, with a code that is good once."""
        code = secrets.token_urlsafe(16)
        self.codes[code] = asked
        back = urlencode({"code": code, "state": asked.get("state", "")})
        return f"{asked['redirect_uri']}?{back}"

    def token(self, code: str) -> dict[str, Any] | None:
        asked = self.codes.pop(code, None)
        if asked is None:
            return None
        now, person = int(time.time()), asked["person"]
        claims = {
            "iss": self.issuer,
            "sub": person,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 3600,
            "name": PEOPLE[person],
            "email": f"{person}@example.org",
        }
        if "nonce" in asked:
            claims["nonce"] = asked["nonce"]
        signed = jwt.encode({"alg": "RS256", "kid": "one"}, claims, self.key)
        return {
            "access_token": secrets.token_urlsafe(16),
            "token_type": "Bearer",
            "expires_in": 3600,
            "id_token": signed,
        }


@contextmanager
def provider() -> Iterator[Provider]:
    """A provider that runs as long as the block."""
    one = Provider()
    thread = Thread(target=one.server.serve_forever, daemon=True)
    thread.start()
    try:
        yield one
    finally:
        one.server.shutdown()
        one.server.server_close()
        thread.join(10)


def secrets_file(provider: Provider, app: str) -> str:
    """The `secrets.toml` of an app at that address that signs in with the provider."""
    return (
        "[auth]\n"
        f'redirect_uri = "{app}/oauth2callback"\n'
        f'cookie_secret = "{secrets.token_hex(32)}"\n'
        f'client_id = "{CLIENT}"\n'
        f'client_secret = "{SECRET}"\n'
        f'server_metadata_url = "{provider.issuer}/.well-known/openid-configuration"\n'
    )
