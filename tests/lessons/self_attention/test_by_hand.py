"""By hand: every number and sentence of the example, computed again with whole numbers."""

from __future__ import annotations

import math
import re

import pytest
import torch

from lab.lessons.self_attention import by_hand as step

QUERIES, KEYS, VALUES = [(2, 0), (0, 2), (1, 1)], [(1, 0), (0, 1), (1, 1)], [(4, 0), (0, 4), (2, 2)]


def row(at: int) -> tuple[list[int], list[float], list[float]]:
    """Scores, weights and context of a row, without the lab."""
    scores = [sum(a * b for a, b in zip(QUERIES[at], key, strict=True)) for key in KEYS]
    powers = [math.exp(score / math.sqrt(2)) for score in scores]
    weights = [power / sum(powers) for power in powers]
    context = [sum(w * value[side] for w, value in zip(weights, VALUES, strict=True)) for side in (0, 1)]
    return scores, weights, context


@pytest.mark.parametrize("at", [0, 1, 2])
def test_the_table_has_the_numbers_of_the_row(at: int) -> None:
    scores, weights, context = row(at)
    written = step.worked(step.worked_example(), at)
    assert [int(each) for each in re.findall(r" = \*\*(\d+)\*\* ", written)] == scores
    assert " | ".join(f"**{each:.3f}**" for each in weights) in written
    assert f"({context[0]:.1f}, {context[1]:.1f})" in written
    # Whoever adds up the values in the printed shares gets the printed sum.
    printed = [sum(round(w, 3) * value[side] for w, value in zip(weights, VALUES, strict=True)) for side in (0, 1)]
    assert [f"{each:.1f}" for each in printed] == [f"{each:.1f}" for each in context]
    wanted = step.asked(step.worked_example(), at)
    assert list(wanted["scores"].values()) == scores
    assert list(wanted["weights"].values()) == pytest.approx(weights, abs=1e-5)


def test_the_sentences_name_the_largest_weights() -> None:
    (_, sun, _), (_, light, _) = row(0), row(2)
    assert sun[0] == sun[2] > sun[1] and f"**{sun[0]:.3f}** each" in step.FINDING
    assert light[2] > light[0] == light[1]
    assert f"*light* ({light[2]:.2f})" in step.DONE and f"get {light[0]:.2f}\neach" in step.DONE


def test_the_picture_has_the_query_and_the_keys() -> None:
    figure = step.query_and_keys(0)
    assert figure.table().to_numpy().tolist() == [[2, 0], *(list(key) for key in KEYS)]


def test_worked_example_by_hand() -> None:
    example = step.worked_example()
    assert example.scores.tolist() == [[2, 0, 2], [0, 2, 2], [1, 1, 2]]
    e = math.exp(2 / math.sqrt(2))
    assert example.weights[0].tolist() == pytest.approx([e / (2 * e + 1), 1 / (2 * e + 1), e / (2 * e + 1)])
    torch.testing.assert_close(example.context, example.weights @ example.value)
