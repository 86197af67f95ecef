"""The OpenAPI 3.1 document, built from the table of operations, the models of ``schemas.py`` and the examples."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from runhold.api import examples, schemas
from runhold.api.operations import CLOSING, COMMANDS, RECORDS, RUNS, SESSIONS, Operation
from runhold.api.problems import PROBLEMS, TYPE_BASE, title_of
from runhold.api.queries import RUN_STATUSES, SESSION_STATUSES
from runhold.domain.errors import Fault
from runhold.domain.limits import ID_BYTES, PAGE_LIMIT, PAGE_LIMIT_DEFAULT, WAIT_MS

Json = dict[str, Any]

_REF = "#/components/schemas/{model}"
_DESCRIPTION = f"""\
Runhold keeps the runtime records of AI agents: **sessions** group **runs**; a run is an append-only log of **records**.
Workers store what happens, the host application creates, ends and purges sessions, and readers look.

**Exact retries.** A lost answer is safe: send the very same command again. What is stored already is answered with its
original ids and `inserted: false`; the same identity with any difference is a conflict, and nothing is written.

**Problems** are `application/problem+json`. Decide by `code`. `permanent: true` means that no repetition can help,
unless another command changes what is stored. Temporary ones carry `Retry-After`.

**Ids** are any text up to {ID_BYTES:,} bytes of UTF-8. In a path an id is one percent-encoded segment (`%2F` belongs to
the id), or `~` and the unpadded base64url of its UTF-8, which no proxy can mangle.

**Times** are RFC 3339: whole milliseconds for runs and records, microseconds for sessions; answered in UTC.

Beside the problems listed with each operation there are `not_found` (404, no such route) and `method_not_allowed`
(405).
"""

_TAGS = {
    SESSIONS: "Conversations or long pieces of work, which group runs.",
    RUNS: "Executions of agents: starting, cancelling, suspending and ending them.",
    RECORDS: "What happened in a run, in order.",
    COMMANDS: "Many commands in one request.",
    CLOSING: "Ending sessions, and deleting for ever what is over.",
}

_OF_EVERY_CALL = ("unauthenticated", "forbidden", "rate_limited", "internal", "unavailable")
_OF_EVERY_WRITE = ("overloaded",)
_OF_EVERY_BODY = ("malformed_request", "payload_too_large", "unsupported_media_type")

_ID: Json = {"type": "string", "maxLength": ID_BYTES}
_QUERY: dict[str, tuple[Json, str]] = {
    "cursor": ({"type": "string"}, "Where the last page ended; empty for the first page."),
    "limit": (
        {"type": "integer", "minimum": 1, "default": PAGE_LIMIT_DEFAULT},
        f"How many entries at most; more than {PAGE_LIMIT:,} is served as {PAGE_LIMIT:,}.",
    ),
    "order": (
        {"type": "string", "enum": ["asc", "desc"], "default": "asc"},
        "Which end to read from; with desc a cursor means before it.",
    ),
    "type": ({"type": "array", "items": _ID}, "Only records of these types."),
    "turn_id": ({"type": "array", "items": _ID}, "Only records of these turns."),
    "view": (
        {"type": "string", "enum": ["full", "summary"], "default": "full"},
        "In a summary payloads are empty and payload_bytes tells their size.",
    ),
    "wait_ms": (
        {"type": "integer", "minimum": 0, "default": 0},
        f"How long to wait for a first record, in ms; more than {WAIT_MS:,} is served as {WAIT_MS:,}.",
    ),
    "agent_id": (_ID, "Only runs of this agent."),
    "session_id": (_ID, "Only runs of this session."),
    "parent_run_id": (_ID, "Only children of this run."),
    "label": (
        {"type": "array", "items": {"type": "string", "pattern": "="}},
        "Only runs with all of these labels, each name=value, split at the first equals sign.",
    ),
    "started_after": ({"type": "string", "format": "date-time"}, "Only runs started then or later."),
    "started_before": ({"type": "string", "format": "date-time"}, "Only runs started earlier."),
}


def build_document(operations: Sequence[Operation]) -> Json:
    """Build the document: paths in the order of ``operations``, which is that of the examples' story."""
    paths: dict[str, Json] = {}
    for operation in operations:
        paths.setdefault(operation.template, {})[operation.method.lower()] = _operation(operation)
    codes = [code for code in PROBLEMS if any(code in _codes(operation) for operation in operations)]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Runhold",
            "summary": "The runtime database of AI agents, as a service",
            "description": _DESCRIPTION,
            "version": _version(),
            "license": {"name": "MIT", "identifier": "MIT"},
        },
        "servers": [{"url": "/"}],
        "tags": [{"name": name, "description": description} for name, description in _TAGS.items()],
        # The second, empty requirement: a service without identity asks for no key.
        "security": [{"bearer": []}, {}],
        "paths": paths,
        "components": {
            "schemas": _schemas(operations),
            "examples": {code: {"summary": title_of(code), "value": _problem(code)} for code in codes},
            "securitySchemes": {
                "bearer": {
                    "type": "http",
                    "scheme": "bearer",
                    "description": "A key of this service, with the role worker, reader or admin.",
                }
            },
        },
    }


