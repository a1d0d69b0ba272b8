"""Every question of the embeddings lesson: exactly one right answer, and it is the right one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import lab
from lab.lessons.embeddings import learned_or_computed, like_words, position_lab, sum
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, numeric
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from lab.toy.models import constructed_toy
from tests.checkpoints import Family, write_checkpoint
from tests.sentences import CAT

TEXTS = (CAT, "She opened the door.", "the the the the the dog")


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Trace]:
    family: Family = request.param
    folder: Path = tmp_path_factory.mktemp("questions") / family
    model = lab.load_model(write_checkpoint(folder, family, seed=3))
    return [lab.trace(model, text) for text in TEXTS]


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def spot(trace: Trace, token: int = 0) -> Spot:
    return Spot(trace, 0, 0, token, 0)


def test_after_reordering_the_answer_is_the_run_s(traces: list[Trace]) -> None:
    question = position_lab.after_reordering(spot(traces[0]))
    expected = "The vectors" if traces[0].model.config.causal else "Each token takes its vector along"
    assert answer(question).text.startswith(expected)
    same = lab.trace(traces[0].model, "the")
    order = tuple(same.token_ids[::-1])
    assert (position_lab.after_reordering(spot(same)) is None) == (same.token_ids == order)


def test_only_a_place_that_is_added_changes_the_first_vector(traces: list[Trace]) -> None:
    """Held against the first vectors of the same token in other places, and beside other words."""
    model = traces[0].model
    first, other = (lab.trace(model, text) for text in ("a the cat the", "a the dog the"))
    here = next(place for place, token in enumerate(first.token_ids) if first.token_ids.count(token) > 1)
    there = len(first) - 1 - first.token_ids[::-1].index(first.token_ids[here])
    own, moved, beside_others = first.embeddings.sum[here], first.embeddings.sum[there], other.embeddings.sum[here]
    assert answer(sum.what_changes(spot(first, here))).text.startswith("Another place")
    assert not own.equal(moved) and own.equal(beside_others)


def test_a_learned_table_of_places_ends(traces: list[Trace]) -> None:
    model = traces[0].model
    table, said = model.weights.embeddings.position, answer(learned_or_computed.no_row_left(spot(traces[0]))).why
    assert table is not None and f"rows for {model.config.max_tokens} places" in said
    assert model.config.max_tokens + model.config.position_offset == len(table)


def test_parallel_vectors_have_the_cosine_1() -> None:
    assert np.dot([3.0, 4.0], [6.0, 8.0]) / (5 * 10) == 1
    asked = like_words.cosine_of_one(spot(lab.trace(constructed_toy(2, 4), "a b")))
    assert answer(asked).text.startswith("They point the same way")


def test_numeric_leaves_out_what_rounding_could_confuse() -> None:
    wrong = {1.05: "near", 2.0: "twice", -1.0: "negative", 4.0: "four times", 8.0: "eight times"}
    question = numeric("id", "How much?", (1.0, "right"), wrong, Quantity("{:.2f}".format))
    assert question is not None
    assert {option.text for option in question.options} == {"1.00", "2.00", "−1.00", "4.00"}
    assert answer(question).why == "right"
    assert numeric("id", "How much?", (1.0, "right"), {1.05: "near", 2.0: "twice"}, Quantity(str)) is None


def test_tokens_in_questions_are_escaped(traces: list[Trace]) -> None:
    trace = lab.trace(traces[0].model, ". . .")
    asked = sum.what_changes(spot(trace, trace.encoding.special.count(True) // 2))
    assert asked is not None and "\\." in asked.prompt
