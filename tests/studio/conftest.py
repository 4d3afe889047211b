"""One server and one browser for all tests of the Studio."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.helpers.browser import Page, Server, open_browser, running_server


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with open_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    pytest.importorskip("starlette", reason="starlette is not installed. Run: pip install 'farpoint[studio]'")
    with running_server() as started:
        yield started


@pytest.fixture
def page(browser: Any, server: Server) -> Iterator[Page]:
    """A page as on a first visit; what goes wrong in it, or asks another host, fails the test."""
    one = Page(browser, server.address)
    one.forget()
    one.errors()
    one.requests()
    yield one.open()
    found = one.errors()
    browser.get("about:blank")
    assert found == []
    assert one.requests() <= {server.host}
