"""The page of the experiment on patching, as a visitor sees it."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import experiment_of
from lab.course.words import plain
from lab.experiments.patching import learners_pair
from lab.experiments.patching.measure import known
from lab.figures.choices import NEEDED, PATCHED
from lab.models.loading import load_model
from tests.pages.apptest import Offer, press, reveal, visit, words, worked

PAGE, MODEL = "34_Patching.py", "lab-gpt2"
FIELDS = ("clean_text", "corrupt_text", "good_word", "bad_word")


def charts(at: AppTest) -> int:
    return len(at.get("vega_lite_chart"))


def test_the_course_s_pair_is_in_sight_and_every_part_of_it_can_be_drawn() -> None:
    at = reveal(visit(PAGE, model="lab-minilm"))
    worked(at)
    assert charts(at) == 2 and [at.text_input(key=field).value for field in FIELDS][2:] == ["Paris", "Moscow"]
    for part in PATCHED:
        at.selectbox(key="patch").select(part).run()
        at.segmented_control(key="patch_way").set_value(NEEDED).run()
        assert charts(at) == 2


def test_a_pair_of_one_s_own_is_patched_and_nothing_typed_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(learners_pair, "_FOUND", type(learners_pair._FOUND)())
    link = dict(zip(FIELDS, ("My sister lost _ book.", "My brother lost _ book.", "her", "his"), strict=True))
    at = reveal(visit(PAGE, model=MODEL, **link))
    before = charts(at)
    press(at, "Patch these two sentences")
    worked(at)
    assert charts(at) > before and "1 is the whole" in words(at)
    at.text_input(key="good_word").set_value("flibbertigibbet").run()
    assert "Each of the two competing words must be one token" in words(at) and charts(at) == before
    assert [at.text_input(key=field).value for field in FIELDS] == [*list(link.values())[:2], "flibbertigibbet", "his"]
    at.text_input(key="good_word").set_value("her").run()
    assert charts(at) > before


@pytest.mark.parametrize("strange", ["", "_", "<b>_</b>", "a _ $x^2$ [l](u)", "_" * 50, "☃ _"])
def test_any_sentence_gets_a_page(strange: str) -> None:
    at = reveal(visit(PAGE, model="lab-bert"))
    for field in FIELDS:
        at.text_input(key=field).set_value(strange).run()
    assert at.info


@pytest.mark.parametrize("model_id", ["lab-bert", MODEL])
def test_a_pair_leads_on(model_id: str) -> None:
    at, result = reveal(visit(PAGE, model=model_id)), known(load_model(model_id))
    assert result is not None
    press(at, "Other pairs")
    press(at, "Lesson 9")
    assert at.title[0].value == "Masked-language model" and at.session_state["model"] == model_id
    text = at.text_area(key="text").value or ""
    ends = [row.pair.text.replace("_", "[MASK]") for row in result.pairs]
    starts = [row.pair.text.partition("_")[0].strip() for row in result.pairs]
    assert text in (ends if model_id == "lab-bert" else starts)


def test_what_cannot_be_tested_is_said_and_a_pair_can_be_typed_all_the_same(offer: Offer) -> None:
    at = visit(PAGE, model=offer("gpt2"))
    assert "Not testable here" in words(at) and at.text_input(key="clean_text") and not at.radio
    at = visit(PAGE, model=offer("bert-headless"))
    assert "without a vocabulary head" in plain(words(at))


def test_lesson_9_leads_here() -> None:
    at = reveal(visit("9_Masked_language_model.py", step="learns-of-france"))
    experiment = experiment_of("patching")
    label = f"The experiment {experiment.title}: {experiment.question}"
    assert label in [link.proto.label for link in at.get("page_link")]
