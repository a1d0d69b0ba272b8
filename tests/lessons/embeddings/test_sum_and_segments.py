"""What the steps Sum and Segments are said to mean: each number is computed again, by torch or by numpy."""

from __future__ import annotations

import re

import pytest
import torch

import lab
from lab.analysis.layers.embeddings import segment_movement, worked_dimension
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import plain
from lab.lessons.embeddings import meanings
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
            said = meanings.summed(worked_dimension(trace, token, dimension), dimension)
            most = max(given.values(), key=abs)
            named = re.search(r"the (\w+) vector gives most", said)
            assert named is None or given[named[1]] == pytest.approx(most, abs=1e-6)
            out = [] if e.norm is None else [e.norm[token, dimension].item()]
            first = [] if len(given) == 1 else [most]
            assert numbers(said) == pytest.approx([*first, e.sum[token, dimension].item(), *out], abs=0.0051)


def test_the_farthest_move_is_named() -> None:
    model = lab.load_model("lab-bert")
    for pair in (None, "They played until it was dark."):
        trace = lab.trace(model, "The children went to the park.", pair)
        movement = segment_movement(trace, "swapped")
        said = plain(meanings.other_segments(trace, movement, "swapped"))
        last = torch.from_numpy(movement.distance[-1])
        assert numbers(said)[:2] == pytest.approx([last.mean().item(), last.max().item()], abs=0.0051)
        assert trace.labels[int(last.argmax())] in said
        assert ("no first text" in said) == (pair is None)
