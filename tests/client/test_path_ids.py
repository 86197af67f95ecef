"""Every id reaches the service as it is, whatever stands between."""

from __future__ import annotations

import base64
from urllib.parse import unquote

import httpx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from runhold_client import InvalidCommand
from runhold_client.path_ids import path_id, path_segment

ids = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.text(
    "./\\%~ aé\x00\x1f\x7f?#;&=+:@", max_size=8
)


def read_back(segment: str) -> str:
    """What a service makes of a segment of the raw path."""
    text = unquote(segment, errors="strict")
    if not text.startswith("~"):
        return text
    return base64.urlsafe_b64decode(text[1:] + "=" * (-len(text[1:]) % 4)).decode()


@given(ids)
@example("..")
@example("~")
@example("a/b")
def test_an_id_reads_back_from_its_segment(id_: str) -> None:
    assert read_back(path_id(id_)) == id_


@given(ids)
def test_a_segment_survives_the_http_client_unchanged(id_: str) -> None:
    with httpx.Client(base_url="http://host/prefix/") as client:
        request = client.build_request("GET", f"/v1/runs/{path_id(id_)}/records")
    assert request.url.raw_path == f"/prefix/v1/runs/{path_id(id_)}/records".encode()


@given(ids)
def test_a_segment_holds_nothing_that_a_proxy_decodes_or_merges(id_: str) -> None:
    decoded = unquote(path_id(id_))
    assert decoded not in ("", ".", "..")
    assert not any(character in "/\\%" or ord(character) < 32 or 127 <= ord(character) < 160 for character in decoded)


@pytest.mark.parametrize(
    ("id_", "segment"),
    [
        ("", "~"),
        (".", "~Lg"),
        ("..", "~Li4"),
        ("~", "~fg"),
        ("~a", "~fmE"),
        ("p/agent/t/c", "~cC9hZ2VudC90L2M"),
        ("a\\b", "~YVxi"),
        ("50%", "~NTAl"),
        ("a\nb", "~YQpi"),
        ("root", "root"),
        ("...", "..."),
        ("a b", "a%20b"),
        ("k?x#y", "k%3Fx%23y"),
        ("é", "%C3%A9"),
    ],
)
def test_ids_that_proxies_mangle_are_base64url_and_all_others_percent_encoded_once(id_: str, segment: str) -> None:
    assert path_id(id_) == segment


def test_an_id_without_utf8_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(InvalidCommand):
        path_segment("a\ud800")
