"""openapi.yaml is the service's document, and the generated part of the client is that document's."""

from __future__ import annotations

import inspect
from importlib import import_module
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from client import generate
from runhold.main import create_app
from runhold_client import calls, commands
from runhold_client.path_ids import path_segment

OPERATIONS = [
    (method.upper(), path, operation)
    for path, methods in yaml.safe_load(generate.OPENAPI.read_text())["paths"].items()
    for method, operation in methods.items()
    if path.startswith("/v1")
]


def module_of(operation: dict[str, Any]) -> Any:
    return import_module(f"runhold_client._generated.api.{operation['tags'][0]}.{operation['operationId']}")


def test_the_document_is_that_of_the_service() -> None:
    assert generate.OPENAPI.read_text(encoding="utf-8") == generate.openapi_yaml(), "run ./dev generate"
    assert yaml.safe_load(generate.OPENAPI.read_text(encoding="utf-8")) == create_app().openapi()


def test_generating_again_changes_nothing(tmp_path: Path) -> None:
    generate.generate(generate.OPENAPI, tmp_path / "_generated")
    written = {path.relative_to(tmp_path / "_generated"): path for path in tmp_path.rglob("*.py")}
    checked_in = {path.relative_to(generate.GENERATED): path for path in generate.GENERATED.rglob("*.py")}
    assert written.keys() == checked_in.keys(), "run ./dev generate"
    for name, path in written.items():
        assert path.read_text() == checked_in[name].read_text(), f"{name} differs: run ./dev generate"


@pytest.mark.parametrize(("method", "path", "operation"), OPERATIONS, ids=lambda value: str(value)[:40])
def test_each_operation_quotes_each_id_exactly_once(method: str, path: str, operation: dict[str, Any]) -> None:
    request = module_of(operation).request
    ids = [name for name in ("run_id", "session_id") if "{" + name + "}" in path]
    for id_, spelled in (("a b", "a%20b"), ("a/b", "~YS9i"), ("é?#", "%C3%A9%3F%23"), ("+&;=", "%2B%26%3B%3D")):
        body = {"content": b"{}"} if "requestBody" in operation else {}
        asked = request(*[path_segment(id_)] * len(ids), **body)
        assert asked["method"] == method
        expected = path
        for name in ids:
            expected = expected.replace("{" + name + "}", spelled)
        with httpx.Client(base_url="http://host") as client:
            assert client.build_request(**asked).url.raw_path.partition(b"?")[0] == expected.encode()


def test_the_stores_use_every_operation() -> None:
    used = {
        name
        for module in (calls, commands)
        for name, value in inspect.getmembers(module, inspect.isfunction)
        if value.__module__ == module.__name__
    }
    assert {operation["operationId"] for _, _, operation in OPERATIONS} <= {*used, "run_commands"}
