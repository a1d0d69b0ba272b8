"""Every question about sentences has one right answer, recomputed here from the tensors."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads import is_causal
from lab.analysis.sentence_split import expected, split
from lab.analysis.sentences import InterSentence, inter_sentence
from lab.course import sentence_checks as ask
from lab.course.checks import Question
from lab.models.trace import Trace
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

TEXT = "The cat sat on the mat. It was tired! The dog chased the cat across the garden."


@pytest.fixture(params=["bert", "gpt2"])
def trace(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> Trace:
    family: Family = request.param
    return lab.trace(lab.load_model(tiny_checkpoint(family, seed=2)), TEXT)


def sentences_of(trace: Trace) -> InterSentence:
    return inter_sentence(trace, split(trace).of_token)


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def made(maximum: list[list[float]], mass: list[list[float]], removed: list[float]) -> InterSentence:
    members = tuple(np.array([3 * sentence, 3 * sentence + 1]) for sentence in range(len(maximum)))
    where = np.zeros((len(maximum), len(maximum), 4), dtype=np.int64)
    arrays = (np.array(each, dtype=np.float64) for each in (maximum, mass, mass, removed))
    top, sent, relative, gone = arrays
    return InterSentence(top, where, sent, relative, gone, members, renormalised=False)


def test_strongest_pair_is_the_largest_cell_off_the_diagonal() -> None:
    found = made([[0.9, 0.2, 0.3], [0.1, 0.9, 0.7], [0.4, 0.5, 0.9]], np.zeros((3, 3)).tolist(), [0.0] * 3)
    assert right(ask.strongest_pair(found)) == "From sentence 2 to sentence 3"
    hidden = made([[0.9, np.nan], [0.1, 0.9]], np.zeros((2, 2)).tolist(), [0.0] * 2)
    assert ask.strongest_pair(hidden) is None


@pytest.mark.parametrize(("back", "expected_text"), [(0.9, "Larger"), (0.1, "Smaller"), (0.5, "The same")])
def test_other_direction(back: float, expected_text: str) -> None:
    found = made([[0.9, 0.5], [back, 0.9]], np.zeros((2, 2)).tolist(), [0.0] * 2)
    assert right(ask.other_direction(found, 0, 1)) == expected_text
    assert ask.other_direction(found, 0, 0) is None


def test_other_direction_asks_nothing_unclear_or_unseen() -> None:
    for back in (0.53, np.nan):
        assert ask.other_direction(made([[1, 0.5], [back, 1]], [[0, 0], [0, 0]], [0, 0]), 0, 1) is None


def test_even_share_and_its_correction(trace: Trace) -> None:
    found, n, causal = sentences_of(trace), len(trace), is_causal(trace)
    sentence_of = split(trace).of_token
    a, b = 2, 0
    shares = []
    for query in (i for i, s in enumerate(sentence_of) if s == a):
        seen = [j for j in range(n) if not causal or j <= query]
        shares.append(sum(sentence_of[j] == b for j in seen) / len(seen))
    even = float(np.mean(shares))
    assert right(ask.even_share(found, n, expected(found, n, causal, a, b), a, b)) == f"{even:.3f}"
    assert right(ask.corrected(found, even, a, b)) == f"{found.mass[a, b] / even:.2f}"


def test_only_a_causal_model_has_empty_cells(trace: Trace) -> None:
    causal = is_causal(trace)
    question = ask.into_the_future(sentences_of(trace), causal)
    assert (question is not None) == causal == bool(np.isnan(sentences_of(trace).maximum[0, 1]))
    if causal:
        assert right(question) == "Its tokens cannot see what comes after them"


def test_to_specials_is_what_is_missing_to_one(trace: Trace) -> None:
    found = sentences_of(trace)
    question = ask.to_specials(found, 0, "[CLS] and [SEP]")
    assert (question is None) == is_causal(trace)
    if question is not None:
        assert right(question) == f"{1 - found.mass[0].sum():.3f}"


def test_one_weight_is_asked_where_maximum_and_mass_differ_most() -> None:
    found = made([[0.9, 0.8, 0.3], [0.3, 0.9, 0.2], [0.1, 0.1, 0.9]], np.full((3, 3), 0.1).tolist(), [0.7] * 3)
    question = ask.one_weight(found)
    assert right(question).startswith("In one head one token looks there hard")
    assert question is not None and "From sentence 1 to sentence 2" in question.prompt
    low = made([[0.9, 0.2], [0.2, 0.9]], np.full((2, 2), 0.1).tolist(), [0.7] * 2)
    assert ask.one_weight(low) is None


@pytest.mark.parametrize(
    ("paired", "text"), [(0.3, "It rises"), (0.1, "It falls"), (0.205, "It hardly moves"), (0.215, None)]
)
def test_pair_effect(paired: float, text: str | None) -> None:
    question = ask.pair_effect(0.2, paired, ("Text A", "Text B"))
    assert (None if question is None else right(question)) == text
