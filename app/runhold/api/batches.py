"""``POST /v1/commands``: many commands in one request, applied in order, each answered as its single call would be.

A fault of the frame refuses the request and applies nothing; a fault inside an item is that item's own. Source: the
storage contract, *run_commands*.
"""

from __future__ import annotations

from typing import Any

from runhold.api.decoding import WORKER_COMMANDS, decode_command
from runhold.api.encoding import encode_result
from runhold.api.identity import Role
from runhold.api.json_body import REPEATED, RepeatedNames, pointer_to
from runhold.api.problems import encode_problem, status_of
from runhold.api.requests import Request
from runhold.api.service import Service
from runhold.commands.model import Command
from runhold.domain.errors import Forbidden, InvalidCommand, RefusalError, size_members
from runhold.domain.fields import id_fault
from runhold.domain.limits import COMMANDS

_FRAME = frozenset({"commands"})
_ITEM = frozenset({"operation", "run_id", "body"})


async def run_commands(service: Service, request: Request) -> bytes:
    """Carry out 1 to 256 commands in their order.

    Raises:
        InvalidCommand: the frame, or the envelope of an item, breaks a rule.
    """
    items = _items(request.body)
    read = [_command(item, request) for item in items]
    outcomes = await service.writer.submit_many(request.namespace, read, request.share)
    for item, outcome in zip(items, outcomes, strict=True):
        operation = item.get("operation")
        if isinstance(operation, str) and operation in WORKER_COMMANDS:
            service.metrics.command(operation, outcome.code if isinstance(outcome, RefusalError) else "")
    results = [
        b'{"status":%d,"problem":%s}' % (status_of(outcome), encode_problem(outcome, request.request_id))
        if isinstance(outcome, RefusalError)
        else b'{"status":200,"body":%s}' % encode_result(outcome)
        for outcome in outcomes
    ]
    return b'{"results":[%s]}' % b",".join(results)


def _items(body: Any) -> list[dict[str, Any]]:
    """Check the frame and the envelope of every item."""
    errors: list[dict[str, str]] = []
    _check_names(body, _FRAME, "", errors)
    commands = body.get("commands") if isinstance(body, dict) else None
    if not errors and not isinstance(commands, list):
        errors.append({"pointer": "/commands", "detail": "must be present" if commands is None else "must be a list"})
    items: list[Any] = commands if isinstance(commands, list) else []
    if not errors and not 1 <= len(items) <= COMMANDS:
        detail = f"must hold 1 to {COMMANDS} commands, holds {len(items)}"
        errors.append({"pointer": "/commands", "detail": detail})
    if not errors:
        for index, item in enumerate(items):
            _check_names(item, _ITEM, f"/commands/{index}", errors)
    if errors:
        first = errors[0]
        raise InvalidCommand(f"{first['pointer'] or 'body'}: {first['detail']}", errors=errors)
    return items


def _check_names(value: Any, names: frozenset[str], pointer: str, errors: list[dict[str, str]]) -> None:
    if not isinstance(value, dict):
        errors.append({"pointer": pointer, "detail": "must be an object"})
        return
    if isinstance(value, RepeatedNames):
        errors += [{"pointer": pointer_to(pointer, name), "detail": REPEATED} for name in value.repeated[:COMMANDS]]
    if not value.keys() <= names:
        unknown = [name for name in value if name not in names]
        errors += [{"pointer": pointer_to(pointer, name), "detail": "is not a name known here"} for name in unknown[:9]]


def _command(item: dict[str, Any], request: Request) -> Command | RefusalError:
    """Read one item; what is wrong inside it is its own outcome."""
    operation = item.get("operation")
    found = WORKER_COMMANDS.get(operation) if isinstance(operation, str) else None
    if found is None or not isinstance(operation, str):
        return InvalidCommand("the item's operation is none of the writing worker commands")
    if request.principal.role not in (Role.WORKER, Role.ADMIN):
        return Forbidden(f"{operation} is not for the role {request.principal.role}")
    has_run_id, _ = found
    try:
        return decode_command(operation, _run_id(item, has_run_id), item.get("body"), request.body_bytes)
    except RefusalError as refusal:
        return refusal


def _run_id(item: dict[str, Any], expected: bool) -> str:
    """Read the run id of an item, which stands exactly where the single call has one in its path."""
    if ("run_id" in item) != expected:
        raise InvalidCommand(f"the item's operation takes {'a' if expected else 'no'} run_id")
    value = item.get("run_id", "")
    if not isinstance(value, str):
        raise InvalidCommand("the item's run_id must be a string")
    fault = id_fault(value)
    if fault is not None:
        raise InvalidCommand(f"the item's run_id {fault}", **size_members(fault))
    return value
