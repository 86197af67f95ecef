"""Ids as segments of paths, without a server."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from runhold.api.path_ids import decode_path_id
from runhold.domain.errors import InvalidCommand

IDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=200)


def in_base64url(id_: str) -> bytes:
    return b"~" + base64.urlsafe_b64encode(id_.encode()).rstrip(b"=")


@given(IDS)
def test_every_id_can_be_sent_after_a_tilde(id_: str) -> None:
    assert decode_path_id(in_base64url(id_), "run_id") == id_


@given(IDS.filter(lambda id_: not id_.startswith("~")))
def test_every_other_id_can_be_percent_encoded_throughout(id_: str) -> None:
    segment = "".join(f"%{byte:02x}" for byte in id_.encode()).encode()
    assert decode_path_id(segment, "run_id") == id_


@pytest.mark.parametrize(
    ("segment", "id_"),
    [
        (b"plain", "plain"),
        (b"~", ""),
        (b"a%2Fb", "a/b"),
        (b"a+b", "a+b"),
        (b"..", ".."),
        (b"%C3%A9", "\u00e9"),
        ("é".encode(), "\u00e9"),
        (b"~Lg", "."),
    ],
)
def test_an_id_is_decoded_once(segment: bytes, id_: str) -> None:
    assert decode_path_id(segment, "run_id") == id_


@pytest.mark.parametrize(
    "segment",
    [
        b"%",
        b"%2",
        b"%zz",
        b"%ff",
        b"%ed%a0%80",
        b"%00",
        b"a%00",
        b"~YQ==",
        b"~YR",
        b"~Y",
        b"~Y+",
        b"~Y/8",
        b"~YQ%3D%3D",
        b"~AA",
        b"%7EYR",
        b"~_w",
        b"~ YQ",
        b"x" * 1_025,
        in_base64url("\u00e9" * 513),
    ],
)
def test_a_bad_spelling_or_a_bad_id_is_an_invalid_command(segment: bytes) -> None:
    with pytest.raises(InvalidCommand):
        decode_path_id(segment, "run_id")


def test_an_id_of_exactly_the_limit_is_accepted() -> None:
    assert decode_path_id(b"x" * 1_024, "run_id") == "x" * 1_024
