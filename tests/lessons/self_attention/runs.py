"""What the tests of the steps of lesson 3 share: runs of tiny checkpoints and of the shipped models."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import lab
from lab.course.sentences.examples import EXAMPLES
from lab.models.trace import Trace
from lab.questions.asking import Asking
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from tests.checkpoints import Family, write_checkpoint
from tests.sentences import CAT

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = [each.text for each in EXAMPLES[:4]] + ["a"]
_TEXTS = (CAT, "She opened the door.", "the the the the the dog")


@cache
def tiny_runs(family: Family, folder: Path) -> list[Trace]:
    model = lab.load_model(write_checkpoint(folder / family, family, seed=3))
    return [lab.trace(model, text) for text in _TEXTS]


@cache
def run(model: str, text: str) -> Trace:
    return lab.trace(lab.load_model(model), text)


def spots(trace: Trace) -> list[Spot]:
    """A few layers, heads and queries, the first token and the last among them."""
    config, n = trace.model.config, len(trace)
    places = [(layer, head) for layer in (0, config.layers - 1) for head in (0, 4)]
    return [Spot(trace, layer, head, query, 0) for layer, head in places for query in sorted({0, n // 2, n - 1})]


def numbers(text: str) -> list[float]:
    """The decimals of a sentence; a typographic minus counts."""
    return [float(each) for each in re.findall(r"-?\d+\.\d\d", text.replace("−", "-"))]


def answer(question: Question) -> Option:
    return question.options[question.answer]


def asked(
    traces: list[Trace], asking: Asking, *, heads: int = 1, keys: bool = False
) -> Iterator[tuple[Spot, Question]]:
    """Each place in layer 1 of these runs that ``asking`` asks about, with its question; there is at least one."""
    found = 0
    for trace in traces:
        for query in range(len(trace)):
            for key in range(len(trace)) if keys else (0,):
                for head in range(heads):
                    spot = Spot(trace, 0, head, query, key)
                    question = asking(spot)
                    if question is not None:
                        found += 1
                        yield spot, question
    assert found
