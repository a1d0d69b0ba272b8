"""All rows at once: the matrices of the figures."""

from __future__ import annotations

import numpy as np
import pytest

from lab.lessons.self_attention import all_rows as step
from tests.lessons.self_attention.runs import MODELS, run
from tests.sentences import STORY


@pytest.mark.parametrize("model", MODELS)
def test_the_corners_are_the_products_of_the_sides(model: str) -> None:
    trace = run(model, STORY)
    inside, head = trace.layer(1), 2
    product = inside.query[head] @ inside.key[head].T
    np.testing.assert_allclose(step.scores(trace, 1, head, 3, 1).table().to_numpy(), product, atol=1e-4)
    collected = (inside.attention[head] @ inside.value[head])[:, : step.DIMENSIONS]
    np.testing.assert_allclose(step.contexts(trace, 1, head, 3, 1).table().to_numpy(), collected, atol=1e-4)


def test_a_long_text_is_drawn_around_the_pair() -> None:
    trace = run("lab-minilm", "the cat sat on the mat and " * 20)
    query, key = len(trace) - 2, 0
    shown = step.scores(trace, 0, 0, query, key).table()
    assert shown.shape == (step.TOKENS, step.TOKENS)
    assert shown.iloc[query - len(trace), 0] == pytest.approx(float(trace.layer(0).scores[0, query, key]), abs=1e-4)
