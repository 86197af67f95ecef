"""Spans: the client's under the application's, the service's under the client's, sent to a real collector."""

from __future__ import annotations

import asyncio
import gzip
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from opentelemetry import trace
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from runhold_client import AsyncHttpStore, HttpStore, RunNotFound
from tests.support.server import Server


class Collector:
    """Takes spans by OTLP over HTTP."""

    def __init__(self) -> None:
        self.spans: list[Any] = []
        self.services: set[str] = set()
        self.url = ""

    def take(self, body: bytes) -> None:
        """Read what was exported."""
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            names = {entry.key: entry.value.string_value for entry in resource.resource.attributes}
            self.services.add(names["service.name"])
            self.spans += [span for scope in resource.scope_spans for span in scope.spans]


@pytest.fixture
def collector() -> Iterator[Collector]:
    """A collector on a real socket."""
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            found.take(gzip.decompress(body) if self.headers.get("content-encoding") == "gzip" else body)
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    found.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield found
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture(scope="module")
def ours() -> InMemorySpanExporter:
    """The spans of this process, the application's and the client's."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    trace.set_tracer_provider(provider)
    return exporter


def traced_server(start_server: Any, collector: Collector) -> Server:
    server: Server = start_server(
        {"RUNHOLD_TRACING": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url, "OTEL_BSP_SCHEDULE_DELAY": "100"}
    )
    return server


def test_one_trace_leads_from_the_application_to_the_service(
    start_server: Any, collector: Collector, ours: InMemorySpanExporter
) -> None:
    server = traced_server(start_server, collector)
    ours.clear()
    with HttpStore(server.url) as store, trace.get_tracer("app").start_as_current_span("work") as work:
        store.create_session("private-name")
        with pytest.raises(RunNotFound):
            store.load_run("none")
    server.stop()
    sent = {span.name: span for span in ours.get_finished_spans()}
    theirs = {span.name: span for span in collector.spans}
    assert {"create_session", "load_run"} <= set(theirs)
    assert collector.services == {"runhold"}
    for name, client_name in (("create_session", "POST /v1/sessions"), ("load_run", "GET /v1/runs")):
        client, service = sent[client_name].context, theirs[name]
        assert client is not None
        assert service.trace_id == work.get_span_context().trace_id.to_bytes(16, "big")
        assert service.parent_span_id == client.span_id.to_bytes(8, "big")
        assert service.end_time_unix_nano > service.start_time_unix_nano
    told = {entry.key: entry.value for entry in theirs["load_run"].attributes}
    assert told["error.type"].string_value == "run_not_found"
    assert told["http.response.status_code"].int_value == 404
    assert "private-name" not in str(collector.spans)


def test_gathered_commands_are_one_span_each_request(
    start_server: Any, collector: Collector, ours: InMemorySpanExporter
) -> None:
    server = traced_server(start_server, collector)
    ours.clear()

    async def work() -> None:
        async with AsyncHttpStore(server.url) as store:
            with trace.get_tracer("app").start_as_current_span("work"):
                await asyncio.gather(*[store.create_session(f"s{number}") for number in range(3)])

    asyncio.run(work())
    names = [span.name for span in ours.get_finished_spans()]
    assert names.count("POST /v1/sessions") == 3
    deadline = time.monotonic() + 10
    while len(collector.spans) < 3:
        assert time.monotonic() < deadline, "the spans did not arrive"
        time.sleep(0.05)


def test_without_a_trace_nothing_is_sent_along(server: Server, ours: InMemorySpanExporter) -> None:
    ours.clear()
    with HttpStore(server.url) as store, pytest.raises(RunNotFound):
        store.load_run("none")
    assert ours.get_finished_spans() == ()


@pytest.mark.parametrize(
    "program",
    [
        "import sys; sys.modules['opentelemetry'] = None; import runhold_client",
        "import sys, runhold.main; sys.exit('opentelemetry.sdk' in sys.modules)",
    ],
    ids=["the client without the package", "the service without the setting"],
)
def test_the_packages_are_not_needed(program: str) -> None:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_setting_without_the_packages_says_what_to_install() -> None:
    program = (
        "import sys; sys.modules['opentelemetry'] = None\n"
        "from runhold.tracing import Tracing\n"
        "try:\n    Tracing()\nexcept RuntimeError as error:\n    print(error)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout == "RUNHOLD_TRACING needs more packages: install runhold[tracing]\n"
