"""OpenTelemetry spans, where they are asked for: one a request, under the caller's ``traceparent``.

The packages are an extra, ``runhold[tracing]``; without the setting nothing of them is imported. Where spans go is told
by OpenTelemetry's own variables, such as ``OTEL_EXPORTER_OTLP_ENDPOINT``. A span carries operation, status and code,
and nothing that a caller stored.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from runhold.store import StartUpError

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import SpanProcessor

_SERVER_FAULT = 500


class Tracing:
    """Makes a span of each request.

    Args:
        processor: takes the spans; else they are sent by OTLP over HTTP.

    Raises:
        StartUpError: the packages are not installed.
    """

    def __init__(self, processor: SpanProcessor | None = None) -> None:
        try:
            from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
            from opentelemetry.sdk.trace import TracerProvider
            from opentelemetry.sdk.trace.export import BatchSpanProcessor
            from opentelemetry.trace import SpanKind, Status, StatusCode
            from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

            if processor is None:
                from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter

                processor = BatchSpanProcessor(OTLPSpanExporter())
        except ImportError:
            raise StartUpError("RUNHOLD_TRACING needs more packages: install runhold[tracing]") from None
        # What the environment says about the service wins over our name for it.
        told = OTELResourceDetector().detect().attributes
        self._provider = TracerProvider(resource=Resource.create({SERVICE_NAME: "runhold", **told}))
        self._provider.add_span_processor(processor)
        self._tracer = self._provider.get_tracer("runhold")
        self._extract = TraceContextTextMapPropagator().extract
        self._server = SpanKind.SERVER
        self._failed: Callable[[str], Status] = lambda code: Status(StatusCode.ERROR, code)

    def request(
        self, operation: str, status: int, code: str, seconds: float, now_ns: int, traceparent: bytes | None
    ) -> None:
        """Make the span of a request that was answered at ``now_ns``, in nanoseconds since 1970."""
        carrier = {"traceparent": traceparent.decode("latin-1")} if traceparent else {}
        attributes: dict[str, str | int] = {"runhold.operation": operation, "http.response.status_code": status}
        if code:
            attributes["error.type"] = code
        span = self._tracer.start_span(
            operation or "no such route",
            context=self._extract(carrier),
            kind=self._server,
            attributes=attributes,
            start_time=now_ns - round(seconds * 1e9),
        )
        if status >= _SERVER_FAULT:
            span.set_status(self._failed(code))
        span.end(now_ns)

    def close(self) -> None:
        """Send what was not sent yet."""
        self._provider.shutdown()
