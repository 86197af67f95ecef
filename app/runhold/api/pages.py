"""What the framework itself serves beside the API: liveness, readiness, and the page of Swagger UI with its assets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from runhold.api.problem_page import problem_page
from runhold.api.problems import MEDIA_TYPE, encode_problem, problem_headers, status_of
from runhold.api.requests import request_id
from runhold.api.service import Service
from runhold.domain.errors import Internal, MethodNotAllowed, NotFound, RefusalError, Unavailable
from runhold.metrics import CONTENT_TYPE

_STATIC = Path(__file__).parent / "static"
# Swagger UI sets styles on its elements and draws small pictures from its stylesheet; nothing comes from elsewhere.
_DOCS_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_PROBLEMS_POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_DOCS = """<!doctype html>
<html lang="en" data-openapi="openapi.json">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Runhold API</title>
<link rel="icon" href="static/swagger-ui/favicon-32x32.png">
<link rel="stylesheet" href="static/swagger-ui/swagger-ui.css">
</head>
<body>
<div id="swagger-ui"></div>
<script src="static/swagger-ui/swagger-ui-bundle.js"></script>
<script src="static/docs.js"></script>
</body>
</html>
"""


def add_pages(app: FastAPI, service: Callable[[], Service | None]) -> None:
    """Add the pages to ``app``; ``service`` is None until start-up is over."""

    @app.get("/livez", include_in_schema=False)
    async def livez() -> Response:
        """Tell that the process runs; nothing else is looked at."""
        return JSONResponse({"status": "alive"})

    @app.get("/readyz", include_in_schema=False)
    async def readyz(request: Request) -> Response:
        """Tell whether requests can be answered: the database, its schema, and no stop under way."""
        try:
            await _check_ready(service())
        except RefusalError as refusal:
            return problem_response(refusal, request)
        return JSONResponse({"status": "ready"})

    @app.get("/metrics", include_in_schema=False)
    async def metrics(request: Request) -> Response:
        """Tell the counters of this process to whoever has a key."""
        found = service()
        try:
            if found is None:
                raise Unavailable("the service is starting")
            await found.identity.authenticate(dict(request.scope["headers"]))
            return Response(await found.metrics.text(), media_type=CONTENT_TYPE, headers={"cache-control": "no-store"})
        except RefusalError as refusal:
            return problem_response(refusal, request)

    _add_docs(app)
    app.mount("/static", StaticFiles(directory=_STATIC), name="static")

    async def refuse(request: Request, error: Exception) -> Response:
        refusal: RefusalError = NotFound("there is no such route")
        if isinstance(error, HTTPException) and error.status_code == 405:
            refusal = MethodNotAllowed("this route has other methods")
        elif isinstance(error, HTTPException) and error.status_code != 404:
            refusal = Internal("the service failed")
        response = problem_response(refusal, request)
        if isinstance(error, HTTPException) and error.headers and "allow" in {n.lower() for n in error.headers}:
            response.headers["allow"] = next(v for n, v in error.headers.items() if n.lower() == "allow")
        return response

    async def fail(request: Request, _: Exception) -> Response:
        return problem_response(Internal("the service failed; the same request may be sent again"), request)

    app.add_exception_handler(HTTPException, refuse)
    app.add_exception_handler(Exception, fail)


def _add_docs(app: FastAPI) -> None:
    problems = problem_page()

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        """The API to read and try out, without anything from elsewhere."""
        return HTMLResponse(_DOCS, headers={"content-security-policy": _DOCS_POLICY})

    @app.get("/docs/problems", include_in_schema=False)
    async def docs_problems() -> Response:
        """Every kind of problem: where the ``type`` of a problem document leads."""
        return HTMLResponse(problems, headers={"content-security-policy": _PROBLEMS_POLICY})


async def _check_ready(service: Service | None) -> None:
    if service is None:
        raise Unavailable("the service is starting")
    if service.is_draining:
        raise Unavailable("the service is stopping")
    try:
        await asyncio.wait_for(service.database.check_ready(), service.settings.ready_timeout_ms / 1000)
    except TimeoutError:
        raise Unavailable("the database does not answer in time") from None


def problem_response(refusal: RefusalError, request: Request) -> Response:
    """Answer a refusal outside of the API, in the API's way."""
    name = request_id(dict(request.scope["headers"]))
    headers = {key.decode(): value.decode() for key, value in problem_headers(refusal)}
    return Response(
        encode_problem(refusal, name),
        status_of(refusal),
        headers={**headers, "x-request-id": name, "cache-control": "no-store"},
        media_type=MEDIA_TYPE.decode(),
    )
