"""The page of the experiment on needed heads, as a visitor sees it."""

from __future__ import annotations

import pytest

from lab.experiments.needed_heads.claims import NEEDED
from lab.experiments.needed_heads.learners_head import heads_of, without
from lab.experiments.needed_heads.measure import NeededTest, known
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import load_model
from tests.pages.apptest import Offer, press, reveal, shows_claims, visit, words

PAGE = "32_Needed_heads.py"
MODELS = ("lab-bert", "lab-gpt2")


def result_of(model_id: str) -> NeededTest:
    found = known(load_model(model_id))
    assert found is not None
    return found


@pytest.mark.parametrize("model_id", MODELS)
def test_any_head_can_be_removed(model_id: str) -> None:
    at, found = reveal(visit(PAGE, model=model_id)), result_of(model_id)
    assert without(found, heads_of(found)[0]) in words(at)
    head = heads_of(found)[-1]
    at.selectbox(key="_experiment_head").select(head).run()
    assert without(found, head) in words(at)


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


def test_a_vocabulary_without_the_words_is_told_so(offer: Offer) -> None:
    at = visit(PAGE, model=offer("bert"))
    assert "too few of the words" in words(at) and not at.radio and not shows_claims(at)
