"""The page of an experiment: nothing of the result before the prediction, everything after, and the ways from it."""

from __future__ import annotations

import threading
from dataclasses import replace
from importlib import import_module
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from lab.course.pages import EXPERIMENTS, LESSONS, ExperimentRecord
from lab.course.words import plain
from lab.evidence.reasons import IN_SHORT, LABELS
from lab.evidence.relation_cases import Cases
from lab.evidence.shipped import model_hash
from lab.evidence.treebank import halves
from lab.evidence.verdicts import Verdict
from lab.evidence.word_kinds import Tags
from lab.experiments.grammar import measure
from lab.experiments.grammar.measure import GrammarTest, known
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import LoadedModel, load_model
from lab.ui import long_work
from lab.ui.experiments import page
from lab.ui.experiments.claim_table import frame
from lab.ui.experiments.experiment import Experiment
from tests.pages.apptest import Offer, claims, press, reveal, shows_claims, visit, words, worked
from tests.pages.test_words_of_steps import count, unfolded
from tests.thorough import one_by_day

PAGE = "30_Grammar.py"
# Words that a page may have, without what one has to open, and after the bet without the table.
BEFORE, AFTER = 270, 520


def result_of(model_id: str) -> GrammarTest:
    found = known(load_model(model_id))
    assert found is not None
    return found


def everything(at: AppTest) -> str:
    """All that can be read, tables and buttons included."""
    tables = "\n".join(str(frame.value) for frame in at.dataframe)
    return "\n".join([words(at), tables, *(radio.label for radio in at.radio), *(b.label for b in at.button)])


def folds(at: AppTest) -> list[str]:
    return [fold.label for fold in at.main.expander if fold.label != "Papers"]


def commit(at: AppTest) -> AppTest:
    """Take the first of each options, and commit."""
    assert next(button for button in at.button if button.label == "Commit and show").disabled
    for radio in at.radio:
        radio.set_value(0).run()
    press(at, "Commit and show")
    return at


@one_by_day
@pytest.mark.parametrize("model_id", [DEFAULT_MODEL, "lab-gpt2"])
def test_the_result_is_shown_after_the_prediction_only(model_id: str) -> None:
    assert set(IN_SHORT) == set(Verdict) == set(LABELS)
    model, shown = load_model(model_id), 0
    for record in EXPERIMENTS:
        experiment = import_module(f"lab.experiments.{record.id.replace('-', '_')}.page").EXPERIMENT
        if (found := experiment.measurement.known(model)) is None:
            continue
        at = visit(record.page.removeprefix("pages/"), model=model_id)
        sees_nothing(at, record, experiment.claims(found))
        commit(at)
        decided = experiment.decided(found)
        told = "Not decided" if decided is None else experiment.bet(model).told(decided, 0)
        assert plain(told) in plain(words(at)), record.id
        sees_all(at, record, experiment, found, model_id)
        shown += 1
    assert shown == len(EXPERIMENTS) - (model_id != "lab-gpt2")  # who sees the whole text cannot copy


def sees_nothing(at: AppTest, record: ExperimentRecord, lines: list[Any]) -> None:
    """The page says claim, paper and test, and nothing of the result."""
    said = everything(at)
    assert all(each in said for each in (record.claim, record.whose, record.test, record.against)), record.id
    assert not shows_claims(at) and not at.dataframe, record.id
    assert not at.get("vega_lite_chart") and not at.get("download_button"), record.id
    assert not [each for line in lines for each in (line.here, line.verdict) if each in said], record.id
    assert count([*unfolded(at.main)]) <= BEFORE and folds(at) == ["How it is tested"], record.id


def sees_all(at: AppTest, record: ExperimentRecord, experiment: Experiment[Any], found: Any, model_id: str) -> None:
    """The page has the table with its verdicts explained, one figure, its meaning, its limits and its origin."""
    table, said = claims(at), words(at)
    right = frame(experiment.claims(found))[list(table)]
    assert table.to_numpy().tolist() == right.to_numpy().tolist(), record.id
    assert all(IN_SHORT[line.judged.verdict] in said for line in experiment.claims(found)), record.id
    assert plain(experiment.meaning(found, model_id)) in plain(said), record.id
    assert len(record.not_shown) == 3 and all(each in said for each in record.not_shown), record.id
    assert record.disclosed.get(model_id, "") in said, record.id
    assert found.made.command in said and at.get("vega_lite_chart"), record.id
    assert count([*unfolded(at.main)]) <= AFTER and len(folds(at)) == 2, record.id


def test_a_bet_can_be_made_again_and_another_model_is_predicted_anew() -> None:
    at = reveal(visit(PAGE))
    assert shows_claims(at) and "You expected" not in words(at)
    press(at, "Ask me again")
    assert not shows_claims(at) and at.radio
    reveal(at)
    at.sidebar.selectbox(key="model").select("lab-gpt2").run()
    assert not shows_claims(at) and at.radio


@pytest.mark.parametrize(("label", "title"), [("Head view", "Head view"), ("Lesson 6", "Head specialization")])
def test_a_sentence_leads_on_with_its_head(label: str, title: str) -> None:
    at = reveal(visit(PAGE, model="lab-gpt2"))
    at.selectbox(key="_experiment_relation").select("det").run()
    row = next(row for row in result_of("lab-gpt2").rows if row.relation == "det")
    press(at, label)
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


def test_a_run_that_ends_while_the_page_is_drawn_waits_for_the_next_run_of_the_page(
    offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its result would bring a second button for the same run."""
    offered, made = threading.Event(), result_of("lab-bert")
    draw_offer = page._offer_run

    def ends(*arguments: Any) -> None:
        draw_offer(*arguments)
        offered.set()

    monkeypatch.setattr(page, "_offer_run", ends)
    monkeypatch.setattr(type(measure.MEASUREMENT), "known", lambda *_: made if offered.is_set() else None)
    at = reveal(visit(PAGE, model=offer("bert")))
    assert offered.is_set() and not shows_claims(at)
    assert shows_claims(at.run())


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
