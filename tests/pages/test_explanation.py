"""The page of the experiment on explanations, as a visitor sees it."""

from __future__ import annotations

import pytest

from lab.experiments.explanation import learners_order, measure
from lab.experiments.explanation.measure import ExplanationTest, asked_texts, known
from lab.models.loading import load_model
from tests.checkpoints import Family
from tests.pages.apptest import Offer, claims, go, press, reveal, step_of, visit, words, worked
from tests.thorough import one_by_day, some

PAGE = "33_Explanation.py"
MODELS = ("lab-bert", "lab-gpt2")


def result_of(model_id: str) -> ExplanationTest:
    found = known(load_model(model_id))
    assert found is not None
    return found


@one_by_day
@pytest.mark.parametrize("model_id", MODELS)
def test_the_learner_s_order_is_scored_beside_the_methods(model_id: str) -> None:
    at = visit(PAGE, model=model_id)
    blank = "the mean of all word vectors" if model_id == "lab-gpt2" else "the mask, which the model knows"
    assert blank in words(at)
    at.multiselect[0].set_value([2, 0, 1]).run()
    for radio in at.radio:
        radio.set_value(0).run()
    press(at, "Commit and show")
    said = words(at)
    assert "You expected" in said and "your order" in said
    number = learners_order.example(load_model(model_id))
    sizes = abs(result_of(model_id).texts[number].importance.left_out)
    hits = len({2, 0, 1} & {*sorted(range(len(sizes)), key=lambda at: -sizes[at])[:3]})
    assert f"**{hits} of your 3 tokens**" in said
    (table,) = [frame.value for frame in at.dataframe if "your pick" in frame.value]
    names = learners_order.token_names(load_model(model_id), asked_texts(load_model(model_id))[number][2])
    assert table.set_index("token").loc[names[2], "your pick"] == 1
    press(at, "Ask me again")
    assert at.multiselect[0].value == [2, 0, 1]


@one_by_day
@pytest.mark.parametrize(("label", "title"), [("Flow", "Flow"), ("Lesson 9", "Masked-language model")])
@pytest.mark.parametrize("model_id", MODELS)
def test_a_text_leads_on(label: str, title: str, model_id: str) -> None:
    at = reveal(visit(PAGE, model=model_id))
    press(at, "Other texts")
    press(at, label)
    assert at.title[0].value == title and at.session_state["model"] == model_id
    assert at.text_area(key="text").value in {each.text for _, _, each in asked_texts(load_model(model_id))}
    assert label != "Flow" or step_of(at) == "rollout"


def test_lesson_4_and_the_flow_bench_lead_here() -> None:
    label = "The experiment Explanation: Is attention an explanation?"
    for at in (
        go(visit("4_Multi-head_attention.py"), "through-several-layers"),
        visit("53_Flow.py", step="rollout"),
    ):
        assert label in [link.proto.label for link in at.get("page_link")]


def test_a_model_without_a_vocabulary_head_is_told_why_not(offer: Offer) -> None:
    at = visit(PAGE, model=offer("electra"))
    assert "Not testable here" in words(at) and not at.radio and not at.dataframe


@pytest.mark.parametrize("family", some(["bert", "gpt2"], 1))
def test_a_small_model_is_measured_live(family: Family, offer: Offer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(measure.MEASUREMENT, "found", {})
    monkeypatch.setattr(measure, "TEXTS", 3)
    at = reveal(visit(PAGE, model=offer(family)))
    assert "not been measured yet" in words(at)
    press(at, "Run the experiment")
    worked(at)
    assert claims(at)["why"].str.contains("too few").all() and "measured on this server" in words(at)
