"""A small OpenID Connect issuer of our own on a real socket: discovery, keys that rotate, and tokens of every kind."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm


class Issuer:
    """Signs tokens with its newest key, and names all keys that it has not dropped."""

    def __init__(self) -> None:
        self.keys: dict[str, Any] = {}
        self.newest = ""
        self.fetched = 0
        self.is_broken = False
        self.url = ""

    def rotate(self, key_id: str, *, drop_others: bool = False, curve: bool = False) -> None:
        """Sign with a new key from now on."""
        if drop_others:
            self.keys.clear()
        self.keys[key_id] = ec.generate_private_key(ec.SECP256R1()) if curve else rsa.generate_private_key(65537, 2048)
        self.newest = key_id

    def token(
        self, *, key: Any = None, algorithm: str = "", headers: dict[str, Any] | None = None, **claims: Any
    ) -> str:
        """A token for this service; a claim that is None is left out."""
        now = int(time.time())
        told = {
            "iss": self.url,
            "aud": "runhold",
            "sub": "somebody",
            "iat": now,
            "exp": now + 300,
            "runhold_role": "worker",
            "runhold_namespace": "default",
            **claims,
        }
        signing = key if key is not None else self.keys[self.newest]
        kind = algorithm or ("ES256" if isinstance(signing, ec.EllipticCurvePrivateKey) else "RS256")
        given = {name: value for name, value in told.items() if value is not None}
        return jwt.encode(given, signing, algorithm=kind, headers={"kid": self.newest, **(headers or {})})

    def jwks(self) -> dict[str, Any]:
        """The public keys."""
        found = []
        for key_id, key in self.keys.items():
            algorithm = ECAlgorithm if isinstance(key, ec.EllipticCurvePrivateKey) else RSAAlgorithm
            public = json.loads(algorithm.to_jwk(key.public_key()))
            found.append({**public, "kid": key_id, "use": "sig"})
        return {"keys": found}


@contextmanager
def running_issuer() -> Iterator[Issuer]:
    """Serve an issuer until the block ends."""
    issuer = Issuer()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            pages = {
                "/.well-known/openid-configuration": {"issuer": issuer.url, "jwks_uri": f"{issuer.url}/keys"},
                "/keys": issuer.jwks(),
            }
            issuer.fetched += self.path == "/keys"
            body = b"broken" if issuer.is_broken else json.dumps(pages.get(self.path, {})).encode()
            self.send_response(500 if issuer.is_broken else 200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    issuer.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield issuer
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
