"""The page of the experiment on copying, as a visitor sees it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import Verdict
from lab.experiments.copying import measure
from lab.experiments.copying.measure import CopyingTest, known
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from tests.pages.apptest import Offer, claims, reveal, visit, words, worked
from tests.pages.test_experiments import endless_at_first, everything, frames, press

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


def test_the_model_of_a_link_into_the_lab_goes_along() -> None:
    at = reveal(visit(PAGE))
    press(at, "Head view")
    assert at.title[0].value == "Head view" and at.session_state["model"] == "lab-gpt2"
    at.switch_page("pages/30_Grammar.py").run()
    assert at.session_state["model"] == "lab-gpt2"


def test_nothing_of_the_result_before_the_prediction(found: CopyingTest) -> None:
    at = visit(PAGE, model="lab-gpt2")
    said = everything(at)
    assert not at.dataframe and not at.get("vega_lite_chart") and not at.get("download_button")
    assert not [row for row in found.rows if row.name in said or f"{row.zero.rise:.2f}" in said]
    assert not [verdict for verdict in Verdict if LABELS[verdict] in said]
    frames(at, "copying")


def test_skipped_it_shows_every_number_and_verdict(found: CopyingTest) -> None:
    at = reveal(visit(PAGE, model="lab-gpt2"))
    assert "4 % of the windows" in words(at)
    table = claims(at)
    assert table["verdict"].tolist() == [LABELS[row.judged.verdict] for row in found.rows]
    assert table["n"].tolist() == [str(row.judged.effect.count) for row in found.rows]
    assert at.get("vega_lite_chart") and "What this means" in words(at)
    assert found.made is not None and found.made.command in words(at)


def test_a_prediction_meets_what_was_measured() -> None:
    at = visit(PAGE, model="lab-gpt2")
    for radio in at.radio:
        radio.set_value(0).run()
    press(at, "Commit and show")
    assert re.search("You expected “.*”. In that case, |If “.*” were right", words(at))


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


def test_any_other_causal_model_runs_in_the_background_and_can_be_stopped(
    offer: Offer, monkeypatch: pytest.MonkeyPatch, found: CopyingTest
) -> None:
    replicate, stopped = endless_at_first(replace(found, made=None))
    monkeypatch.setattr(measure.MEASUREMENT, "replicate", replicate)
    monkeypatch.setattr(measure.MEASUREMENT, "found", {})
    at = reveal(visit(PAGE, model=offer("gpt2")))
    assert "not been measured yet" in words(at) and not at.dataframe
    press(at, "Run the experiment")
    press(at, "Stop")
    worked(at)
    assert stopped and "not been measured yet" in words(at)


def test_a_small_model_is_measured_live(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure.MEASUREMENT, "found", {})
    at = reveal(visit(PAGE, model=offer("gpt2")))
    press(at, "Run the experiment")
    worked(at)
    assert len(claims(at)) and "measured on this server" in words(at)
