"""Every question about a prediction: exactly one right answer, and it is the right one."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import lab
from lab.analysis.words.masking import masked_run
from lab.analysis.words.predictions import Candidate, Prediction, candidates, prediction_at
from lab.course.words import quoted, share
from lab.lessons.masked_language_model import checks
from lab.questions.kinds import rises_or_falls
from lab.questions.question import Option, Question

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


def test_best_word_is_the_first_candidate() -> None:
    question = checks.best_word("Which?", best(4), of(2), len(LOGITS))
    assert answer(question).text == "“\u2068happy\u2069”"
    assert len(texts(question)) == 4
    assert f"{of(0).probability:.3f}" in answer(question).why


def test_the_true_word_is_offered_wherever_it_ranks() -> None:
    question = checks.best_word("Which?", best(4), of(5), len(LOGITS))
    assert question is not None
    (true,) = (option for option in question.options if "ed" in option.text and "tired" not in option.text)
    assert "the word in your text" in true.why
    assert "rank 7 of 8" in true.why
    assert len(question.options) == 4


def test_two_words_that_come_too_close_are_no_question() -> None:
    first = of(0)
    second = Candidate(1, "big", first.logit, first.exponential, first.probability / 1.05, 2)
    assert checks.best_word("Which?", [first, second], None, len(LOGITS)) is None
    assert checks.best_word("Which?", [first], None, 1) is None


def test_markup_in_a_word_stays_a_word() -> None:
    question = checks.best_word("Which?", best(4), of(6), len(LOGITS))
    assert "“\u2068\\<b\\>\u2069”" in texts(question)


@given(st.lists(st.floats(-3, 3, width=32), min_size=8, max_size=8), st.sampled_from([0.5, 1.0, 2.0]))
def test_a_probability_falls_when_another_logit_grows(values: list[float], temperature: float) -> None:
    """By hand: the second word's logit grows by 2, and the third word is watched."""
    logits = np.array(values)
    prediction = Prediction(0, None, logits, temperature=temperature)
    ranked = [of(i, logits, temperature) for i in prediction.best(3)]
    question = checks.others_fall(prediction, ranked)
    grown = logits.copy()
    grown[ranked[1].token_id] += 2
    before, after = (
        float(np.exp(x / temperature)[ranked[2].token_id] / np.exp(x / temperature).sum()) for x in (logits, grown)
    )
    assert (question is not None) == (before - after >= 0.005)
    if question is not None:
        assert answer(question).text == "It falls"
        assert f"from {share(before)} to {share(after)}" in answer(question).why


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
    question = checks.shown_word(before, after)
    assert (None if question is None else answer(question).text) == text


def test_shifted_logits_leave_the_probability() -> None:
    before, after = of(2), of(2, LOGITS + 1)
    question = checks.shifted(before)
    assert answer(question).text == f"{after.probability:.3f}"
    assert f"{before.probability * math.e:.3f}" in texts(question)


def test_tempered_squares_and_renormalises() -> None:
    question = checks.tempered(Prediction(0, None, LOGITS, temperature=1.7), of(0))
    squares = [of(i).probability ** 2 for i in range(len(LOGITS))]
    assert answer(question).text == f"{squares[0] / math.fsum(squares):.3f}"


@given(st.lists(st.floats(-8, 8, width=32), min_size=8, max_size=8), st.integers(0, 7))
def test_any_logits_give_sound_questions_or_none(values: list[float], truth: int) -> None:
    logits = np.array(values)
    prediction = Prediction(0, truth, logits)
    ranked = [of(i, logits) for i in prediction.best(8)]
    questions = [
        checks.best_word("Which?", ranked[:4], of(truth, logits), 8),
        checks.others_fall(prediction, ranked[:3]),
        checks.tempered(prediction, ranked[0]),
        *(checks.shifted(each) for each in ranked),
    ]
    for question in questions:
        assert question is None or len(question.options) <= 4  # Question itself checks the rest


def test_the_next_best_word_is_asked_where_the_best_one_is_on_screen() -> None:
    """The right answer is the second of the model's own words, and the first is none of the options."""
    asked = 0
    for name in ("lab-minilm", "lab-bert"):
        model = lab.load_model(name)
        for text in ("The fish swam in the water.", "She opened the door and walked in.", "The boys were in the park."):
            trace = lab.trace(model, text)
            for place in range(1, len(trace) - 1):
                best = candidates(prediction_at(masked_run(trace, (place,)), place, None), 5, model.tokenizer)
                question = checks.next_best_word("Before.", best, model.config.vocabulary)
                led = best[1].probability >= 1.1 * best[2].probability
                assert (question is not None) == led
                if question is not None:
                    asked += 1
                    assert question.options[question.answer].text == quoted(best[1].word)
                    assert quoted(best[0].word) not in [option.text for option in question.options]
    assert asked
