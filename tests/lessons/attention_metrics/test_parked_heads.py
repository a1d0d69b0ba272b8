"""Heads that park: rank correlations by hand, what chance reaches, and what arrives from a resting place."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.parked import effect_sizes, parked_share
from lab.course.words import plain
from lab.lessons.attention_metrics import parked_heads
from lab.lessons.attention_metrics.parked_heads import parked_against_busy
from lab.models.trace import Trace
from lab.questions.returning import Spot
from lab.toy.models import random_toy
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.thorough import some

ZERO_OR_MEAN = pytest.mark.parametrize("to_mean", some([False, True], 1))


@ZERO_OR_MEAN
def test_the_heads_without_which_most_changes_are_counted(trace: Trace, to_mean: bool) -> None:
    share, moved = parked_share(trace).ravel(), effect_sizes(trace, None, None, to_mean).ravel()
    parking = sum(share[at] > np.median(share) for at in sorted(range(len(moved)), key=lambda at: -moved[at])[:10])
    said = parked_heads.said(trace, to_mean)
    assert f"Of the ten heads whose removal changes the vectors most, **{parking or 'none'}**" in said
    assert ("says little about whether the model needs it" in said) == (2 <= parking <= 8)
    assert ("hardly needs" in said) == (parking <= 1) and ("park most" in said) == (parking >= 9)
    question = parked_heads.needs_them(Spot.of(trace))
    parking = parked_heads.needed(trace).parking
    assert (question is None) == (parking in (2, 8))
    if question is not None:
        right = "less" if parking <= 1 else "more" if parking >= 9 else "In both"
        assert right in question.options[question.answer].text.partition(":")[0]


@ZERO_OR_MEAN
def test_the_correlation_is_that_of_the_ranks(trace: Trace, to_mean: bool) -> None:
    rho, band = parked_heads.correlation(trace, to_mean)
    share, moved = parked_share(trace), effect_sizes(trace, None, None, to_mean)
    ranks = [np.argsort(np.argsort(each.ravel())) for each in (share, moved)]
    assert rho == pytest.approx(np.corrcoef(ranks[0], ranks[1])[0, 1], abs=1e-6)
    count = trace.model.config.layers * trace.model.config.heads
    assert band == pytest.approx(1.96 / np.sqrt(count - 1))
    full = parked_heads.in_full(trace, to_mean)
    assert full.startswith(parked_heads.compared(trace, to_mean)) and f"below {band:.2f}" in full
    assert f"**{rho:.2f}**".replace("-", "−") in full
    for text, of in (("no head parks", (share <= 0.9).all(1)), ("all", (share > 0.9).all(1))):
        layers = re.search(rf"[Ii]n layers? ([\d, and]+), {text}", full)
        found = {int(each) - 1 for each in re.findall(r"\d", layers[1])} if layers else set()
        assert found == (set(np.flatnonzero(of)) if (share > 0.9).any() and (share <= 0.9).any() else set())


def test_shuffled_numbers_stay_below_the_limits() -> None:
    """19 of 20 times, over 72 heads, and as the mean of six layers of twelve heads."""
    count, layers, heads = 72, 6, 12
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(float(count)), (4000, 1)), axis=1)
    band = 1.96 / np.sqrt(count - 1)
    inside = np.mean([abs(np.corrcoef(each, np.arange(count))[0, 1]) < band for each in shuffled])
    assert inside == pytest.approx(0.95, abs=0.015)
    shuffled = np.random.default_rng(0).permuted(np.tile(np.arange(float(heads)), (4000 * layers, 1)), axis=1)
    rhos = np.array([np.corrcoef(each, np.arange(heads))[0, 1] for each in shuffled]).reshape(-1, layers).mean(1)
    limit = 1.96 / np.sqrt(layers * (heads - 1))
    assert np.mean(abs(rhos) < limit) == pytest.approx(0.95, abs=0.015)


@pytest.mark.parametrize("heads", [2, 4])
def test_a_few_heads_show_no_correlation(heads: int) -> None:
    """Two heads always have a rank correlation of 1 or −1; shuffled numbers would reach it, too."""
    toy = random_toy(6, 8, heads=heads)
    trace = lab.trace(toy, "a b c c a b")
    rho, band = parked_heads.correlation(trace)
    assert np.isnan(rho) and band >= 1
    assert parked_heads.needs_them(Spot.of(trace)) is None
    assert parked_heads.said(trace) == parked_heads.compared(trace) and "related" not in parked_heads.said(trace)
    assert "rank correlation" not in parked_heads.in_full(trace)


@ZERO_OR_MEAN
def test_parking_is_compared_inside_layers_too(trace: Trace, to_mean: bool) -> None:
    mean, limit = parked_heads.within_layers(trace, to_mean)
    shares, moved = parked_share(trace), effect_sizes(trace, None, None, to_mean)
    ranks = [np.argsort(np.argsort(each, axis=1), axis=1) for each in (shares, moved)]
    assert mean == pytest.approx(np.mean([np.corrcoef(*rows)[0, 1] for rows in zip(*ranks, strict=True)]), abs=1e-6)
    full = parked_heads.in_full(trace, to_mean)
    told = re.search(r"Within a layer, it is (−?[\d.]+) on average", full)
    assert told is not None and float(told[1].replace("−", "-")) == pytest.approx(mean, abs=0.006)
    assert f"below {limit:.2f}." in full


def test_what_arrives_from_a_resting_place_is_measured_by_lengths(trace: Trace) -> None:
    shares = parked_share(trace)
    layer, head = divmod(int(shares.argmax()), shares.shape[1])
    special = torch.tensor(trace.encoding.special)
    out = special if bool(special.any()) else torch.arange(len(trace)) == 0
    traced = trace.layer(layer)
    size = traced.value.shape[-1]
    added = traced.value[head] @ traced.weights.w_o[head * size : (head + 1) * size]
    lengths = traced.attention[head] * added.norm(dim=-1)
    expected = (lengths / lengths.sum(-1, keepdim=True))[~out][:, out].sum(-1).mean()
    given, arrives = parked_heads.brought(trace, (layer, head))
    assert given == pytest.approx(float(traced.attention[head][~out][:, out].sum(-1).mean()), abs=1e-5)
    assert arrives == pytest.approx(float(expected), abs=1e-4)
    told = parked_heads.said_of_sink(trace)
    assert f"{arrives:.2f} of what it adds to the words comes from there" in told
    assert ("only" in told) == (arrives <= given - 0.05)


def test_the_two_groups_are_told_with_their_means() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), "A cat sat.")
    told = partial(parked_against_busy, trace=trace)
    shares, effects = np.array([[0.95, 0.2], [0.97, 0.1]]), np.array([[0.1, 0.4], [0.2, 0.6]])
    said = told(shares, effects)
    assert said.startswith("2 heads of 4 park") and "by 0.15 of their length on average, and at most by 0.20" in said
    assert "0.50 of their length on average, and at most by 0.60" in said
    assert "by less than 0.01 of their length in every case" in told(shares, effects * 1e-3)
    none = told(shares - 0.5, effects)
    assert "No head sends more than 90%" in none and "nearest (0.47)" in none
    assert "All 4 heads park" in told(shares * 0 + 1, effects)


@pytest.mark.parametrize("family", ["bert", "gpt2", "electra"])
def test_every_family(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    trace = lab.trace(lab.load_model(tiny_checkpoint(family, seed=1)), "The cat sat.")
    for said in (parked_heads.said(trace), parked_heads.said_of_sink(trace), parked_heads.in_full(trace)):
        assert "nan" not in plain(said) and said.endswith(".")
