"""The page of an experiment: nothing of the result before the prediction, everything after, and the ways from it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import EXPERIMENTS, LESSONS, experiment_of
from lab.evidence.reasons import LABELS
from lab.evidence.relation_cases import Cases
from lab.evidence.shipped import model_hash
from lab.evidence.treebank import halves
from lab.evidence.verdicts import HOLDS, Verdict
from lab.evidence.word_kinds import Tags
from lab.experiments.grammar import measure
from lab.experiments.grammar.measure import GrammarTest, known
from lab.experiments.grammar.page import bet
from lab.models.batches import ProgressFunction
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.jobs import Stopped
from lab.models.loading import LoadedModel, load_model
from lab.ui import long_work
from tests.pages.apptest import Offer, claims, reveal, shows_claims, visit, words, worked

PAGE = "30_Grammar.py"
MODELS = ("lab-bert", "lab-gpt2")
Result = TypeVar("Result")


def result_of(model_id: str) -> GrammarTest:
    found = known(load_model(model_id))
    assert found is not None
    return found


def frames(at: AppTest, id: str) -> None:
    """The page says claim, paper and test, and has folded how it is tested and what would count against the claim."""
    experiment, said = experiment_of(id), words(at)
    assert experiment.claim in said and experiment.whose in said
    assert experiment.test in said and experiment.against in said
    assert "How it is tested" in [fold.label for fold in at.expander]


def everything(at: AppTest) -> str:
    """All that can be read, tables and buttons included."""
    tables = "\n".join(str(frame.value) for frame in at.dataframe)
    return "\n".join([words(at), tables, *(radio.label for radio in at.radio), *(b.label for b in at.button)])


@pytest.mark.parametrize("model_id", MODELS)
def test_nothing_of_the_result_before_the_prediction(model_id: str) -> None:
    at = visit(PAGE, model=model_id)
    said = everything(at)
    assert not shows_claims(at) and not at.get("vega_lite_chart") and not at.get("download_button")
    for row in result_of(model_id).rows:
        assert row.name not in said and f"{row.accuracy:.0%} right" not in said
    assert not [verdict for verdict in Verdict if LABELS[verdict] in said]
    frames(at, "grammar")


@pytest.mark.parametrize("model_id", MODELS)
def test_skipped_it_shows_every_number_and_verdict(model_id: str) -> None:
    at, found = reveal(visit(PAGE, model=model_id)), result_of(model_id)
    table = claims(at)
    assert table["verdict"].tolist() == [LABELS[row.judged.verdict] for row in found.rows]
    assert table["n"].tolist() == [f"{row.count:,}" for row in found.rows]
    for row, here in zip(found.rows, table["here"], strict=True):
        shares = row.right / row.count, row.offset_right / row.count, row.rule_right / row.count
        assert here.startswith(f"{row.name}: ") and all(f" {100 * share:.1f}" in here for share in shares)
    assert len(at.get("vega_lite_chart")) == 1 and not at.dataframe, "one figure, one table"
    assert all(each in words(at) for each in experiment_of("grammar").not_shown)
    assert "What this means" in words(at) and "You expected" not in words(at)
    assert "only looks back" in words(at) if model_id == "lab-gpt2" else "only looks back" not in words(at)
    assert found.made is not None and found.made.command in words(at)


def test_a_prediction_meets_what_was_measured() -> None:
    at, found = visit(PAGE), {row.relation: row for row in result_of(DEFAULT_MODEL).rows}
    assert at.button[0].label == "Commit and show" and at.button[0].disabled
    for radio in at.radio:
        radio.set_value(0).run()
    next(button for button in at.button if button.label == "Commit and show").click().run()
    assert not at.exception
    verdicts = [row.judged.verdict for row in found.values()]
    held, testable = sum(each in HOLDS for each in verdicts), len(verdicts) - verdicts.count(Verdict.NOT_TESTABLE)
    wrong = 2 * held <= testable  # the first option is that most relations have such a head
    assert f"In {held} of {testable} relations" in words(at)
    mine, other = (belief.text for belief in bet().beliefs)
    assert (f"You expected “{mine}”." in words(at)) == wrong
    assert (f"If “{other}” were right" in words(at)) != wrong
    next(button for button in at.button if button.label == "Ask me again").click().run()
    assert not shows_claims(at) and at.radio


def test_another_model_is_predicted_anew() -> None:
    at = reveal(visit(PAGE))
    at.sidebar.selectbox(key="model").select("lab-gpt2").run()
    assert not shows_claims(at) and at.radio


@pytest.mark.parametrize("model_id", MODELS)
def test_the_sentences_are_cases_of_the_table(model_id: str) -> None:
    at, found = reveal(visit(PAGE, model=model_id)), result_of(model_id)
    b = halves()[1].sentences
    for relation in ("det", "compound:prt"):
        at.selectbox(key="_experiment_relation").select(relation).run()
        assert not at.exception
        row = next(row for row in found.rows if row.relation == relation)
        assert f"is right in {row.right} of {row.count} cases" in words(at)
        shown = [caption.value for caption in at.caption if caption.value.startswith("Starting from **")]
        assert shown
        pairs = set()
        for sentence, dependent, head, named in found.cases[relation].tolist():
            asked, sought = (dependent, head) if row.end == 0 else (head, dependent)
            text = b[sentence].words
            said = f"names **{text[named]}**" if named >= 0 else "names nothing"
            pairs.add(f"Starting from **{text[asked]}**, the head should name **{text[sought]}**. It {said}")
        assert all(any(each.replace("\\", "").startswith(pair) for pair in pairs) for each in shown)


@pytest.mark.parametrize(("label", "title"), [("Head view", "Head view"), ("Lesson 6", "Head specialization")])
def test_a_sentence_leads_on_with_its_head(label: str, title: str) -> None:
    at = reveal(visit(PAGE, model="lab-gpt2"))
    at.selectbox(key="_experiment_relation").select("det").run()
    row = next(row for row in result_of("lab-gpt2").rows if row.relation == "det")
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception, at.exception[0].stack_trace
    assert at.title[0].value == title and at.session_state["model"] == "lab-gpt2"
    assert (at.session_state["layer"], at.session_state["head"]) == (row.layer + 1, row.head + 1)
    texts = {" ".join(sentence.words) for sentence in halves()[1].sentences}
    assert at.text_area(key="text").value in texts


def test_the_lesson_leads_here_and_back() -> None:
    for experiment in EXPERIMENTS:
        lessons = [lesson for lesson in LESSONS if lesson.id in experiment.after]
        assert lessons
        for lesson in lessons:
            at = visit(lesson.page.removeprefix("pages/"), step="check")
            label = f"The experiment {experiment.title}: {experiment.question}"
            assert label in [link.proto.label for link in at.get("page_link")]
            back = visit(experiment.page.removeprefix("pages/"))
            assert any(lesson.title in link.proto.label for link in back.get("page_link"))


def test_any_other_model_runs_in_the_background_and_can_be_stopped(
    offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, go_on = threading.Event(), threading.Event()
    made = result_of("lab-bert")

    def replicate(model: LoadedModel, progress: long_work.ProgressFunction) -> GrammarTest:
        progress(0.25)
        begun.set()
        assert go_on.wait(20)
        progress(0.5)
        return replace(made, made=None)

    monkeypatch.setattr(measure.MEASUREMENT, "replicate", replicate)
    monkeypatch.setattr(measure.MEASUREMENT, "found", {})
    at = reveal(visit(PAGE, model=offer("bert")))
    assert "not been measured yet" in words(at) and not shows_claims(at)
    press(at, "Run the experiment")
    assert begun.wait(20)
    at.run()
    (bar,) = at.get("progress")
    assert bar.proto.value == 25 and "keep working" in words(at)
    press(at, "Stop")
    go_on.set()
    at.run()
    assert "not been measured yet" in words(at) and not at.get("progress")
    press(at, "Run the experiment")
    worked(at)
    assert shows_claims(at) and "measured on this server" in words(at)


def test_a_model_that_reads_nothing_whole_is_refused(offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    name = offer("bert")
    from lab.ui import runs

    cases = _no_cases(runs.trained(name))
    none = measure.compared(measure.Named(cases, cases, Tags((), ())), 0, [0])
    monkeypatch.setattr(measure.MEASUREMENT, "found", {model_hash(runs.trained(name)): none})
    at = reveal(visit(PAGE, model=name))
    assert "the claim cannot be tested on it" in words(at) and not shows_claims(at)


def test_a_class_sees_the_question_and_a_button() -> None:
    at = visit(PAGE, teach="1")
    assert not shows_claims(at) and not at.radio
    press(at, "Reveal")
    assert shows_claims(at)


def _no_cases(model: LoadedModel) -> Cases:
    none = np.empty(0, np.int64)
    named = np.empty((0, model.config.layers, model.config.heads, 2), np.int16)
    return Cases(False, (), none, none, none, named)


def press(at: AppTest, label: str) -> None:
    next(button for button in at.button if button.label == label).click().run()
    assert not at.exception, at.exception[0].stack_trace


def endless_at_first(made: Result) -> tuple[Callable[[LoadedModel, ProgressFunction], Result], list[bool]]:
    """An experiment whose first run lasts until it is stopped, and whose next one finds ``made``; what was stopped."""
    stopped: list[bool] = []

    def replicate(_: LoadedModel, progress: ProgressFunction) -> Result:
        if not stopped:
            try:
                while True:
                    progress(0.5)
            except Stopped:
                stopped.append(True)
                raise
        return made

    return replicate, stopped
