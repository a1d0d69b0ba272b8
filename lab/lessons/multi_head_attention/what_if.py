"""Checks that ask why: why a layer has several heads, and why their sum is shorter than its parts together."""

from __future__ import annotations

import numpy as np

from lab.analysis.heads.comparing import HeadSum, attention_parameters
from lab.course.words import named
from lab.models.config import ModelConfig
from lab.models.trace import Trace
from lab.questions.question import MARGIN, Option, Question, shuffled


def why_several(config: ModelConfig) -> Question | None:
    """Ask why a layer has several narrow heads, and not one wide head."""
    if config.heads < 2:
        return None
    count, width = config.heads, config.head_width
    return shuffled(
        "why-several",
        f"A layer has {count} heads of {width} numbers each. Why does it not have a single head of {config.width} "
        "numbers?",
        [
            Option(
                "One head gives a token one set of shares; several heads give it several sets at once",
                f"Each head has a softmax of its own, so a token has {count} sets of shares in this layer.",
                correct=True,
            ),
            Option(
                "Several heads have more learned numbers, so they can learn more",
                f"They have as many learned numbers as one head, {attention_parameters(config):,}. See the step **How "
                "many**.",
            ),
            Option(
                "One head can look only at some of the tokens",
                "Every head can look at every token that the mask does not hide.",
            ),
            Option(
                "Each head is responsible for its own part of the sentence",
                "Every head works on every token, and a token gets the sum of all heads.",
            ),
        ],
    )


def together(trace: Trace, added: HeadSum, token: int) -> Question | None:
    """Ask why the sum of the heads' vectors is shorter than the sum of their lengths."""
    lengths = float(added.norms[:, token].sum())
    length = float(np.linalg.norm(added.parts[:, token].sum(axis=0)))
    right = float(np.linalg.norm(added.norms[:, token]))
    if len(added.parts) < 2 or lengths <= 0 or length > (1 - MARGIN) * lengths:
        return None
    return shuffled(
        "together",
        f"The vectors that the heads add to {named(trace, token)} are {lengths:.2f} long in total. But the sum of "
        f"these vectors is only {length:.2f} long. Why?",
        [
            Option(
                "The vectors do not all point the same way",
                f"{length / lengths:.0%} of the length is left. If all vectors were at right angles, this share would "
                f"be {right / lengths:.0%}; if all pointed the same way, 100%.",
                correct=True,
            ),
            Option(
                "$W_O$ makes the vectors shorter",
                "These vectors are the output of $W_O$, so they are measured after it.",
            ),
            Option(
                "Softmax makes the heads share a length of 1",
                "Softmax shares out the weights of one row in one head. It does not connect the heads.",
            ),
        ],
    )
