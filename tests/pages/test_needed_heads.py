"""The page of the experiment on needed heads, as a visitor sees it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from lab.course.pages import experiment_of
from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import Verdict
from lab.experiments.needed_heads import measure
from lab.experiments.needed_heads.claims import NEEDED, name_of
from lab.experiments.needed_heads.measure import NeededTest, known
from lab.experiments.needed_heads.page import CLAIMS
from lab.experiments.needed_heads.try_it import heads_of, without
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from lab.ui.experiments.claim_table import NOTHING
from tests.pages.apptest import Offer, claims, reveal, shows_claims, visit, words, worked
from tests.pages.test_experiments import endless_at_first, everything, frames, press

PAGE = "32_Needed_heads.py"
MODELS = ("lab-bert", "lab-gpt2")


def result_of(model_id: str) -> NeededTest:
    found = known(load_model(model_id))
    assert found is not None
    return found


def test_nothing_of_the_result_before_the_prediction() -> None:
    at, found = visit(PAGE), result_of(DEFAULT_MODEL)
    said = everything(at)
    assert not shows_claims(at) and not at.get("vega_lite_chart") and not at.get("download_button")
    assert name_of(found.effect.largest) not in said
    assert not [verdict for verdict in Verdict if LABELS[verdict] in said]
    frames(at, "needed-heads")


@pytest.mark.parametrize("model_id", MODELS)
def test_skipped_it_shows_every_number_and_verdict(model_id: str) -> None:
    at, found = reveal(visit(PAGE, model=model_id)), result_of(model_id)
    table = claims(at)
    assert table["claim"].tolist() == list(CLAIMS.values())
    assert table["verdict"].tolist() == [LABELS[row.judged.verdict] for row in found.rows]
    assert table["n"].tolist() == [*(f"{row.count:,}" for row in found.rows[:-1]), NOTHING], (
        "nothing was measured for the last"
    )
    for row, here in zip(found.rows[:-1], table["here"], strict=False):
        assert all(f"{100 * way.ours:.1f}".replace("-", "−") in here for way in (row.zero, row.mean))
    assert len(at.get("vega_lite_chart")) == 1 and not at.dataframe, "one figure, one table"
    assert "What this means" in words(at)
    assert all(each in words(at) for each in experiment_of("needed-heads").not_shown)
    assert found.made is not None and found.made.command in words(at)


def test_a_prediction_meets_what_was_measured() -> None:
    at = visit(PAGE)
    for radio in at.radio:
        radio.set_value(0).run()
    press(at, "Commit and show")
    assert re.search("You expected “.*”. In that case, |If “.*” were right", words(at))


@pytest.mark.parametrize("model_id", MODELS)
def test_any_head_can_be_removed(model_id: str) -> None:
    at, found = reveal(visit(PAGE, model=model_id)), result_of(model_id)
    assert without(found, heads_of(found)[0]) in words(at)
    head = heads_of(found)[-1]
    at.selectbox(key="_experiment_head").select(head).run()
    assert not at.exception and without(found, head) in words(at)
    turned = int(((found.changed[head] > 0) != (found.plain > 0)).sum())
    assert len([each for each in at.caption if "form now wins" in each.value]) <= turned
    at.sidebar.selectbox(key="model").select(DEFAULT_MODEL).run()
    assert not at.exception


@pytest.mark.parametrize("model_id", MODELS)
def test_a_pair_leads_to_the_lesson_that_asks_it(model_id: str) -> None:
    at = reveal(visit(PAGE, model=model_id))
    press(at, "Lesson 9")
    assert at.title[0].value == "Masked-language model" and at.session_state["model"] == model_id
    text, texts = at.text_area(key="text").value, [each.text for each in result_of(model_id).pairs]
    assert text is not None
    if model_id == "lab-gpt2":
        assert [each for each in texts if each.startswith(text + " _")]
    else:
        assert text.replace("[MASK]", "_") in texts


def test_a_pair_leads_to_the_head_that_was_away() -> None:
    at, found = reveal(visit(PAGE)), result_of(DEFAULT_MODEL)
    press(at, "Other pairs")
    press(at, "Lesson 3")
    (head,) = found.row(NEEDED).heads
    assert at.title[0].value == "Self-attention"
    assert (at.session_state["layer"], at.session_state["head"]) == (head[0] + 1, head[1] + 1)
    text = (at.text_area(key="text").value or "").split()
    assert "[MASK]" in text[at.session_state["token"] - 2]  # behind [CLS]


def test_a_head_of_lesson_6_is_known_again_and_leads_back() -> None:
    at, found = reveal(visit(PAGE)), result_of(DEFAULT_MODEL)
    layer, head = found.row(NEEDED).heads[0]
    assert f"You have met layer {layer + 1}, head {head + 1} in lesson 6." in words(at)
    press(at, "Back to lesson 6")
    assert at.title[0].value == "Head specialization"
    assert (at.session_state["layer"], at.session_state["head"]) == (layer + 1, head + 1)
    assert "You have met" not in words(reveal(visit(PAGE, model="lab-bert")))


def test_the_lesson_leads_here_at_its_end() -> None:
    at = visit("4_Multi-head_attention.py", step="check")
    assert [link for link in at.get("page_link") if "The experiment Needed heads" in link.proto.label]


def test_any_other_model_runs_in_the_background_and_can_be_stopped(
    offer: Offer, monkeypatch: pytest.MonkeyPatch
) -> None:
    replicate, stopped = endless_at_first(replace(result_of("lab-bert"), made=None))
    monkeypatch.setattr(measure.MEASUREMENT, "replicate", replicate)
    monkeypatch.setattr(measure.MEASUREMENT, "check", lambda _: None)
    monkeypatch.setattr(measure.MEASUREMENT, "found", {})
    monkeypatch.setattr(measure.MEASUREMENT, "data_hash", lambda: "of other pairs")  # so that nothing ships
    at = reveal(visit(PAGE, model="lab-bert"))
    assert "not been measured yet" in words(at) and "two minutes or less" in words(at) and not shows_claims(at)
    press(at, "Run the experiment")
    press(at, "Stop")
    worked(at)
    assert stopped and "not been measured yet" in words(at)
    press(at, "Run the experiment")
    worked(at)
    assert shows_claims(at) and "measured on this server" in words(at)


def test_a_vocabulary_without_the_words_is_told_so(offer: Offer) -> None:
    at = visit(PAGE, model=offer("bert"))
    assert "too few of the words" in words(at) and not at.radio and not shows_claims(at)
