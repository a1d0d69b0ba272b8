"""What the steps beside the way are said to mean: each number is computed again, by torch or by numpy."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import lab
from lab.analysis.layers.embeddings import segment_movement, worked_dimension
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import plain
from lab.lessons.embeddings import side_meanings
from lab.models.trace import Trace
from lab.toy.models import constructed_toy


def numbers(text: str) -> list[float]:
    return [float(each.replace(",", "")) for each in re.findall(r"-?[\d,]+\.\d+(?![\de])", text.replace("−", "-"))]


@pytest.fixture(scope="module", params=["lab-minilm", "lab-bert", "lab-gpt2", "toy"])
def traces(request: pytest.FixtureRequest) -> list[Trace]:
    if request.param == "toy":
        return [lab.trace(constructed_toy(4, 6), "a b c a")]
    model = lab.load_model(request.param)
    return [lab.trace(model, each.text, each.pair or None) for each in EXAMPLES[:3]]


def test_the_summand_named_is_the_largest(traces: list[Trace]) -> None:
    for trace in traces:
        e, token = trace.embeddings, len(trace) - 1
        found = {name: getattr(e, name) for name in ("token", "position", "segment")}
        for dimension in (0, 1, 3):
            given = {name: rows[token, dimension].item() for name, rows in found.items() if rows is not None}
            said = side_meanings.summed(worked_dimension(trace, token, dimension), dimension)
            most = max(given.values(), key=abs)
            named = re.search(r"the (\w+) vector gives most", said)
            assert named is None or given[named[1]] == pytest.approx(most, abs=1e-6)
            out = [] if e.norm is None else [e.norm[token, dimension].item()]
            first = [] if len(given) == 1 else [most]
            assert numbers(said) == pytest.approx([*first, e.sum[token, dimension].item(), *out], abs=0.0051)


def test_the_longer_of_word_and_place_is_named(traces: list[Trace]) -> None:
    for trace in traces:
        word, place = (getattr(trace.embeddings, name).norm(dim=1) for name in ("token", "position"))
        for token in range(len(trace)):
            said = side_meanings.longer(trace, token)
            own, other = word[token].item(), place[token].item()
            if abs(own / other - 1) < 0.05:
                assert "as both" in said
            else:
                assert f"more as its {'word' if own > other else 'place'}" in said
            assert sorted(numbers(said)[:2]) == pytest.approx(sorted([own, other]), abs=0.0051)
            assert f"in {int((word > place).sum())} of {len(trace)} tokens" in said


def test_the_farthest_move_is_named() -> None:
    model = lab.load_model("lab-bert")
    for pair in (None, "They played until it was dark."):
        trace = lab.trace(model, "The children went to the park.", pair)
        movement = segment_movement(trace, "swapped")
        said = plain(side_meanings.other_segments(trace, movement, "swapped"))
        last = torch.from_numpy(movement.distance[-1])
        assert numbers(said)[:2] == pytest.approx([last.mean().item(), last.max().item()], abs=0.0051)
        assert trace.labels[int(last.argmax())] in said
        assert ("no first text" in said) == (pair is None)


def test_positions_compare_by_distance_or_not(traces: list[Trace]) -> None:
    for trace in traces:
        said = side_meanings.alike_by_distance(trace, 6, 16, 1e4, "cosine")
        assert float(re.findall(r"more than (\S+),", said)[0]) < 1e-9
        table = trace.model.weights.embeddings.position
        if table is None:
            continue
        unit = torch.nn.functional.normalize(table[:6].double(), dim=1).numpy()
        pairs = unit @ unit.T
        lines = [np.diagonal(pairs, k) for k in range(len(pairs))]
        apart = max(float(line.max() - line.min()) for line in lines)
        assert ("on where they stand" in said) == (apart > 0.05)
        told = numbers(said.partition("learned")[2])
        assert told == pytest.approx([apart, lines[1].mean(), lines[len(lines) // 2].mean()], abs=0.0051)


@pytest.mark.parametrize(("length", "width", "base"), [(64, 64, 1e4), (64, 64, 100.0), (8, 4, 10.0)])
def test_turns_and_shifts_are_those_of_the_formula(length: int, width: int, base: float) -> None:
    waves = [2 * np.pi * base ** (2 * i / width) for i in range(width // 2)]
    said = side_meanings.turns(length, width, base)
    assert f"{sum(each <= length for each in waves)} of the {width // 2} pairs" in said
    assert numbers(said) == pytest.approx([waves[0], waves[-1]], abs=0.0051)
    for shift in (1, 3):
        told = side_meanings.one_matrix(length, shift, width, base)
        assert float(re.findall(r"no more than (\S+),", told)[0]) < 1e-9
        # Two turns by one place more apart miss by at most 2 sin(ω/2): the chord, for the fastest pair ω = 1.
        assert 0 < float(re.findall(r"by up to ([\d.]+)\.$", told)[0]) <= 2 * np.sin(0.5) + 0.006
