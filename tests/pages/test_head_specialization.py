"""The lesson on head specialization, run whole: every step, every kind of model, what texts can do to it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

import lab
from lab.analysis.heads.patterns import trace_patterns
from lab.analysis.heads.specialization import specialization
from lab.analysis.heads.survey import head_survey
from lab.figures.specialization_figures import names_of
from lab.lessons.head_specialization import does_it_matter
from lab.lessons.head_specialization.does_it_matter import attractions
from lab.lessons.head_specialization.named_patterns import pattern_name
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.twin import untrained_twin
from lab.text.tags import pipeline
from lab.text.tags.token_tags import tagged
from lab.ui import runs
from tests.pages.apptest import Offer, go, opened, press, reveal, unfold, visit, walk, words, worked
from tests.sentences import STORY
from tests.thorough import one_by_day

PAGE = "6_Head_specialization.py"
TEXT = "The cat sat on the mat because it was tired in Paris."
STEPS = (
    "radar",
    "named-patterns",
    "grammar",
    "does-it-matter",
    "many-sentences",
    "check",
)
OWN = "The dog ran home.\n\nShe met Anna in London.\nIs it late for the train?"


open_step = partial(opened, PAGE, text=TEXT)


def read(at: AppTest) -> AppTest:
    """Press the button that starts the survey, or goes on with it."""
    next(button for button in at.main.button if re.match("Read|Go on", button.label)).click().run()
    return reveal(worked(at))


@one_by_day
@pytest.mark.parametrize("text", [TEXT, "a"])
def test_gpt2_has_a_first_token_instead_of_cls(text: str, offer: Offer) -> None:
    name = offer("gpt2")
    at = visit(PAGE, model=name, text=text, version="Corrected")
    assert at.selectbox(key="model").value == name
    go(at, "radar")
    reveal(at).segmented_control(key="sinks").set_value("Kept").run()
    assert "**First token**" in words(unfold(at, "_formulas"))


def test_the_words_of_a_pair_are_tagged() -> None:
    at = visit(PAGE, text="She sat.", pair="Anna stood in Paris.")
    go(at, "radar")
    assert any("proper noun" in str(html.proto.body) for html in at.get("html"))


@pytest.mark.parametrize("weights", ["Constructed", "Random"])
def test_toys_have_patterns_but_no_parts_of_speech(weights: str) -> None:
    at = visit(PAGE, mode="Toy", toy_weights=weights, toy_seed="5")
    go(at, "radar")
    assert "is **" in words(unfold(go(at, "named-patterns"), "_own_scores"))
    read(go(at, "many-sentences"))
    assert "heads have a different name here" in words(at)
    radios = [radio for radio in go(at, "check").radio if str(radio.key).startswith("_check.")]
    assert len(radios) >= 2


@pytest.mark.parametrize("sinks", ["Left out", "Kept"])
@pytest.mark.parametrize("model", [DEFAULT_MODEL, "lab-gpt2"])
def test_a_card_shows_the_metric_of_the_chosen_head(model: str, sinks: str) -> None:
    """With special tokens or the first one, and without; the other number is said beside it."""
    trace, left_out = lab.trace(lab.load_model(model), TEXT), sinks == "Left out"
    shown, other = (specialization(trace, only_words=each) for each in (left_out, not left_out))
    at = unfold(open_step("radar", model=model, layer="2", head="3", sinks=sinks), "_formulas")
    for version in ("Raw", "Corrected"):
        at.segmented_control(key="version").set_value(version).run()
        value = shown.values("function_words", version == "Corrected")[1, 2]
        assert f"**{value:.3f}**" in words(at), version
        assert any(f"= {value:.3f}" in formula.value for formula in at.latex), version
    assert f": {other.values('function_words', True)[1, 2]:.3f}" in words(at)
    assert ("among the tokens that are left" in words(at)) == left_out


@pytest.mark.parametrize("step", ["radar", "grammar"])
def test_a_text_that_is_not_english_is_told_from_one_that_is(step: str) -> None:
    at = open_step(step, text="Der Hund schläft auf dem Sofa, weil er müde ist.")
    assert any("does not look English" in each.value for each in at.warning)
    assert not any("does not look English" in each.value for each in open_step(step).warning)


@one_by_day
@pytest.mark.parametrize("kept", [False, True])
def test_the_name_and_the_scores_are_those_of_the_chosen_head_and_a_click_chooses_another(kept: bool) -> None:
    """Among words only, as the step begins, and with the special tokens."""
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), TEXT)
    patterns, names = trace_patterns(trace, only_words=not kept), names_of(trace, not kept)
    at = open_step("named-patterns", layer="1", head="1", **({"sinks": "Kept"} if kept else {}))
    unfold(at, "_own_scores")
    assert f"is **{pattern_name(str(names[0, 0]))}**" in words(at)
    own = next(frame.value for frame in at.dataframe if "this head" in frame.value).set_index("pattern")
    assert own.loc["Previous token", "this head"] == pytest.approx(patterns.previous_token[0, 0])
    at.session_state["named-heads"] = {"selection": {"cell": [{"q": 2, "k": 4}]}}
    at.run()
    assert (at.selectbox(key="layer").value, at.selectbox(key="head").value) == (3, 5)


def test_a_uniform_head_has_all_of_the_bag_of_words_of_a_causal_model() -> None:
    at = unfold(open_step("named-patterns", model="lab-gpt2", sinks="Kept"), "_own_scores")
    frame = next(frame.value for frame in at.dataframe if "this head" in frame.value).set_index("pattern")
    assert frame.loc["Bag of words", "uniform head"] == pytest.approx(1)
    assert frame.loc["Bag of words", "above chance"] == "no room"


def test_heads_are_taken_away_one_at_a_time_in_six_sentences() -> None:
    at = open_step("does-it-matter", text=STORY)
    found = attractions(cached_model())
    assert found is not None and len(at.get("vega_lite_chart")) == 1
    off = np.stack([each.off for each in found])
    lost = (off < 0.5).sum(0)[does_it_matter.strongest(off)]
    assert f"does so in **{lost}**" in words(at)


def test_a_model_that_takes_long_is_asked_only_at_a_click(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(does_it_matter, "_UNASKED", 0)
    at = open_step("does-it-matter", model="lab-bert")
    assert not at.get("vega_lite_chart") and "one run each of 6 sentences: about" in words(at)
    press(at, "Switch off each head")
    assert len(reveal(at).get("vega_lite_chart")) == 1


def test_own_sentences_are_averaged() -> None:
    traces = [lab.trace(lab.load_model(DEFAULT_MODEL), line) for line in OWN.splitlines() if line]
    at = open_step("many-sentences", source="Your own")
    assert "Paste your sentences above" in words(at)
    at.text_area(key="_lines").set_value(OWN).run()
    read(at)
    at.selectbox(key="_averaged").set_value("Function words").run()
    without, kept = (
        np.mean([specialization(each, only_words=left_out).values("function_words", True) for each in traces], axis=0)
        for left_out in (True, False)
    )
    assert f"**{without.max():.2f}** times" in words(at)
    crossed = np.count_nonzero((without > 1) != (kept > 1))
    assert f"{crossed} of {kept.size} heads would be on the other side of 1" in words(at)
    at.segmented_control(key="sinks").set_value("Kept").run()
    assert f"**{kept.max():.2f}** times" in words(at)
    go(at, "radar")
    go(at, "many-sentences")
    assert at.text_area(key="_lines").value == OWN  # kept while another step was on screen
    at.text_area(key="_lines").set_value("One line.\n" * 201).run()
    assert "first 200 of 201 lines" in words(at)


def test_a_survey_that_was_stopped_goes_on() -> None:
    at = open_step("many-sentences", source="Your own")
    lines = "First here.\nSecond there.\nThird one."
    at.text_area(key="_lines").set_value(lines).run()
    survey = head_survey(cached_model(), tuple(lines.split("\n")), True)
    survey.step(cached_model(), tagged, untrained_twin(cached_model()))
    at.run()
    assert "1 of 3 sentences are read" in words(at)
    assert "Go on: 1 of 3 sentences are read" in [button.label for button in at.main.button]
    read(at)
    assert survey.finished and "1 of 3" not in words(at)


def cached_model() -> lab.LoadedModel:
    return runs.model(DEFAULT_MODEL)


@pytest.fixture
def no_pipeline(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def fail() -> pipeline.Pipeline:
        raise pipeline.PipelineUnavailable("The spaCy pipeline en_lab cannot be loaded: gone. Restore the folder.")

    def clear() -> None:
        pipeline._once.cache_clear()
        runs._load_tagger.clear()
        runs._small_run.clear()  # with it goes what was read off the runs

    monkeypatch.setattr(pipeline, "load_pipeline", fail)
    clear()
    yield
    clear()


@pytest.mark.usefixtures("no_pipeline")
def test_without_a_pipeline_the_patterns_still_work() -> None:
    at = visit(PAGE, text=TEXT)
    assert tuple(walk(at)) == STEPS
    assert "Restore the folder" in words(go(at, "radar"))
    assert "is **" in words(unfold(go(at, "named-patterns"), "_own_scores"))
    assert "tagger is not available" in words(go(at, "many-sentences"))
