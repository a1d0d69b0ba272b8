"""Heads at rest: rank correlations by hand, what chance reaches, what arrives from a resting place, what is written."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.switched_off import effect_sizes, resting_share
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.attention_metrics import at_rest, check
from lab.lessons.attention_metrics.at_rest import rest_and_effect
from lab.models.trace import Trace
from lab.toy.models import random_toy
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.lessons.attention_metrics.conftest import Told


def correlation(one: np.ndarray, other: np.ndarray) -> float:
    """Spearman's, for numbers without ties."""
    ranks = np.stack([np.argsort(np.argsort(each.ravel())) for each in (one, other)]).astype(float)
    return float(np.asarray(np.corrcoef(ranks))[0, 1])


def test_what_is_written_of_the_course_is_that_of_hugging_face(told: Told) -> None:
    words = [at for at, token in enumerate(told.tokens) if token not in ("[CLS]", "[SEP]")]
    rest = told.maps[:, :, words][..., [0, -1]].sum(-1).mean(-1)
    effects = np.abs(told.changes)
    assert divmod(int(effects.argmax()), 12) == (5, 3)  # “no other head …”
    assert divmod(int(rest.argmax()), 12) == (2, 9) and round(told.changes[2, 9], 2) == 0.01  # 3-10
    run, place, word = at_rest.asked_of(lab.trace(lab.load_model("lab-minilm"), STORY_TEXT))
    said = at_rest.reading(run, place, word, (5, 3))
    shares = [float(each) for each in re.findall(r"-?\d\.\d\d", said.replace("−", "-"))]
    assert (shares[0], shares[-1]) == pytest.approx((rest[5, 3], told.changes[5, 3]), abs=0.006)
    drawn = rest_and_effect(run, 5, 3, place, word).table().to_numpy(float)
    assert drawn[:, -1] == pytest.approx(told.changes.ravel(), abs=1e-3)
    assert told.paris * np.exp(told.changes[5, 3]) == pytest.approx(0.25, abs=0.005)
    asked = at_rest.rests_and_works()
    assert asked is not None and asked.options[asked.answer].text.startswith("Without 6-4")
    # Over all heads within the band, within layers below it.
    rho, within = correlation(rest, effects), np.mean([correlation(*pair) for pair in zip(rest, effects, strict=True)])
    assert abs(rho) < 1.96 / np.sqrt(71) and within < -1.96 / np.sqrt(6 * 11)
    orders = at_rest.ranks(run, place, word).replace("−", "-")
    assert [float(each) for each in re.findall(r"-?\d\.\d\d", orders)] == pytest.approx(
        [rho, 1.96 / np.sqrt(71), within, 1.96 / np.sqrt(66)], abs=0.006
    )


def test_the_challenge_finds_wide_heads_that_matter(told: Told) -> None:
    blank, maps = told.tokens.index("[MASK]"), torch.tensor(told.maps)
    keys = torch.distributions.Categorical(probs=maps).entropy().exp()[:, :, blank].numpy()
    met = {head for head in np.ndindex(6, 12) if check.judge(f"{head[0] + 1}-{head[1] + 1}").met}
    assert met == {head for head in np.ndindex(6, 12) if keys[head] >= 3 and np.exp(told.changes[head]) < 0.9}
    assert len(met) >= 3
    for entry in ("7-1", "0-3", "6", "six four", "6-4-2", "<script>"):
        assert "from 1 to 6" in check.judge(entry).said
    assert check.SHARP in check.judge("6-4").said and check.LITTLE in check.judge("4-11").said


def test_the_correlations_are_those_of_the_ranks(trace: Trace) -> None:
    shares, effects = resting_share(trace), effect_sizes(trace, None, None, to_mean=True)
    rho, band = at_rest.correlation(shares, effects)
    assert rho == pytest.approx(correlation(shares, effects), abs=1e-6)
    assert band == pytest.approx(1.96 / np.sqrt(shares.size - 1))
    mean, _ = at_rest.within_layers(shares, effects)
    each = [correlation(*pair) for pair in zip(shares, effects, strict=True)]
    assert mean == pytest.approx(np.mean(each), abs=1e-6)


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


def test_what_arrives_from_a_resting_place_is_measured_by_lengths(trace: Trace) -> None:
    layer, head = 2, 3
    special = torch.tensor(trace.encoding.special)
    out = special if bool(special.any()) else torch.arange(len(trace)) == 0
    traced = trace.layer(layer)
    size = traced.value.shape[-1]
    added = traced.value[head] @ traced.weights.w_o[head * size : (head + 1) * size]
    lengths = traced.attention[head] * added.norm(dim=-1)
    expected = (lengths / lengths.sum(-1, keepdim=True))[~out][:, out].sum(-1).mean()
    given, arrives = at_rest.brought(trace, (layer, head))
    assert given == pytest.approx(float(traced.attention[head][~out][:, out].sum(-1).mean()), abs=1e-5)
    assert arrives == pytest.approx(float(expected), abs=1e-4)


@pytest.mark.parametrize("heads", [2, 4])
def test_a_few_heads_show_no_correlation(heads: int) -> None:
    """Two heads always have a rank correlation of 1 or −1; shuffled numbers would reach it, too."""
    trace = lab.trace(random_toy(6, 8, heads=heads), "a b c c a b")
    assert at_rest.ranks(trace, None, None) == ""


@pytest.mark.parametrize("family", ["bert", "gpt2", "electra"])
def test_every_family(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    asked = at_rest.asked_of(lab.trace(lab.load_model(tiny_checkpoint(family, seed=1)), "The cat sat."))
    said = at_rest.reading(*asked, (0, 0)).strip()
    assert "nan" not in said and said.endswith(".")
