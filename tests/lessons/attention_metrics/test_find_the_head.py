"""The heads that the learner looks for: the lab's verdict, from the maps themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest
from numpy.typing import NDArray

import lab
from lab.analysis.heads.metrics import trace_metrics
from lab.lessons.attention_metrics.find_the_head import NEAR, TARGETS, Target, found_it, said
from lab.models.trace import Trace
from lab.toy.tasks import TASKS
from lab.toy.training import Plan, untrained


def scores(name: str, maps: NDArray[np.float64], causal: bool) -> NDArray[np.float64]:
    """What each target's sentence asks for, from the maps; a causal model's first row has no choice."""
    rows = maps[:, :, 1:] if causal else maps
    favourite = rows.max(-1)
    lengths = np.arange(2, maps.shape[-1] + 1) if causal else np.full(maps.shape[-1], maps.shape[-1])
    entropy = -(rows * np.log(np.where(rows > 0, rows, 1))).sum(-1) / np.log(lengths)
    return {
        "One favourite each": favourite.mean(-1),
        "A little of everything": entropy.mean(-1),
        "A single strong link": favourite.max(-1) - favourite.mean(-1),
    }[name]


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_head_is_found_if_no_map_shows_more(target: Target, trace: Trace, maps: NDArray[np.float64]) -> None:
    every, own = trace_metrics(trace), scores(target.name, maps, trace.model.config.causal)
    for head in np.ndindex(own.shape):
        layer, number = head
        if abs(own[head] - (own.max() - NEAR)) > 1e-4:
            assert found_it(target, every, (layer, number)) == (own[head] > own.max() - NEAR)
    best = divmod(int(own.argmax()), own.shape[1])
    assert "No other head has a higher number." in said(target, every, best)
    worst = divmod(int(own.argmin()), own.shape[1])
    told = said(target, every, worst)
    above = re.search(r"(\d+) heads? of \d+ ha(?:s|ve) a higher number", told)
    assert above is not None and f"**{own[worst]:.2f}**" in told
    assert (own > own[worst] + 1e-6).sum() <= int(above[1]) <= (own > own[worst] - 1e-6).sum()


def test_in_a_toy_that_learned_nothing_no_head_is_found() -> None:
    """A weight of about a third for each favourite is not "one strong cell in each row", though no head has more."""
    trace = lab.trace(untrained(Plan(TASKS[0].id, 1, 6, 8, 0)), "a b c c a a a")
    maps = trace.layer(0).attention.numpy().astype(np.float64)
    favourite = maps.max(-1).mean(-1)
    assert favourite.max() < TARGETS[0].least
    every = trace_metrics(trace)
    assert not any(found_it(TARGETS[0], every, (0, head)) for head in range(len(maps)))


def test_each_target_says_what_is_wanted() -> None:
    assert all(target.basis.kind == "own" and target.wanted.startswith("Find a head") for target in TARGETS)
