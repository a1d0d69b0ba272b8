"""Every question of the embeddings lesson: exactly one right answer, and it is the right one."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.analysis.layers.embeddings import Gap, Movement, parts, permutation_gap, worked_dimension
from lab.analysis.layers.positions import sinusoids
from lab.lessons.embeddings import checks
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.questions.kinds import Quantity, numeric
from lab.questions.question import Option, Question
from tests.checkpoints import Family, write_checkpoint

TEXTS = ("The cat sat on the mat because it was tired.", "She opened the door.", "the the the the the dog")


@pytest.fixture(scope="module", params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> list[Trace]:
    family: Family = request.param
    folder: Path = tmp_path_factory.mktemp("questions") / family
    model = lab.load_model(write_checkpoint(folder, family, seed=3))
    return [lab.trace(model, text) for text in TEXTS]


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"-?[\d,]*\d\.\d+", text.replace("−", "-"))]


def test_a_repeated_word_has_one_token_vector_and_two_sums(traces: list[Trace]) -> None:
    trace = traces[2]
    question = checks.same_word(trace, parts(trace))
    assert answer(question).text == "Their token vectors are equal, their sums differ"
    found = re.findall(r"is token (\d+) and token (\d+)", question.prompt if question else "")
    first, second = (int(each) - 1 for each in found[0])
    assert trace.token_ids[first] == trace.token_ids[second]
    apart = (trace.embeddings.sum[first] - trace.embeddings.sum[second]).abs().max().item()
    assert f"{apart:.3f}" in answer(question).why
    once = lab.trace(trace.model, "cat")
    assert checks.same_word(once, parts(once)) is None


def test_who_moves_when_all_segments_are_0(traces: list[Trace]) -> None:
    encoding = lab.trace(lab.load_model("lab-bert"), "The cat sat.", "The dog ran.").encoding
    second = np.array(encoding.segment_ids, dtype=float)

    def asked(distance: np.ndarray) -> Question | None:
        return checks.first_text_too(Movement(distance[None], None), encoding)

    assert answer(asked(second * 0.3)).text.startswith("Only those of segment B")
    assert answer(asked(second * 0.3 + 0.1)).text == "Those of both segments"
    assert answer(asked(second * 0.0)).text == "None"
    assert asked(1 - second) is None  # only segment A: no option says so
    one = traces[0].encoding
    assert checks.first_text_too(Movement(np.ones((1, len(one))), None), one) is None


@pytest.mark.parametrize(("width", "base"), [(64, 1e4), (128, 1e3), (8, 10.0)])
@pytest.mark.parametrize("first", [1, 3, 9])
def test_the_pair_at_the_same_distance(width: int, base: float, first: int) -> None:
    question = checks.same_distance(width, base, first)
    assert answer(question).text == f"{first + 10} and {first + 15}"
    rows = sinusoids(np.arange(26), width, base)
    for option in question.options if question else ():
        p, q = map(int, option.text.split(" and "))
        assert (abs(rows[p] @ rows[q] - rows[first] @ rows[first + 5]) < 1e-9) == option.correct


def test_the_first_dimensions_turn_fastest() -> None:
    assert answer(checks.turns_fastest(64, 1e4)).text == "The first"


def test_after_reordering_the_answer_is_the_run_s(traces: list[Trace]) -> None:
    gap = permutation_gap(traces[0], "reversed", Interventions(no_positions=True))
    expected = "The outputs become other numbers" if traces[0].model.config.causal else "Each token keeps its output"
    assert answer(checks.after_reordering("reversed", gap)).text.startswith(expected)
    assert answer(checks.after_reordering("shuffled", Gap(np.array([0.0, 0.5]), 3.0))).text.startswith("The outputs")


def test_the_sum_and_its_norm_follow_from_the_numbers_in_the_prompt(traces: list[Trace]) -> None:
    asked = 0
    for trace in traces:
        for token in range(len(trace)):
            dimension = int(trace.embeddings.sum[token].abs().argmax())
            worked = worked_dimension(trace, token, dimension)
            question = checks.added_up(trace, token, dimension, worked)
            if question is not None:
                given = numbers(question.prompt.partition("has ")[2])
                assert numbers(answer(question).text)[0] == pytest.approx(sum(given), abs=2e-3)
                asked += 1
            question = checks.normalized(trace, token, dimension, worked)
            assert (question is None) or not trace.model.config.causal
            if question is not None:
                total, mean, deviation, gamma, beta = numbers(question.prompt.partition("has ")[2])
                out = gamma * (total - mean) / deviation + beta
                assert numbers(answer(question).text)[0] == pytest.approx(out, abs=0.03)
                asked += 1
    assert asked > 8


def test_the_numbers_of_the_table_are_counted(traces: list[Trace]) -> None:
    trace = traces[0]
    table = trace.model.weights.embeddings.position
    assert table is not None
    question = checks.learned_numbers(trace.model.config, len(table), 32, len(trace))
    assert answer(question).text == f"{table.numel():,}"


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
    assert "\\." in question.prompt.split("stands at")[0]
