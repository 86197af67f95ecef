"""A span for each request that is sent, where OpenTelemetry is installed (the extra ``runhold-client[tracing]``).

The application decides where spans go. Without the package, or outside of a recorded trace, nothing happens.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

try:
    from opentelemetry import propagate, trace
except ImportError:  # pragma: no cover - a test runs without the package in an environment of its own
    _TRACER = None
else:
    _TRACER = trace.get_tracer("runhold_client")


@contextmanager
def traced(request: httpx.Request) -> Iterator[None]:
    """Send a request under a span of its own, whose context goes along as ``traceparent``.

    The span is named by the method and holds the path's first two parts at most: ids may be private.
    """
    if _TRACER is None or not trace.get_current_span().get_span_context().is_valid:
        yield
        return
    kind = "/".join(request.url.path.split("/")[:3])
    attributes = {"http.request.method": request.method, "server.address": request.url.host}
    with _TRACER.start_as_current_span(f"{request.method} {kind}", kind=trace.SpanKind.CLIENT, attributes=attributes):
        propagate.inject(request.headers)
        yield