def _version() -> str:
    try:
        return version("runhold")
    except PackageNotFoundError:
        return "0.0.0"


def _operation(operation: Operation) -> Json:
    document: Json = {
        "operationId": operation.id,
        "tags": [operation.tag],
        "summary": operation.summary,
        "description": f"{operation.description}\n\nRoles: {', '.join(sorted(operation.roles))}.",
        "parameters": _parameters(operation),
    }
    if operation.body is not None:
        example = examples.BODIES[operation.id]
        document["requestBody"] = {
            "required": not operation.body_optional,
            "content": {"application/json": {"schema": _reference(operation.body), "example": example}},
        }
    document["responses"] = _responses(operation)
    return document


def _parameters(operation: Operation) -> list[Json]:
    found: list[Json] = []
    if operation.path_id:
        kind = operation.path_id.removesuffix("_id")
        found.append(
            {
                "name": operation.path_id,
                "in": "path",
                "required": True,
                "description": f"The {kind}: one percent-encoded segment, or ~ and base64url.",
                "schema": {"type": "string", "minLength": 1, "maxLength": ID_BYTES},
                "example": examples.PATH_IDS[operation.id],
            }
        )
    for name in operation.query:
        schema, description = _status(operation) if name == "status" else _QUERY[name]
        found.append({"name": name, "in": "query", "required": False, "description": description, "schema": schema})
    return found


def _status(operation: Operation) -> tuple[Json, str]:
    known = SESSION_STATUSES if operation.id == "list_sessions" else RUN_STATUSES
    return {"type": "array", "items": {"type": "string", "enum": list(known)}}, "Only those of these statuses."


def _responses(operation: Operation) -> Json:
    request_id = {"X-Request-Id": {"description": "Names the request in the logs.", "schema": {"type": "string"}}}
    success: Json = {"description": "Done.", "headers": request_id}
    if operation.answer is not None:
        success["content"] = {
            "application/json": {"schema": _reference(operation.answer), "example": examples.ANSWERS[operation.id]}
        }
    responses: Json = {str(operation.status): success}
    by_status: dict[int, list[str]] = {}
    for code in _codes(operation):
        by_status.setdefault(PROBLEMS[code][1], []).append(code)
    for status in sorted(by_status):
        codes = by_status[status]
        headers = dict(request_id)
        if any(issubclass(PROBLEMS[code][0], Fault) for code in codes):
            headers["Retry-After"] = {"description": "Seconds.", "schema": {"type": "integer", "minimum": 1}}
        responses[str(status)] = {
            "description": ", ".join(codes),
            "headers": headers,
            "content": {
                "application/problem+json": {
                    "schema": _reference(schemas.Problem),
                    "examples": {code: {"$ref": f"#/components/examples/{code}"} for code in codes},
                }
            },
        }
    return responses


def _codes(operation: Operation) -> list[str]:
    codes = [*operation.codes, *_OF_EVERY_CALL]
    if operation.body is not None:
        codes += _OF_EVERY_BODY
    if operation.method != "GET":
        codes += _OF_EVERY_WRITE
    return list(dict.fromkeys(codes))


def _problem(code: str) -> Json:
    kind, status = PROBLEMS[code]
    return {
        "type": TYPE_BASE + code,
        "title": title_of(code),
        "status": status,
        "detail": "What was wrong in this case.",
        "code": code,
        "permanent": kind.permanent,
        "request_id": "4f2a9c1d7be0-2a",
        **examples.PROBLEM_MEMBERS.get(code, {}),
    }


def _reference(model: type[BaseModel]) -> Json:
    return {"$ref": _REF.format(model=model.__name__)}


def _schemas(operations: Sequence[Operation]) -> Json:
    bodies: list[type[BaseModel]] = [operation.body for operation in operations if operation.body is not None]
    answers: list[type[BaseModel]] = [operation.answer for operation in operations if operation.answer is not None]
    answers.append(schemas.Problem)
    _, read = models_json_schema([(model, "validation") for model in dict.fromkeys(bodies)], ref_template=_REF)
    _, written = models_json_schema([(model, "serialization") for model in dict.fromkeys(answers)], ref_template=_REF)
    found: Json = {}
    found.update({name: _tidy(schema) for name, schema in read["$defs"].items()})
    # An optional member of an answer is left out, never null.
    found.update({name: _never_null(_tidy(schema)) for name, schema in written["$defs"].items()})
    return dict(sorted(found.items()))


def _tidy(schema: Json) -> Json:
    """Take away the titles that only repeat names."""
    schema = {name: value for name, value in schema.items() if name != "title"}
    properties = schema.get("properties", {})
    schema["properties"] = {
        name: {key: value for key, value in field.items() if key != "title"} for name, field in properties.items()
    }
    return schema


def _never_null(schema: Json) -> Json:
    for name, field in schema["properties"].items():
        if field.get("default", ...) is None:
            (kind,) = (kind for kind in field["anyOf"] if kind != {"type": "null"})
            rest = {key: value for key, value in field.items() if key not in ("anyOf", "default")}
            schema["properties"][name] = {**kind, **rest}
            schema["required"] = [required for required in schema.get("required", []) if required != name]
    return schema
