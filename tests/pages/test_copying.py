"""The page of the experiment on copying, as a visitor sees it."""

from __future__ import annotations

import pytest

from lab.experiments.copying import measure
from lab.experiments.copying.measure import CopyingTest, known
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from tests.pages.apptest import Offer, claims, press, reveal, visit, words, worked
from tests.thorough import one_by_day

PAGE = "31_Copying.py"


@pytest.fixture(scope="module")
def found() -> CopyingTest:
    result = known(load_model("lab-gpt2"))
    assert result is not None
    return result


def test_it_opens_on_a_model_that_can_copy_while_none_was_chosen() -> None:
    at = visit(PAGE)
    assert at.session_state["model"] == "lab-gpt2" and at.radio
    at.switch_page("pages/30_Grammar.py").run()
    assert at.session_state["model"] == DEFAULT_MODEL, "another page opens on the lab's own"
    at.switch_page(f"pages/{PAGE}").run()
    assert at.session_state["model"] == "lab-gpt2" and at.radio


def test_a_chosen_model_is_kept_told_why_not_and_led_to_one_that_can() -> None:
    at = visit(PAGE)
    at.sidebar.selectbox(key="model").select(DEFAULT_MODEL).run()
    assert "sees the whole text" in words(at) and not at.radio and not at.dataframe
    at = visit(PAGE, model=DEFAULT_MODEL)
    assert "sees the whole text" in words(at) and not at.radio, "a link has chosen it"
    press(at, "Choose lab-gpt2")
    assert at.session_state["model"] == "lab-gpt2" and at.radio


@one_by_day
@pytest.mark.parametrize(("label", "title"), [("Head view", "Head view"), ("Lesson 3", "Self-attention")])
def test_the_sequence_leads_on_with_its_head(label: str, title: str, found: CopyingTest) -> None:
    at = reveal(visit(PAGE, model="lab-gpt2"))
    press(at, "Another sequence")
    press(at, label)
    assert at.title[0].value == title and at.session_state["model"] == "lab-gpt2"
    layer, head = found.best
    assert (at.session_state["layer"], at.session_state["head"]) == (layer + 1, head + 1)
    text = (at.text_area(key="text").value or "").split()
    assert text[: len(text) // 2] == text[len(text) // 2 :]
    query, key = at.session_state["token"] - 1, at.session_state["key_token"] - 1
    assert text[key] == text[text.index(text[query]) + 1]
    at.switch_page("pages/30_Grammar.py").run()
    assert at.session_state["model"] == "lab-gpt2", "the model of a link into the lab goes along"


def test_a_small_model_is_measured_live(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure.MEASUREMENT, "found", {})
    at = reveal(visit(PAGE, model=offer("gpt2")))
    press(at, "Run the experiment")
    worked(at)
    assert len(claims(at)) and "measured on this server" in words(at)
