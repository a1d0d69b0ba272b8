"""What the tests of the steps of lesson 3 share: runs of tiny checkpoints and of the shipped models."""

from __future__ import annotations

from functools import cache

import lab
from lab.models.trace import Trace
from lab.questions.question import Option, Question

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


@cache
def run(model: str, text: str) -> Trace:
    return lab.trace(lab.load_model(model), text)


def answer(question: Question) -> Option:
    return question.options[question.answer]
