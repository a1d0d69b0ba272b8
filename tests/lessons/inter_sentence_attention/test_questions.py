"""Every question about sentences has one right answer, recomputed here from the tensors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import lab
from lab.analysis.heads.values import is_causal
from lab.analysis.sentences.attention import InterSentence, inter_sentence
from lab.analysis.sentences.split import aside, split
from lab.course.pages import lesson_of
from lab.lessons.inter_sentence_attention import LESSON, matrix, shuffled, special_tokens
from lab.models.trace import Trace
from lab.questions.question import Question
from lab.questions.spot import Spot
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXT = "The cat sat on the mat. It was tired! The dog chased the cat across the garden."


@pytest.fixture(params=["bert", "gpt2"])
def trace(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Trace:
    family: Family = request.param
    return lab.trace(lab.load_model(tiny_checkpoint(family, seed=2)), TEXT)


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def made(maximum: list[list[float]], mass: list[list[float]], removed: list[float]) -> InterSentence:
    members = tuple(np.array([3 * sentence, 3 * sentence + 1]) for sentence in range(len(maximum)))
    where = np.zeros((len(maximum), len(maximum), 4), dtype=np.int64)
    arrays = (np.array(each, dtype=np.float64) for each in (maximum, mass, mass, removed))
    top, sent, relative, gone = arrays
    return InterSentence(top, where, sent, relative, gone, members, renormalised=False)


def test_where_it_goes_is_the_largest_share_of_a_row() -> None:
    ones = np.ones((3, 3)).tolist()
    found = made(ones, [[0.2, 0.1, 0.1], [0.5, 0.3, 0.1], [0.3, 0.31, 0.3]], [0.6, 0.1, 0.09])
    assert right(special_tokens._where_it_goes(found, 0, "[CLS] and [SEP]")) == "[CLS] and [SEP]"
    assert right(special_tokens._where_it_goes(found, 1, "[CLS] and [SEP]")) == "Sentence 1"
    assert special_tokens._where_it_goes(found, 2, "[CLS] and [SEP]") is None  # nothing leads clearly
    causal = made([[1, np.nan], [1, 1]], [[0.8, 0.0], [0.2, 0.5]], [0.2, 0.3])
    question = special_tokens._where_it_goes(causal, 0, "the first token")
    assert question is not None and {option.text for option in question.options} == {
        "Sentence 1 itself",
        "The first token",
    }


def test_where_it_goes_of_a_trace(trace: Trace) -> None:
    """The largest of the row's sums over sentences, and over what stands aside, summed here by hand."""
    sentences = split(trace)
    others = aside(trace, sentences)
    assert others is not None
    question = special_tokens._where_it_goes(inter_sentence(trace, others), 1, "the rest")
    attention = trace.attention.numpy().mean(axis=(0, 1))[[i for i, s in enumerate(others) if s == 1]].mean(axis=0)
    shares = {
        name: attention[[s == number for s in others]].sum()
        for name, number in (("Sentence 1", 0), ("Sentence 2 itself", 1), ("Sentence 3", 2), ("The rest", None))
    }
    best, second = sorted(shares.values(), reverse=True)[:2]
    if best - second < 0.05:
        assert question is None
    else:
        assert right(question) == max(shares, key=shares.__getitem__)


def test_only_a_causal_model_has_empty_cells(trace: Trace) -> None:
    question = matrix.into_the_future(Spot(trace, 0, 0, 1, 2))
    empty = bool(np.isnan(inter_sentence(trace, split(trace).of_token).maximum[0, 1]))
    assert (question is not None) == is_causal(trace) == empty
    if empty:
        assert "cannot see" in right(question)


def test_one_weight_is_asked_where_maximum_and_mass_differ_most() -> None:
    found = made([[0.9, 0.8, 0.3], [0.3, 0.9, 0.2], [0.1, 0.1, 0.9]], np.full((3, 3), 0.1).tolist(), [0.7] * 3)
    question = matrix._one_weight(found)
    assert right(question).startswith("The map is a mean")
    assert question is not None and "sentence 1 gives only 10% to sentence 2" in question.prompt
    assert "80% of its attention to one token of sentence 2" in question.prompt
    low = made([[0.9, 0.2], [0.2, 0.9]], np.full((2, 2), 0.1).tolist(), [0.7] * 2)
    assert matrix._one_weight(low) is None


def test_why_less_is_asked_where_length_turns_the_order() -> None:
    """Sentence 2 has six tokens of eleven, sentence 3 two; sentence 1 sends them 0.5 and 0.3."""
    mass = np.array([[0.2, 0.5, 0.3], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])
    members = (np.arange(3), np.arange(3, 9), np.arange(9, 11))
    even = np.array([3, 6, 2]) / 11
    found = replace(made(np.ones((3, 3)).tolist(), mass.tolist(), [0, 0, 0]), members=members, relative=mass / even)
    question = matrix._why_less(found)
    assert right(question) == "Sentence 2 is longer"
    assert question is not None and "gives 50% to sentence 2 and only 30% to sentence 3" in question.prompt
    assert "0.92 times and 1.65 times" in question.prompt
    assert matrix._why_less(replace(found, relative=mass / (1 / 3))) is None


def test_the_longer_sentence_gets_more_from_a_uniform_head(trace: Trace) -> None:
    question = matrix.longer_gets_more(Spot(trace, 0, 0, 1, 2))
    sizes = [len(split(trace).places(number)) for number in range(3)]
    if is_causal(trace):
        assert question is None
    else:
        assert right(question) == f"Sentence {int(np.argmax(sizes)) + 1}"


def test_a_question_says_that_special_tokens_are_left_out() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), lesson_of(LESSON).text)
    spot = Spot(trace, 0, 0, 1, 12)
    for asked in (matrix.why_less(spot), matrix.one_weight(spot)):
        assert asked is None or "(Without" in asked.prompt
    assert aside(trace, split(trace)) is not None


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_nearness_is_named_if_it_makes_the_larger_difference(model: str) -> None:
    trace = lab.trace(lab.load_model(model), lesson_of(LESSON).text)
    found, question = shuffled.orders(trace), shuffled.near_or_related(Spot(trace, 0, 0, 1, 2))
    assert found is not None
    if abs(found.by_nearness - found.by_text) < 0.1:
        assert question is None
    else:
        near = found.by_nearness > found.by_text
        assert right(question).startswith("Where they are" if near else "What they say")


def test_nothing_is_asked_of_a_single_sentence() -> None:
    spot = Spot.of(lab.trace(lab.load_model("lab-bert"), "The cat sat on the mat."))
    asked = (
        matrix.why_less,
        matrix.one_weight,
        matrix.longer_gets_more,
        special_tokens.where_it_goes,
        shuffled.near_or_related,
    )
    assert all(each(spot) is None for each in asked)
