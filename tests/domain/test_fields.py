"""The limits of single fields, at their very edges, in bytes of UTF-8."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.domain.fields import (
    checkpoint_bytes_over,
    decode_checkpoint,
    id_fault,
    labels_fault,
    payload_bytes_over,
    payload_fault,
    reason_fault,
)
from runhold.domain.limits import CHECKPOINT_BYTES, PAYLOAD_BYTES


@pytest.mark.parametrize("value", ["", "x" * 1_024, "é" * 512, "\U0001f331" * 256, " ", "\x01", "..", "~", "a/b"])
def test_any_text_up_to_a_kilobyte_is_an_id(value: str) -> None:
    assert id_fault(value) is None


@pytest.mark.parametrize(
    "value", ["x" * 1_025, "é" * 512 + "x", "\U0001f331" * 256 + "x", "\0", "a\0", "é\0", "\ud800"]
)
def test_longer_text_nul_and_lone_surrogates_are_no_id(value: str) -> None:
    assert id_fault(value) is not None


def test_a_reason_has_sixteen_kibibytes() -> None:
    assert reason_fault("é" * 8_192) is None
    assert reason_fault("é" * 8_192 + "x") is not None
    assert reason_fault("\0") is not None
    assert reason_fault("\udc00") is not None


def test_labels_are_bounded_in_number_and_together_in_bytes() -> None:
    assert labels_fault({str(number): "" for number in range(256)}) is None
    assert labels_fault({str(number): "" for number in range(257)}) is not None
    assert labels_fault({"é": "é" * 32_767}) is None
    assert labels_fault({"é": "é" * 32_767, "": "x"}) is not None
    assert labels_fault({"nul\0": "\0"}) is None
    assert labels_fault({"a": "\ud83c", "b": "\udf31"}) is not None


def test_a_payload_is_measured_in_bytes() -> None:
    within = '"' + "é" * (PAYLOAD_BYTES // 2 - 1) + '"'
    assert payload_bytes_over(within) is None
    assert payload_bytes_over(within + " ") == PAYLOAD_BYTES + 1
    assert payload_fault("") is None
    assert payload_fault('"\ud800"') is not None


def test_a_checkpoint_is_measured_decoded() -> None:
    assert checkpoint_bytes_over(bytes(CHECKPOINT_BYTES)) is None
    assert checkpoint_bytes_over(bytes(CHECKPOINT_BYTES + 1)) == CHECKPOINT_BYTES + 1


@given(st.binary(max_size=100))
def test_canonical_base64_is_decoded(data: bytes) -> None:
    assert decode_checkpoint(base64.b64encode(data).decode()) == data


@pytest.mark.parametrize("text", ["AA", "AA=", "AB==", "AAA=\n", "AA-_", "A A=", "AAA*", "AAAA====", "=", "é"])
def test_a_second_spelling_of_the_same_bytes_is_refused(text: str) -> None:
    assert decode_checkpoint(text) is None
