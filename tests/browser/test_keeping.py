"""A reload loses no answer: the browser keeps them, until the learner starts afresh, and they go home in a file."""

from __future__ import annotations

import json
import re
from pathlib import Path

from playwright.sync_api import Page, WebSocket, expect
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

from benchmarks.server import Lab
from tests.browser.harness import go_to, wait_idle
from tests.thorough import at_night

NAME = "inside-bert.progress"


def kept(page: Page) -> dict[str, object]:
    record = page.evaluate(f"window.localStorage.getItem('{NAME}')")
    progress = json.loads(record)["progress"] if record else ""
    content: dict[str, object] = json.loads(progress) if progress else {}
    return content


def wait_kept(page: Page, *names: str) -> None:
    """Wait until the record holds the names: a visit that is told of another's record writes both a rerun later."""
    holds = "([record, names]) => names.every(name => (window.localStorage.getItem(record) ?? '').includes(name))"
    page.wait_for_function(holds, arg=[NAME, names])


def miss_one(page: Page) -> None:
    """Answer the first check until the answer is wrong: each option on a first visit of its own."""
    for option in range(2):
        first = page.get_by_test_id("stMain").get_by_test_id("stRadio").first
        expect(first).to_be_visible()
        first.get_by_role("radiogroup").locator("label").nth(option).click()
        wait_idle(page)
        if page.get_by_test_id("stMain").get_by_text(re.compile("That is not right|Right is [A-Z]")).count():
            return
        page.evaluate("localStorage.clear()")  # a reload alone would bring the answer back
        page.reload()
        wait_idle(page)
    raise AssertionError("two options of one question are right")


def test_answers_survive_a_reload_and_go_home_in_a_file_until_one_starts_afresh(
    lab: Lab, page: Page, tmp_path: Path
) -> None:
    page.goto(lab.url + "/Self-attention?step=Check")
    wait_idle(page)
    miss_one(page)
    page.reload()
    wait_idle(page)
    expect(page.get_by_text("1 of 3 checks").first).to_be_visible()
    expect(page.get_by_test_id("stMain").get_by_text(re.compile("That is not right|Right is [A-Z]"))).to_be_visible()
    page.locator(".st-key-step").get_by_text("Where does it look?", exact=True).click()
    wait_idle(page)
    page.locator('[class*="st-key-_predict"]').get_by_role("radiogroup").locator("label").first.click()
    wait_idle(page)
    page.get_by_role("button", name="Commit and show").click()
    wait_idle(page)
    page.reload()
    wait_idle(page)
    expect(page.get_by_role("button", name="Ask me again")).to_be_visible()
    go_to(page, "Inside BERT")
    assert kept(page)
    page.get_by_text("Your progress", exact=True).click()
    with page.expect_download() as download:
        page.get_by_role("button", name="Download progress").click()
    download.value.save_as(tmp_path / "progress.json")
    page.locator(".st-key-_start_afresh").get_by_role("button").click()
    wait_idle(page)
    page.reload()
    wait_idle(page)
    expect(page.get_by_role("button", name="The whole course")).to_be_visible()
    assert not kept(page)
    expect(page.get_by_text("Missed at first try")).to_have_count(0)
    page.get_by_text("Your progress", exact=True).click()
    page.locator("input[type=file]").set_input_files(tmp_path / "progress.json")
    wait_idle(page)
    expect(page.get_by_text(re.compile(r"checks answered 1, steps done \d"))).to_be_visible()
    page.get_by_role("button", name="Back to this question in lesson 3").click()
    wait_idle(page)
    expect(page.get_by_role("heading", level=1)).to_have_text("Self-attention")
    expect(page).to_have_url(re.compile("step=Check"))


