"""No right answer hangs on less than its margin: it is the same if the model's weights are rounded to half precision.

A question may be left out for one of the two models, because its numbers are then too near to their limit. But where
both ask it, both have the same answer.
"""

from __future__ import annotations

import re
from dataclasses import fields, is_dataclass, replace
from functools import cache
from typing import Any

import pytest
from torch import Tensor, bfloat16

from lab.course.pages import LESSONS, Lesson
from lab.course.sentences.examples import EXAMPLES
from lab.lessons.open_lesson import askings
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace
from lab.questions.asking import Spot
from lab.questions.question import Question
from tests.thorough import some
from training.evaluation.heads import sentences

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = (*(each.text for each in EXAMPLES), *sentences())


def rounded(weights: Any) -> Any:
    """The same weights with eight significant binary digits: each is wrong by up to 0.4 %."""
    if isinstance(weights, Tensor):
        return weights.to(bfloat16).to(weights.dtype) if weights.is_floating_point() else weights
    if isinstance(weights, tuple):
        return tuple(map(rounded, weights))
    if is_dataclass(weights) and not isinstance(weights, type):
        changed = {each.name: rounded(getattr(weights, each.name)) for each in fields(weights) if each.init}
        return replace(weights, **changed)
    return weights


@cache
def both(id: str) -> tuple[LoadedModel, LoadedModel]:
    model = load_model(id)
    return model, replace(model, weights=rounded(model.weights))


def plain(text: str) -> str:
    """A text without its measured numbers, which differ a little; the numbers of heads and tokens stay."""
    return re.sub(r"[\d,]*\.\d+|[\d.]+\s?%", "#", text)


def answer(question: Question) -> str:
    return plain(question.options[question.answer].text)


@pytest.mark.parametrize("lesson", LESSONS, ids=lambda lesson: lesson.id)
@pytest.mark.parametrize("model", MODELS)
def test_the_right_answer_does_not_hang_on_a_decimal(model: str, lesson: Lesson) -> None:
    asked, turned, texts = 0, [], some(TEXTS, 4)
    if lesson.id == "inter-sentence-attention":  # it needs several sentences
        texts = [f"{one} {other}" for one, other in zip(texts, texts[::-1], strict=True)]
    for text in texts:
        first, second = (trace(each, text) for each in both(model))
        spot = Spot.of(first)
        for asking in askings(lesson):
            here, there = asking(spot), asking(replace(spot, trace=second))
            # Another prompt is another question: about the token that is now first, for example.
            if here is not None and there is not None and plain(here.prompt) == plain(there.prompt):
                asked += 1
                if answer(here) != answer(there):
                    turned.append(f"{asking.make.__name__}, {text!r}: {answer(here)!r}, rounded {answer(there)!r}")
    assert asked and not turned, "\n".join(turned)


def test_rounded_weights_are_others_and_nearly_the_same() -> None:
    model, other = both("lab-minilm")
    one, two = (each.weights.layers[0].w_q for each in (model, other))
    assert not one.equal(two) and (one - two).abs().max() <= 0.004 * one.abs().max()
