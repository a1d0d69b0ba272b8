"""Every question of the embeddings lesson: exactly one right answer, and it is the right one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.analysis.layers.embeddings import Gap, parts, permutation_gap
from lab.lessons.embeddings import checks
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, numeric
from lab.questions.question import Option, Question
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


def test_a_repeated_word_has_one_token_vector_and_two_sums(traces: list[Trace]) -> None:
    trace = traces[2]
    question = checks.same_word(trace, parts(trace))
    assert all(told in answer(question).text for told in ("token vectors are equal", "sums differ"))
    found = re.findall(r"is token (\d+) and token (\d+)", question.prompt if question else "")
    first, second = (int(each) - 1 for each in found[0])
    assert trace.token_ids[first] == trace.token_ids[second]
    apart = (trace.embeddings.sum[first] - trace.embeddings.sum[second]).abs().max().item()
    assert f"{apart:.3f}" in answer(question).why
    once = lab.trace(trace.model, "cat")
    assert checks.same_word(once, parts(once)) is None


def test_after_reordering_the_answer_is_the_run_s(traces: list[Trace]) -> None:
    gap = permutation_gap(traces[0], "reversed", Interventions(no_positions=True))
    expected = "The vectors" if traces[0].model.config.causal else "Each token keeps its vector"
    assert answer(checks.after_reordering("reversed", gap)).text.startswith(expected)
    apart = Gap(np.array([0.0, 0.5]), 3.0, np.array([0.0, 0.2]))
    assert answer(checks.after_reordering("shuffled", apart)).text.startswith("The vectors")


def test_only_a_place_that_is_added_changes_the_first_vector(traces: list[Trace]) -> None:
    """Held against the first vectors of the same token in other places, and beside other words."""
    model = traces[0].model
    first, other = (lab.trace(model, text) for text in ("a the cat the", "a the dog the"))
    here = next(place for place, token in enumerate(first.token_ids) if first.token_ids.count(token) > 1)
    there = len(first) - 1 - first.token_ids[::-1].index(first.token_ids[here])
    own, moved, beside_others = first.embeddings.sum[here], first.embeddings.sum[there], other.embeddings.sum[here]
    assert answer(checks.what_changes(first, here)).text.endswith("another place")
    assert not own.equal(moved) and own.equal(beside_others)


def test_a_learned_table_of_places_ends(traces: list[Trace]) -> None:
    model = traces[0].model
    table = model.weights.embeddings.position
    assert (
        table is not None and f"rows for {model.config.max_tokens} places" in answer(checks.no_row_left(traces[0])).why
    )
    assert model.config.max_tokens + model.config.position_offset == len(table)


def test_parallel_vectors_have_the_cosine_1() -> None:
    assert np.dot([3.0, 4.0], [6.0, 8.0]) / (5 * 10) == 1
    assert answer(checks.cosine_of_one()).text.startswith("They point the same way")


def test_numeric_leaves_out_what_rounding_could_confuse() -> None:
    wrong = {1.05: "near", 2.0: "twice", -1.0: "negative", 4.0: "four times", 8.0: "eight times"}
    question = numeric("id", "How much?", (1.0, "right"), wrong, Quantity("{:.2f}".format))
    assert question is not None
    assert {option.text for option in question.options} == {"1.00", "2.00", "−1.00", "4.00"}
    assert answer(question).why == "right"
    assert numeric("id", "How much?", (1.0, "right"), {1.05: "near", 2.0: "twice"}, Quantity(str)) is None


def test_tokens_in_questions_are_escaped(traces: list[Trace]) -> None:
    trace = lab.trace(traces[0].model, ". . .")
    question = checks.same_word(trace, parts(trace))
    assert question is not None
    assert "\\." in question.prompt