@at_night
def test_two_tabs_lose_nothing_of_each_other(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Tokenization?step=Special+tokens")
    wait_idle(page)
    other = page.context.new_page()
    other.goto(lab.url + "/Embeddings")
    wait_idle(other)
    for tab in (page, other):
        tab.get_by_role("button", name="Next:").first.click()
        wait_idle(tab)
    wait_kept(page, "tokenization", "embeddings")
    lessons = kept(page)["lessons"]
    assert isinstance(lessons, dict) and all(lessons[each]["done"] for each in ("tokenization", "embeddings"))


def start_afresh(page: Page, lab: Lab) -> None:
    page.goto(lab.url)
    wait_idle(page)
    page.get_by_text("Your progress", exact=True).click()
    page.locator(".st-key-_start_afresh").get_by_role("button").click()
    wait_idle(page)


@at_night
def test_a_tab_that_is_open_brings_nothing_back_after_a_start_afresh(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Feed-forward_and_LayerNorm?step=Neurons")
    wait_idle(page)
    page.get_by_role("button", name="Next: Excited by").click()
    wait_kept(page, "neurons")
    other = page.context.new_page()
    start_afresh(other, lab)
    go_to(other, "Lessons", "Embeddings")
    other.get_by_role("button", name="Next:").first.click()
    wait_kept(other, "embeddings")
    page.bring_to_front()  # Chromium draws a tab in the background once a second
    for step in ("Residual and LayerNorm", "After the layers", "Check"):  # this tab knows nothing of it yet
        page.get_by_role("button", name=f"Next: {step}").click()
        wait_idle(page)
    wait_kept(page, "feed-forward", "embeddings")
    lessons = kept(page)["lessons"]
    assert isinstance(lessons, dict) and lessons["feed-forward"]["done"] == ["two-meanings"], "done before"


def test_what_cannot_be_read_is_said_and_written_over_and_a_record_that_is_too_long_stays(lab: Lab, page: Page) -> None:
    page.goto(lab.url + "/Tokenization?step=Special+tokens")
    wait_idle(page)
    hostile = {"by": "x", "stamp": "y", "progress": '{"lab": "Inside BERT", "version": 3, "lessons": "<b>"}'}
    page.evaluate(f"record => window.localStorage.setItem('{NAME}', record)", json.dumps(hostile))
    page.reload()
    wait_idle(page)
    expect(page.get_by_text("so you start from the beginning")).to_be_visible()
    page.get_by_role("button", name="Next: Check").click()
    wait_idle(page)
    assert "tokenization" in str(kept(page)["lessons"])
    long = json.dumps({"by": "x", "stamp": "y", "progress": "p" * 70_000})
    page.evaluate(f"record => window.localStorage.setItem('{NAME}', record)", long)
    page.goto(lab.url + "/Tokenization?step=Special+tokens")
    wait_idle(page)
    page.get_by_role("button", name="Next: Check").click()
    wait_idle(page)
    assert page.evaluate(f"window.localStorage.getItem('{NAME}')") == long
    start_afresh(page, lab)
    assert not kept(page)


def runs_of(page: Page, address: str) -> list[bool]:
    """Open a page; of each run that the server then makes, whether it has drawn the page's sentence."""
    drawn: list[bool] = []

    def listen(socket: WebSocket) -> None:
        def heard(frame: str | bytes) -> None:
            message = ForwardMsg.FromString(frame if isinstance(frame, bytes) else frame.encode("latin-1"))
            if message.HasField("new_session"):
                drawn.append(False)
            elif drawn and b"lab.sentence" in message.SerializeToString():
                drawn[-1] = True

        socket.on("framereceived", heard)

    page.on("websocket", listen)
    page.goto(address)
    wait_idle(page)
    page.remove_listener("websocket", listen)
    return drawn


def test_a_page_that_a_returning_learner_opens_is_drawn_once(lab: Lab, page: Page) -> None:
    address = lab.url + "/Self-attention?step=Where+does+it+look%3F"
    assert sum(runs_of(page, address)) == 1, "for somebody new"
    page.get_by_role("button", name="Show me").click()  # what was only opened is not kept
    wait_idle(page)
    wait_kept(page, "map")
    assert sum(runs_of(page, address)) == 1, "for somebody who returns"
    page.evaluate("window.localStorage.clear()")
    assert sum(runs_of(page, address)) == 1, "for somebody whose cookie alone is left"
    expect(page.get_by_role("heading", level=1)).to_have_text("Self-attention")
