"""Tokens of an OpenID Connect issuer: taken when everything about them is right, and only then."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric import rsa

from runhold.api.identity import Principal, Role
from runhold.domain.errors import Unauthenticated, Unavailable
from runhold.identity import tokens as module
from runhold.identity.tokens import Issuer as Accepted
from runhold.identity.tokens import Tokens
from runhold_client import AccessError, HttpStore
from tests.identity.issuer import Issuer, running_issuer
from tests.support.server import Server


@pytest.fixture
def issuer() -> Iterator[Issuer]:
    """An issuer with one key."""
    with running_issuer() as found:
        found.rotate("first")
        yield found


def find(tokens: Tokens, *texts: str) -> list[Any]:
    """Who calls with each, or the refusal."""

    async def inside() -> list[Any]:
        found: list[Any] = []
        for text in texts:
            try:
                found.append(await tokens.find(text))
            except (Unauthenticated, Unavailable) as error:
                found.append(error)
        return found

    return asyncio.run(inside())


def accepting(issuer: Issuer, **changes: Any) -> Tokens:
    return Tokens(Accepted(**{"issuer": issuer.url, "audience": "runhold", **changes}))


@pytest.mark.parametrize("curve", [False, True], ids=["RSA", "elliptic curve"])
def test_a_token_says_who_calls(issuer: Issuer, curve: bool) -> None:
    issuer.rotate("second", curve=curve)
    text = issuer.token(runhold_role="reader", runhold_namespace="team-b", sub="ada")
    assert find(accepting(issuer), text) == [Principal("team-b", Role.READER, "token:team-b:ada")]


def test_the_claims_may_have_other_names_and_the_keys_another_place(issuer: Issuer) -> None:
    text = issuer.token(runhold_role=None, runhold_namespace=None, who="admin", tenant="t")
    tokens = accepting(issuer, role_claim="who", namespace_claim="tenant", jwks_url=f"{issuer.url}/keys")
    assert find(tokens, text) == [Principal("t", Role.ADMIN, "token:t:somebody")]


def test_an_audience_may_be_one_of_several(issuer: Issuer) -> None:
    assert isinstance(find(accepting(issuer), issuer.token(aud=["other", "runhold"]))[0], Principal)


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "other"},
        {"aud": None},
        {"iss": "http://elsewhere.example"},
        {"iss": None},
        {"exp": int(time.time()) - 3_600},
        {"exp": None},
        {"nbf": int(time.time()) + 3_600},
        {"runhold_role": None},
        {"runhold_role": "god"},
        {"runhold_role": ["admin"]},
        {"runhold_namespace": None},
        {"runhold_namespace": ""},
        {"runhold_namespace": 5},
        {"runhold_namespace": "n" * 65},
        {"runhold_namespace": "a\0b"},
    ],
    ids=str,
)
def test_a_wrong_claim_is_nobody(issuer: Issuer, claims: dict[str, Any]) -> None:
    (found,) = find(accepting(issuer), issuer.token(**claims))
    assert isinstance(found, Unauthenticated)


def test_a_signature_of_somebody_else_is_nobody(issuer: Issuer) -> None:
    strange = rsa.generate_private_key(65537, 2048)
    good = issuer.token()
    head, claims, signature = good.split(".")
    wrong = [
        issuer.token(key=strange),
        issuer.token(key=strange, headers={"kid": "unknown"}),
        issuer.token(key="secret" * 8, algorithm="HS256"),
        issuer.token(key="", algorithm="none"),
        f"{head}.{claims}.",
        f"{head}.{claims}.{signature[:-4]}AAAA",
        f"{head}..{signature}",
        "a.b.c",
        "a",
        "",
        "\u00ff.\u00ff.\u00ff",
    ]
    found = find(accepting(issuer), *wrong)
    assert [type(each) for each in found] == [Unauthenticated] * len(wrong)
    assert isinstance(find(accepting(issuer), good)[0], Principal)


def test_an_algorithm_that_is_not_allowed_is_nobody(issuer: Issuer) -> None:
    assert isinstance(find(accepting(issuer, algorithms=("ES256",)), issuer.token())[0], Unauthenticated)


def test_a_new_key_is_fetched_and_a_dropped_one_is_not_taken_any_more(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FETCH_NOT_BEFORE_S", 0.0)
    tokens = accepting(issuer)
    old, later = issuer.token(), issuer.token(sub="later")
    assert isinstance(find(tokens, old)[0], Principal)
    issuer.rotate("second", drop_others=True)
    assert isinstance(find(tokens, issuer.token())[0], Principal)
    assert isinstance(find(tokens, later)[0], Unauthenticated)


def test_unknown_keys_do_not_make_the_issuer_be_asked_again_and_again(issuer: Issuer) -> None:
    tokens = accepting(issuer)
    find(tokens, issuer.token(), *[issuer.token(headers={"kid": f"k{number}"}) for number in range(20)])
    assert issuer.fetched == 1


def test_an_issuer_that_is_away_is_a_fault_until_its_keys_are_known(
    issuer: Issuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_FETCH_NOT_BEFORE_S", 0.0)
    tokens = accepting(issuer)
    issuer.is_broken = True
    assert isinstance(find(tokens, issuer.token())[0], Unavailable)
    issuer.is_broken = False
    known = issuer.token()
    assert isinstance(find(tokens, known)[0], Principal)
    issuer.is_broken = True
    assert isinstance(find(tokens, issuer.token(sub="other"))[0], Principal)


def test_a_token_is_remembered_only_until_it_expires(issuer: Issuer) -> None:
    tokens = accepting(issuer, leeway_s=0)
    text = issuer.token(exp=int(time.time()) + 2)
    assert isinstance(find(tokens, text)[0], Principal)
    time.sleep(2.1)
    assert isinstance(find(tokens, text)[0], Unauthenticated)


def test_the_service_takes_tokens_beside_keys(start_server: Any, issuer: Issuer) -> None:
    server: Server = start_server({"RUNHOLD_OIDC_ISSUER": issuer.url})
    admin = issuer.token(runhold_role="admin", runhold_namespace="t")
    with HttpStore(server.url, token=admin) as store:
        store.create_session("s")
    with HttpStore(server.url, token=issuer.token(runhold_namespace="t")) as store:
        assert store.load_session_status("s") == "active"
        with pytest.raises(AccessError):
            store.create_session("other")
    for wrong in (issuer.token(aud="other"), "rh.x.y"):
        answer = httpx.get(f"{server.url}/v1/sessions", headers={"authorization": f"Bearer {wrong}"}, trust_env=False)
        assert (answer.status_code, answer.json()["code"]) == (401, "unauthenticated")
    assert admin not in server.output()
