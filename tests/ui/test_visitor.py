"""Visits of one browser are one visitor, however Streamlit masks its cookie; made-up cookies break nothing."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
from streamlit.web.server.starlette.starlette_app_utils import generate_xsrf_token_string

from lab.ui import visitor
from lab.ui.visitor import this_visitor


@pytest.fixture
def context(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    found = SimpleNamespace(cookies={}, headers={}, ip_address="10.0.0.1")
    monkeypatch.setattr(visitor, "st", SimpleNamespace(context=found))
    return found


def test_a_browser_is_known_however_its_cookie_is_masked(context: SimpleNamespace) -> None:
    seen = set()
    for _ in range(20):
        context.cookies = {"_streamlit_xsrf": generate_xsrf_token_string(b"0123456789abcdef", 1_700_000_000)}
        seen.add(this_visitor())
    assert len(seen) == 1 and seen.pop().browser == b"0123456789abcdef".hex()
    context.cookies = {"_streamlit_xsrf": generate_xsrf_token_string()}
    assert this_visitor().browser != b"0123456789abcdef".hex()


@pytest.mark.parametrize("cookie", ["", "2", "2|x|y|z", "2||00|1", "2|00|00|1", "2|00000000|é|1", "|" * 1000, None])
def test_a_made_up_cookie_is_no_browser(context: SimpleNamespace, cookie: str | None) -> None:
    context.cookies = {} if cookie is None else {"_streamlit_xsrf": cookie}
    assert this_visitor().browser == ""


def test_the_address_is_what_the_balancer_says(context: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    assert this_visitor().address == "10.0.0.1"
    monkeypatch.setenv("LAB_ADDRESS_HEADER", "X-Lab-Address")
    context.headers = {"X-Lab-Address": "192.0.2.7"}
    assert this_visitor().address == "192.0.2.7"
    context.headers = {}
    assert this_visitor().address.startswith("visit "), "each visit counts for itself"
