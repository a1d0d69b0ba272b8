"""All rows at once: the matrices of the figures, the question, and both ways to compute the rows."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from lab.analysis.layers.in_turn import REPEATS, at_once, in_turn, measure, timing
from lab.course.words import told_apart
from lab.lessons.self_attention import all_rows as step
from lab.models.trace import Trace
from tests.lessons.self_attention.runs import MODELS, TEXTS, answer, numbers, run, spots
from tests.sentences import STORY


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_the_outlined_score_is_a_dot_product(model: str, text: str) -> None:
    trace = run(model, text)
    for spot in spots(trace):
        inside, n = spot.traced, len(trace)
        score = float(inside.query[spot.head, spot.query].double() @ inside.key[spot.head, spot.key].double())
        said = step.said(spot)
        assert numbers(said)[0] == pytest.approx(score, abs=0.0051) and f"{n} × {n} = {n * n:,} scores" in said
        assert told_apart(trace, spot.query) in said and told_apart(trace, spot.key) in said


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


def test_twice_as_long_is_four_times_as_many(traces: list[Trace]) -> None:
    for trace in traces:
        question = step.twice_as_long(spots(trace)[0])
        n = len(trace)
        assert question is not None and answer(question).text.startswith("Four") and (2 * n) ** 2 == 4 * n**2
        assert f"{n} tokens" in question.prompt and f"has {2 * n}." in question.prompt


def test_both_ways_give_the_output_of_attention(traces: list[Trace]) -> None:
    for trace in [*traces, *(run(model, STORY) for model in MODELS)]:
        inside, config = trace.layer(1), trace.model.config
        for way in (at_once, in_turn):
            torch.testing.assert_close(way(inside, config), inside.attention_output, atol=1e-4, rtol=1e-4)


def test_what_was_measured_is_said() -> None:
    trace, told = run("lab-bert", STORY), list[float]()
    assert timing(trace, 1) is timing(trace, 1) and timing(trace, 1).found is None
    found = measure(trace, 1, told.append)
    assert found.at_once > 0 and found.in_turn > 0 and found.difference < 1e-4 and len(told) == REPEATS
    said = step.told(found, 1)
    assert said.startswith("The attention of layer 2 takes")
    assert f"{found.at_once:.2f} ms" in said and f"{found.in_turn:.2f} ms" in said and f"{found.ratio:.1f}" in said
