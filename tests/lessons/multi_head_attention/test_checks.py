"""Every question about heads: exactly one right answer, recomputed here from the tensors."""

from __future__ import annotations

import re

import numpy as np
import pytest

import lab
from lab.analysis.heads.comparing import head_sum
from lab.lessons.multi_head_attention import checks, what_if
from lab.models.trace import Trace
from lab.models.trace import trace as run
from lab.questions.question import Option, Question
from lab.toy.models import random_toy
from lab.toy.recut import recut
from tests.checkpoints import HEADS, WIDTH, Family
from tests.conftest import TinyCheckpoint

TEXTS = ("The cat sat on the mat because it was tired.", "She opened the door.", "the the the the the dog")


@pytest.fixture(params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> list[Trace]:
    family: Family = request.param
    model = lab.load_model(tiny_checkpoint(family, seed=3))
    return [lab.trace(model, text) for text in TEXTS]


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def numbers(text: str) -> list[float]:
    return [float(x) for x in re.findall(r"-?\d+\.\d{3}", text.replace("−", "-"))]


@pytest.mark.parametrize("heads", [1, 2, 8])
def test_parameters_stay_whatever_the_heads(traces: list[Trace], heads: int) -> None:
    question = checks.parameters(traces[0].model.config, heads)
    assert answer(question).text == f"{4 * WIDTH * WIDTH + 4 * WIDTH:,}"


def test_parameters_asks_for_another_possible_number(traces: list[Trace]) -> None:
    config = traces[0].model.config
    assert checks.parameters(config, HEADS) is None
    assert checks.parameters(config, 5) is None
    assert checks.other_cut(config) == 2 * HEADS
    one_each = recut(random_toy(8, 8), 32).config
    assert checks.other_cut(one_each) == 16


def test_first_moved_names_the_layers_that_moved() -> None:
    assert answer(checks.first_moved(0, 0, np.array([0, 0.1, 0.2, 0.3]))).text == "after layer 1 and every later one"
    assert answer(checks.first_moved(1, 0, np.array([0, 0, 0.2, 0.3]))).text == "after layer 2 and every later one"
    last = checks.first_moved(2, 0, np.array([0, 0, 0, 0.3]))
    assert answer(last).text == "only after layer 3"
    assert checks.first_moved(0, 0, np.array([0, 0.1])) is None
    assert checks.first_moved(0, 0, np.array([0, 0.0, 0.0])) is None


def test_parked_or_busy_compares_the_two_ends_of_the_parked_share() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), TEXTS[0])
    maps = np.stack([layer.attention.numpy() for layer in map(trace.layer, range(4))])
    shares = maps[:, :, 1:-1][..., [0, -1]].sum(-1).mean(-1)  # of the words, to [CLS] and [SEP]
    rest, busy = (np.unravel_index(int(at), shares.shape) for at in (shares.argmax(), shares.argmin()))
    effects = np.full(shares.shape, 0.5)
    assert answer(checks.parked_or_busy(trace, effects, "it")).text == "both are about equal"
    for larger, smaller in ((rest, busy), (busy, rest)):
        effects[larger], effects[smaller] = 0.8, 0.2
        question = checks.parked_or_busy(trace, effects, "it")
        assert answer(question).text == f"that without layer {larger[0] + 1}, head {larger[1] + 1}"
        assert question is not None and f"{shares[busy]:.0%}" in question.prompt
    effects[rest], effects[busy] = 0.8, 0.66
    assert checks.parked_or_busy(trace, effects, "it") is None


def test_whose_dimension_is_found_by_counting(traces: list[Trace]) -> None:
    for trace in traces:
        question = checks.whose_dimension(trace)
        assert question is not None
        dimension = int(re.findall(r"dimension (\d+)", question.prompt)[0])
        fills = [head for head in range(HEADS) for _ in range(WIDTH // HEADS)]
        assert answer(question).text == f"Head {fills[dimension - 1] + 1}"


def test_missing_share_completes_the_sum(traces: list[Trace]) -> None:
    asked = 0
    for trace in traces:
        added = head_sum(trace.layer(1))
        for token in range(len(trace)):
            for head in range(HEADS):
                question = checks.missing_share(trace, added, head, token)
                if question is not None:
                    asked += 1
                    output, others, bias = numbers(question.prompt)
                    assert numbers(answer(question).text)[0] == pytest.approx(output - others - bias, abs=2.1e-3)
                    values = sorted(numbers(option.text)[0] for option in question.options)
                    assert min(np.diff(values)) >= 0.009
    assert asked > 20


def test_one_head_asks_only_what_it_can(traces: list[Trace]) -> None:
    trace = run(recut(random_toy(8, 8), 1), "c e b")
    added = head_sum(trace.layer(0))
    assert checks.whose_dimension(trace) is None
    assert checks.missing_share(trace, added, 0, 1) is None
    assert what_if.together(trace, added, 1) is None
    assert what_if.why_several(trace.model.config) is None and what_if.after_w_o(trace.model.config, 0) is None
    assert answer(checks.parameters(trace.model.config, checks.other_cut(trace.model.config))).text == "4,224"
