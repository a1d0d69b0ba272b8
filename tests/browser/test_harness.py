"""The harness itself, on a small app of its own: it waits, it notices, and what it starts it stops."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from benchmarks.server import Lab, running_lab
from tests.browser.harness import VIEWS, View, visit, wait_idle
from tests.browser.screenshots import addresses, full_page

APP = """
import time
import streamlit as st

st.title("Small app")
if st.button("Work"):
    time.sleep(1.5)
    st.write("worked")
if st.button("Break"):
    raise ValueError("broken")
st.iframe("https://example.invalid/") if st.button("Call home") else None
for number in range(60):
    st.write(f"line {number}")
st.write("the end")
"""


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Path:
    script = tmp_path_factory.mktemp("small") / "Home.py"
    script.write_text(APP, "utf-8")
    (script.parent / "pages").mkdir()
    for name in ("2_Later.py", "0_Start.py", "10_Last one.py"):
        (script.parent / "pages" / name).touch()
    return script


@pytest.fixture(scope="module")
def small_lab(small: Path) -> Iterator[Lab]:
    with running_lab(small, small.parent) as lab:
        yield lab


def test_wait_idle_waits_for_the_run_to_end(small_lab: Lab, browser: Browser) -> None:
    with visit(browser, View()) as visitor:
        visitor.page.goto(small_lab.url)
        wait_idle(visitor.page)
        visitor.page.get_by_role("button", name="Work").click()
        wait_idle(visitor.page)
        assert visitor.page.get_by_text("worked", exact=True).is_visible()
        assert visitor.all_complaints() == []


def test_an_exception_and_a_call_elsewhere_are_complaints(small_lab: Lab, browser: Browser) -> None:
    with visit(browser, View()) as visitor:
        visitor.page.goto(small_lab.url)
        wait_idle(visitor.page)
        visitor.page.get_by_role("button", name="Call home").click()
        wait_idle(visitor.page)
        assert any("example.invalid" in complaint for complaint in visitor.all_complaints())
        visitor.page.get_by_role("button", name="Break").click()
        wait_idle(visitor.page)
        assert any("ValueError" in complaint for complaint in visitor.all_complaints())
    assert "broken" in small_lab.log


@pytest.mark.parametrize("view", VIEWS, ids=str)
def test_a_picture_holds_the_whole_page(small_lab: Lab, browser: Browser, view: View, tmp_path: Path) -> None:
    with visit(browser, view) as visitor:
        visitor.page.goto(small_lab.url)
        wait_idle(visitor.page)
        full_page(visitor.page, tmp_path / "page.png")
        expect(visitor.page.get_by_text("the end")).to_be_in_viewport()
        dark = visitor.page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    assert dark == (view.scheme == "dark")
    width = int.from_bytes((tmp_path / "page.png").read_bytes()[16:20])  # the PNG header
    assert width == view.width


def test_addresses_are_those_streamlit_gives(small: Path) -> None:
    assert addresses(small) == {"Start": "/", "Later": "/Later", "Last_one": "/Last_one"}


def test_a_server_that_cannot_start_says_why(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"missing\.py"), running_lab(tmp_path / "missing.py"):
        pass
