"""Every question of the lesson: exactly one right answer, found again by another way."""

from __future__ import annotations

import math
import re
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import lab
from lab.analysis.words.masking import masked_run
from lab.analysis.words.next_sentence import NextSentence
from lab.analysis.words.predictions import Candidate, Prediction
from lab.course.sentences.blanks import BLANKS
from lab.course.words import plain, share
from lab.lessons.masked_language_model.every_place import why_hidden, word_seen
from lab.lessons.masked_language_model.from_vector_to_word import all_shifted, other_raised, others_fall
from lab.lessons.masked_language_model.hide_words import subject_changed
from lab.lessons.masked_language_model.next_sentence import swapped
from lab.lessons.masked_language_model.view import asked_at
from lab.lessons.masked_language_model.writing_on import colder
from lab.models.loading import LoadedModel
from lab.models.reference import reference
from lab.questions.kinds import rises_or_falls
from lab.questions.question import MARGIN, Option, Question
from lab.questions.returning import Spot
from tests.sentences import BOYS

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
MODEL = lab.load_model("lab-bert")
LOGITS = np.array([3.0, 2.0, 1.5, 1.0, 0.5, -1.0, -2.0, 0.0])
WORDS = ("happy", "big", "ready", "up", "tired", "##ed", "<b>", "$x$")


def of(token_id: int, logits: np.ndarray = LOGITS, temperature: float = 1.0) -> Candidate:
    """A candidate whose numbers are computed here, apart from the code that is tested."""
    powers = [math.exp((value - max(logits)) / temperature) for value in logits]
    return Candidate(
        token_id,
        WORDS[token_id],
        float(logits[token_id]),
        powers[token_id],
        powers[token_id] / math.fsum(powers),
        1 + sum(value > logits[token_id] for value in logits),
    )


def best(count: int) -> list[Candidate]:
    return [of(token_id) for token_id in np.argsort(-LOGITS)[:count]]


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def texts(question: Question | None) -> set[str]:
    assert question is not None
    return {option.text for option in question.options}


def test_shares_never_read_as_certain_or_impossible_unless_they_are() -> None:
    assert [share(p) for p in (0.0, 0.12345, 0.0005, 0.0004, 3e-9, 0.9994, 0.9999, 1.0)] == [
        "0.000",
        "0.123",
        "0.001",
        "0.0004",
        "3e-09",
        "0.999",
        "more than 0.999",
        "1.000",
    ]


RISES, STAYS, FALLS = rises_or_falls(0.0)


@pytest.mark.parametrize(
    ("hidden", "visible", "text"),
    [
        (0.004, 0.9, RISES),
        (0.9, 0.93, STAYS),
        (0.5, 0.1, FALLS),
        (0.1, 0.148, None),
    ],
)
def test_shown_word_goes_the_way_the_numbers_go(hidden: float, visible: float, text: str | None) -> None:
    before, after = (Candidate(1, "big", 0.0, 0.0, p, 2) for p in (hidden, visible))
    question = word_seen(before, after)
    assert (None if question is None else answer(question).text) == text


def test_shifted_logits_leave_the_probability() -> None:
    before, after = of(2), of(2, LOGITS + 1)
    question = all_shifted(before)
    assert answer(question).text == f"{after.probability:.3f}"
    assert f"{before.probability * math.e:.3f}" in texts(question)


@given(st.lists(st.floats(-8, 8, width=32), min_size=8, max_size=8), st.sampled_from([0.5, 1.0, 2.0]))
def test_a_probability_falls_when_another_logit_grows(values: list[float], temperature: float) -> None:
    """By hand: the second word's logit grows by 2, and the third word is watched."""
    logits = np.array([*values, *[-30.0] * (MODEL.config.vocabulary - len(values))])
    prediction = Prediction(0, None, logits, temperature=temperature)
    second, third = prediction.best(3)[1:]
    grown = logits.copy()
    grown[second] += 2
    before, after = (float(np.exp(x / temperature)[third] / np.exp(x / temperature).sum()) for x in (logits, grown))
    question = other_raised(prediction, MODEL)
    assert (question is not None) == (before - after >= 0.005)
    if question is not None:
        assert answer(question).text == "It falls"
        assert f"from {share(before)} to {share(after)}" in answer(question).why


@given(st.lists(st.floats(-8, 8, width=32), min_size=8, max_size=8))
def test_any_logits_give_sound_questions_or_none(values: list[float]) -> None:
    logits = np.array(values)
    for each in range(8):
        question = all_shifted(of(each, logits))
        assert question is None or len(question.options) <= 4  # Question itself checks the rest


