"""What the vendors' own packages say of a request."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from importlib import import_module
from typing import Any

from anthropic.types import ContentBlockParam, MessageParam, TextBlockParam
from openai.types.responses import ResponseInputParam
from pydantic import TypeAdapter

# botocore has no types of its own.
LOADERS, MODEL, SERIALIZE, VALIDATE = (
    import_module(f"botocore.{name}") for name in ("loaders", "model", "serialize", "validate")
)


@cache
def converse() -> Any:
    """The operation as botocore knows it."""
    document = LOADERS.Loader().load_service_model("bedrock-runtime", "service-2")
    return MODEL.ServiceModel(document, "bedrock-runtime").operation_model("Converse")


def bedrock_body(parameters: Mapping[str, Any]) -> Any:
    """The JSON that botocore would send, after its validator found nothing."""
    whole = {"modelId": "some.model", **parameters}
    report = VALIDATE.ParamValidator().validate(whole, converse().input_shape)
    assert not report.has_errors(), report.generate_report()
    serializer = SERIALIZE.create_serializer("rest-json", include_validation=False)
    return json.loads(serializer.serialize_to_request(whole, converse())["body"])


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def check_anthropic(parameters: Mapping[str, Any]) -> None:
    """Ask the SDK's types, which then hold every name and value of the request."""
    # A message may also hold the SDK's answers, which let everything pass: its blocks are checked one by one.
    _adapter(list[MessageParam]).validate_python(parameters["messages"], strict=True)
    for message in parameters["messages"]:
        for block in message["content"]:
            _check(ContentBlockParam, block)
    if "system" in parameters:
        _check(list[TextBlockParam], parameters["system"])


def check_openai(parameters: Mapping[str, Any]) -> None:
    """Ask the SDK's types, which then hold every name and value of the request."""
    _check(ResponseInputParam, parameters["input"])


def _check(kind: Any, value: Any) -> None:
    read = _plain(_adapter(kind).validate_python(value, strict=True))
    # Types leave out what they do not know: nothing of ours is.
    assert read == value


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        return [_plain(one) for one in value]
    return value
