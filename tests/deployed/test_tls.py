"""PostgreSQL over TLS, with a certificate of the tests' own making."""

from __future__ import annotations

import asyncio
import ipaddress
import os
import ssl
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import urlsplit

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tests.faults.proxy import Proxy, in_background
from tests.faults.stage import through
from tests.hostile.asking import done, listed
from tests.model import commands as make
from tests.model.wire import Wire
from tests.support.postgresql import started_postgresql
from tests.support.server import running_server


def make_certificate(folder: Path, name: str) -> tuple[Path, Path]:
    """Make a key and a certificate of its own for 127.0.0.1. Returns where they are, the certificate first."""
    key = ec.generate_private_key(ec.SECP256R1())
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(hours=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    found = folder / f"{name}.crt", folder / f"{name}.key"
    found[0].write_bytes(certificate.public_bytes(serialization.Encoding.PEM))
    found[1].write_bytes(
        key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return found


class TlsFront(Proxy):
    """Takes connections over TLS only and passes them on, as the proxies before hosted databases do.

    The tests' own PostgreSQL may be built without TLS.
    """

    def __init__(self, target: int, certificate: Path, key: Path) -> None:
        super().__init__(target)
        self._context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        self._context.load_cert_chain(certificate, key)
        self.encrypted = 0
        """Connections that speak TLS."""

    async def greet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer PostgreSQL's request for TLS; whoever asks for something else is refused."""
        if await reader.read(8) != SSL_REQUEST:
            writer.write(NO_ENCRYPTION)
            await writer.drain()
            raise ConnectionRefusedError
        writer.write(b"S")
        await writer.drain()
        await writer.start_tls(self._context)
        self.encrypted += 1


def error_message(code: bytes, text: bytes) -> bytes:
    """An error as PostgreSQL sends it."""
    fields = b"SFATAL\0VFATAL\0C" + code + b"\0M" + text + b"\0\0"
    return b"E" + (len(fields) + 4).to_bytes(4, "big") + fields


SSL_REQUEST = (8).to_bytes(4, "big") + (80877103).to_bytes(4, "big")
NO_ENCRYPTION = error_message(b"28000", b"no encryption")


@pytest.fixture
def url() -> Iterator[str]:
    """An empty database."""
    postgresql = started_postgresql()
    made = postgresql.new_database_url()
    yield made
    postgresql.drop_database(made)


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The server's certificate and key."""
    return make_certificate(tmp_path_factory.mktemp("tls"), "server")


@pytest.fixture
def front(url: str, certificate: tuple[Path, Path]) -> Iterator[TlsFront]:
    """The door to the database."""
    front = TlsFront(urlsplit(url).port or 5432, *certificate)
    with in_background(front):
        yield front


@pytest.fixture
def tls_url(url: str, front: TlsFront, certificate: tuple[Path, Path]) -> str:
    """The database through the door; its certificate is trusted, and no other."""
    return f"{through(url, front.port)}?sslmode=verify-full&sslrootcert={certificate[0]}"


def check(url: str) -> subprocess.CompletedProcess[str]:
    """Run ``runhold check``."""
    environment = {**os.environ, "RUNHOLD_DATABASE_URL": url}
    return subprocess.run(
        [sys.executable, "-m", "runhold", "check"], env=environment, capture_output=True, text=True, timeout=60
    )


def test_every_connection_is_encrypted_and_large_records_pass_whole(tls_url: str, front: TlsFront) -> None:
    payload = f'"{"x" * (8 * 1024 * 1024 - 2)}"'
    with running_server(tls_url) as server, Wire(server.url) as wire:
        done(wire, make.start("r"), make.append("r", key="large", payload=payload), make.append("r", key="small"))
        assert [record["payload"] for record in listed(wire, "list_run_records", "r")][1:] == [payload, '{"a": 1}']
    assert front.encrypted == front.accepted >= 4


def test_ended_and_cut_connections_are_replaced_over_tls(url: str, tls_url: str, front: TlsFront) -> None:
    with running_server(tls_url) as server, Wire(server.url) as wire:
        done(wire, make.start("r"))
        for number in range(3):
            with psycopg.connect(url, autocommit=True) as administrator:
                administrator.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'runhold'"
                )
            assert done(wire, make.append("r", key=f"after {number}"))["id"] == str(number + 2)
        front.bury()
        assert done(wire, make.append("r", key="after all"))["id"] == "5"
        assert len(listed(wire, "list_run_records", "r")) == 5


def test_a_server_with_another_certificate_is_not_talked_to(url: str, front: TlsFront, tmp_path: Path) -> None:
    other, _ = make_certificate(tmp_path, "other")
    refused = check(f"{through(url, front.port)}?sslmode=verify-full&sslrootcert={other}")
    assert refused.returncode == 1
    assert "certificate verify failed" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1


def test_a_server_that_wants_tls_is_not_reached_without(url: str, front: TlsFront) -> None:
    refused = check(f"{through(url, front.port)}?sslmode=disable")
    assert refused.returncode == 1
    assert "no encryption" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1