@torch.inference_mode()
def theirs(model: LoadedModel, text: str) -> Tensor:
    """(vocabulary,), Hugging Face's probabilities in the first blank, or after the text before it."""
    causal = model.config.causal
    ids = list(lab.trace(model, text.split(" [MASK]", maxsplit=1)[0] if causal else text).token_ids)
    module: Any = reference(model)
    out = module(torch.tensor([ids]))
    mask = model.mask
    row = out.logits[0, -1] if mask is None else out.prediction_logits[0, ids.index(mask[1])]
    probabilities: Tensor = row.double().softmax(-1)
    return probabilities


def probability(model: LoadedModel, text: str, word: str) -> float:
    token_id = model.tokenizer.token_to_id(f"Ġ{word}" if model.config.causal else word)
    assert token_id is not None
    return float(theirs(model, text)[token_id])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("blank", BLANKS)
def test_another_subject_is_really_run(name: str, blank: Any) -> None:
    model = lab.load_model(name)
    before, after = (probability(model, text, "were") for text in (blank.text, blank.changed))
    question = subject_changed(partial(lab.trace, model), model, blank)
    if abs(abs(after - before) - MARGIN) < 0.01:
        assert question is None
        return
    assert question is not None and share(before) in question.prompt
    right = question.options[question.answer]
    way = "rises" if after - before > MARGIN else "falls" if before - after > MARGIN else "stays"
    assert way in right.text
    told = re.findall(r"\d+(?:\.\d+)?e[+-]?\d+|\d\.\d+", right.why)
    assert [float(each) for each in told] == pytest.approx([before, after], abs=0.0006)


@pytest.mark.parametrize("name", ["lab-minilm", "lab-gpt2"])
def test_why_nothing_or_something_is_hidden(name: str) -> None:
    question = why_hidden(Spot.of(lab.trace(lab.load_model(name), BOYS.replace("[MASK]", "were"))))
    assert question is not None
    right = question.options[question.answer].text
    assert ("never sees the tokens after" in right) == (name == "lab-gpt2")
    assert ("read the word at" in right) == (name == "lab-minilm")


@pytest.mark.parametrize(("follows", "swapped_to", "text"), [(0.9, 0.2, FALLS), (0.9, 0.93, STAYS), (0.5, 0.555, None)])
def test_another_order_goes_the_way_the_numbers_go(follows: float, swapped_to: float, text: str | None) -> None:
    question = swapped(NextSentence(follows, swapped_to, (0.0, 0.0), (0.0, 0.0)))
    assert (None if question is None else answer(question).text) == text


@pytest.mark.parametrize("name", MODELS)
def test_a_question_on_screen_is_about_the_blank_that_is_there(name: str) -> None:
    """A spot at a blank is asked about this blank; any other spot about the last word of the text."""
    trace = lab.trace(lab.load_model(name), "The boys were playing in the garden.")
    found = asked_at(Spot(trace, 0, 0, 2, 2))
    assert found is not None and found[1] == (2 if name == "lab-gpt2" else 7)
    if name != "lab-gpt2":
        hidden = masked_run(trace, (2,))
        assert asked_at(Spot(hidden, 0, 0, 2, 2)) == (hidden, 2)


@pytest.mark.parametrize("text", ["The fish swam in the water.", "She opened the door.", "Once upon a time"])
def test_half_the_temperature_raises_what_it_asks_about(text: str) -> None:
    trace = lab.trace(lab.load_model("lab-gpt2"), text)
    module: Any = reference(trace.model)
    with torch.inference_mode():
        logits = module(torch.tensor([trace.token_ids])).logits[0].double()
    for place in range(len(trace)):
        before, after = (float((logits[place] / heat).softmax(0).max()) for heat in (1.0, 0.5))
        question = colder(Spot(trace, 0, 0, place, place))
        assert (question is not None) == (after - before > MARGIN)
        if question is not None:
            assert answer(question).text == "It rises"
            assert f"from {share(before)} to {share(after)}" in answer(question).why


def test_a_class_is_told_which_word_is_hidden() -> None:
    """The phone has no figure there, so the words before and after the blank say what was asked."""
    trace = lab.trace(MODEL, "The fish swam in the water.")
    asked = others_fall(Spot.of(trace))
    assert asked is not None and "the fish swam in the [MASK]" in plain(asked.about)
