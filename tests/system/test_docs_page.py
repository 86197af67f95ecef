"""Swagger UI at /docs in a real browser without a network: every example is tried out, from top to bottom."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import BrowserContext, Locator, Page

from runhold.api.identity import Role
from runhold.identity.key_file import change_keys
from runhold.identity.keys import new_key
from tests.support.browser import Watch, keep_screenshot, watched_browser


@pytest.fixture
def browser() -> Iterator[tuple[BrowserContext, Watch]]:
    """A browser, and what is noted about it."""
    with watched_browser() as found:
        yield found


def operations(url: str) -> list[tuple[str, str]]:
    """Tag and id of each operation, in the document's order."""
    document = httpx.get(f"{url}/openapi.json", trust_env=False).json()
    return [
        (operation["tags"][0], operation["operationId"])
        for methods in document["paths"].values()
        for operation in methods.values()
    ]


def open_docs(context: BrowserContext, url: str) -> Page:
    page = context.new_page()
    page.goto(f"{url}/docs")
    page.locator(".opblock").first.wait_for()
    return page


def try_out(block: Locator) -> int:
    """Open an operation, execute its example as it stands, close it, and return the answer's status."""
    block.locator(".opblock-summary-control").click()
    block.get_by_role("button", name="Try it out").click()
    block.get_by_role("button", name="Execute").click()
    status = block.locator(".live-responses-table .response-col_status").nth(1)
    status.wait_for()
    return int(status.inner_text().split()[0])


@pytest.mark.timeout(180)
@pytest.mark.parametrize("order", ["document", "page"])
def test_every_example_works_in_its_order_on_an_empty_database(
    own_server: Any, browser: tuple[BrowserContext, Watch], order: str
) -> None:
    context, watch = browser
    page = open_docs(context, own_server.url)
    keep_screenshot(page, "docs")
    documented = [f"operations-{tag}-{name}" for tag, name in operations(own_server.url)]
    # The page groups by tag; whoever goes down the page meets another order than a reader of the document.
    shown = [str(block.get_attribute("id")) for block in page.locator(".opblock").all()]
    assert sorted(shown) == sorted(documented)
    assert len(documented) > 20
    answers = {}
    for name in documented if order == "document" else shown:
        block = page.locator(f"#{name}")
        answers[name] = try_out(block)
        if name == "operations-records-append_run_record":
            block.locator(".live-responses-table").scroll_into_view_if_needed()
            keep_screenshot(page, "docs-try-it-out")
        block.locator(".opblock-summary-control").click()
    assert {name: status for name, status in answers.items() if not 200 <= status < 300} == {}
    watch.assert_nothing_happened()


def test_the_watch_sees_traffic_that_would_leave_and_lets_none_through(
    server: Any, browser: tuple[BrowserContext, Watch]
) -> None:
    context, watch = browser
    page = context.new_page()
    page.goto(f"{server.url}/livez")
    told = page.evaluate("fetch('http://somewhere.example/').then((answer) => answer.status, () => 'nothing')")
    assert told == "nothing"
    # Noted twice: by the page, and by the wall.
    assert sorted(watch.left_the_machine) == ["http://somewhere.example/", "somewhere.example"]
    assert watch.errors


def test_the_page_may_neither_run_foreign_scripts_nor_ask_elsewhere(
    server: Any, browser: tuple[BrowserContext, Watch]
) -> None:
    context, watch = browser
    page = open_docs(context, server.url)
    watch.assert_nothing_happened()
    page.evaluate("fetch('http://somewhere.example/').catch(() => 'nothing')")
    page.evaluate("document.body.append(Object.assign(document.createElement('script'), {text: 'window.ran = true'}))")
    assert page.evaluate("window.ran") is None
    violations = watch.policy_violations()
    assert [violation.split(":")[0] for violation in violations] == ["connect-src", "script-src-elem"]
    assert "http://somewhere.example/" not in watch.left_the_machine


def test_the_authorize_button_gives_every_request_the_key(
    start_server: Any, tmp_path: Path, browser: tuple[BrowserContext, Watch]
) -> None:
    key, kept = new_key(Role.ADMIN, "default")
    change_keys(tmp_path / "keys", lambda _: ([kept], None))
    context, watch = browser
    page = open_docs(context, start_server({"RUNHOLD_API_KEYS_FILE": str(tmp_path / "keys")}).url)
    block = page.locator("#operations-sessions-create_session")
    assert try_out(block) == 401
    page.locator(".auth-wrapper").get_by_role("button", name="Authorize").first.click()
    dialog = page.locator(".dialog-ux")
    dialog.get_by_role("textbox").fill(key)
    dialog.get_by_role("button", name="Apply credentials").click()
    dialog.get_by_role("button", name="Close").last.click()
    block.get_by_role("button", name="Execute").click()
    page.wait_for_function(
        "document.querySelector('#operations-sessions-create_session .live-responses-table')?.innerText.includes('200')"
    )
    # The refused try is an error on the console; nothing else happened.
    assert [error for error in watch.errors if "401" not in error] == []
    assert watch.left_the_machine == []
