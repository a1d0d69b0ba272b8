"""The neuron view: one row against naive loops and Hugging Face's own modules; which dimensions decide, exactly."""

from __future__ import annotations

import math

import numpy as np
import pytest

import lab
from lab.analysis.heads.named import trace_chance, trace_names
from lab.analysis.heads.patterns import Patterns, trace_patterns, trace_roles
from lab.analysis.heads.query_neurons import (
    DECIDED,
    attention_of,
    decide,
    kept_scores,
    neuron_row,
    pattern_keys,
    score_with,
)
from lab.analysis.heads.walk import best_head, best_query, walk
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from tests.sentences import FOLLOWS

MODELS = ("lab-bert", "lab-gpt2")
AT = (1, 2)


@pytest.fixture(scope="module", params=MODELS)
def traced(request: pytest.FixtureRequest) -> Trace:
    return lab.trace(lab.load_model(request.param), *FOLLOWS)


def visible(traced: Trace, query: int) -> range:
    return range(query + 1) if traced.model.config.causal else range(len(traced))


def test_a_row_by_naive_loops(traced: Trace) -> None:
    layer, (index, head), query = traced.layer(AT[0]), AT, 5
    row = neuron_row(traced, index, head, query)
    q, k, v = (tensor[head].double().numpy() for tensor in (layer.query, layer.key, layer.value))
    width = q.shape[1]
    w_o = layer.weights.w_o[head * width : (head + 1) * width].double().numpy()
    scaled = [sum(q[query, d] * k[j, d] for d in range(width)) / math.sqrt(width) for j in range(len(traced))]
    total = sum(math.exp(scaled[j]) for j in visible(traced, query))
    added = np.zeros(w_o.shape[1])
    for j in range(len(traced)):
        weight = math.exp(scaled[j]) / total if j in visible(traced, query) else 0.0
        vector = weight * v[j] @ w_o
        added += vector
        assert row.weights[j] == pytest.approx(weight, abs=1e-6)
        assert row.lengths[j] == pytest.approx(math.sqrt(sum(x * x for x in vector)), abs=1e-5)
        assert row.scores[j] == pytest.approx(scaled[j] * math.sqrt(width), abs=1e-4)
        assert np.isneginf(row.scaled[j]) if weight == 0 else row.scaled[j] == pytest.approx(scaled[j], abs=1e-4)
        assert [row.products[j, d] for d in range(width)] == pytest.approx(q[query] * k[j], abs=1e-5)
    assert np.abs(row.contribution - added).max() < 1e-5
    assert row.divisor == math.sqrt(width)


def test_without_scaling_nothing_is_divided(traced: Trace) -> None:
    plain = lab.trace(traced.model, *FOLLOWS, Interventions(no_scaling=True))
    row = neuron_row(plain, *AT, 5)
    assert row.divisor == 1
    assert (row.scaled[:6] == row.scores[:6]).all()
    every = range(plain.model.config.head_width)
    assert np.abs(attention_of(plain, *AT, every)[0] - plain.layer(AT[0]).attention[AT[1]].numpy()).max() < 1e-5


def meant(traced: Trace, pattern: str, i: int, j: int) -> bool:
    """The definition in words, for one pair."""
    special = traced.encoding.special
    first = traced.model.config.causal and traced.encoding.special.count(True) == 0
    delimiter = [mark or (first and place == 0) for place, mark in enumerate(special)]
    own = traced.encoding.in_pair
    return {
        "delimiter": delimiter[j] and not delimiter[i],
        "bag_of_words": own[i] == own[j] and not special[i] and not special[j],
        "next_token": j == i + 1,
        "previous_token": j == i - 1,
        "same_word": bool(trace_roles(traced).same[i, j]),
    }[pattern]


@pytest.mark.parametrize("pattern", [each.id for each in DECIDED])
def test_a_decision_by_naive_loops_and_it_sums_to_the_score_difference(traced: Trace, pattern: str) -> None:
    layer, (_, head) = traced.layer(AT[0]), AT
    q, k = (tensor[head].double().numpy() for tensor in (layer.query, layer.key))
    scores = layer.scores[head].double().numpy()
    rows, differences, queries = [], [], []
    for i in range(len(traced)):
        mine = [j for j in visible(traced, i) if meant(traced, pattern, i, j)]
        others = [j for j in visible(traced, i) if j not in mine]
        if mine and others:
            queries.append(i)
            differences.append(np.mean([scores[i, j] for j in mine]) - np.mean([scores[i, j] for j in others]))
            rows.append(q[i] * np.mean([k[j] for j in mine], axis=0) - q[i] * np.mean([k[j] for j in others], axis=0))
    found = decide(traced, *AT, pattern)
    if not queries:
        assert found is None and (pattern, traced.model.config.causal) == ("next_token", True)
        return
    assert found is not None and found.queries.tolist() == queries
    assert np.allclose(found.by_query, rows, atol=1e-9)
    assert np.allclose(found.difference, np.mean(rows, axis=0), atol=1e-9)
    assert found.total == pytest.approx(np.mean(differences), abs=1e-4)
    assert (np.diff(found.difference[found.order]) <= 0).all()
    leaders = [int(np.argmax(row)) for row in rows]
    dimension, share = found.leader()
    assert leaders.count(dimension) == max(map(leaders.count, leaders)) == round(share * len(leaders))


def test_needed_is_the_fewest_dimensions(traced: Trace) -> None:
    found = decide(traced, *AT, "delimiter")
    assert found is not None
    ranked = sorted(found.difference, reverse=True)
    for share in (0.25, 0.5, 0.9, 1.0):
        count = found.needed(share)
        if found.total <= 0:
            assert count is None
            continue
        assert count is not None
        assert found.share(count) == pytest.approx(sum(ranked[:count]) / sum(ranked))
        assert found.share(count) >= share - 1e-9
        assert all(sum(ranked[:fewer]) < share * sum(ranked) for fewer in range(1, count))


def test_some_dimensions_by_naive_loops(traced: Trace) -> None:
    layer, kept, i = traced.layer(AT[0]), (3, 0, 17), 6
    q, k = (tensor[AT[1]].double().numpy() for tensor in (layer.query, layer.key))
    root = math.sqrt(q.shape[1])  # of all dimensions: the scale stays
    powers = {j: math.exp(sum(q[i, d] * k[j, d] for d in kept) / root) for j in visible(traced, i)}
    found = attention_of(traced, *AT, kept)[0, i]
    for j in range(len(traced)):
        assert found[j] == pytest.approx(powers.get(j, 0) / sum(powers.values()), abs=1e-6)


def test_kept_scores_run_from_uniform_to_the_head_and_back(traced: Trace) -> None:
    found = decide(traced, *AT, "delimiter")
    assert found is not None
    kept = kept_scores(traced, AT, "delimiter", found.order.tolist(), 7)
    assert 7 in kept.counts and kept.counts[0] == 0 and kept.counts[-1] == len(found.order)
    whole = trace_patterns(traced).delimiter[AT]
    uniform = score_with(traced, AT, "delimiter", ())
    assert kept.at(0) == pytest.approx((uniform, whole), abs=1e-5)
    assert kept.at(len(found.order)) == pytest.approx((whole, uniform), abs=1e-5)
    assert kept.at(7)[0] == score_with(traced, AT, "delimiter", found.order[:7].tolist())


def test_a_broad_head_has_no_keys_of_its_own(traced: Trace) -> None:
    with pytest.raises(ValueError, match="choose one of delimiter"):
        pattern_keys("broad", trace_roles(traced), causal=False)


def test_one_token_decides_nothing() -> None:
    traced = lab.trace(lab.load_model("lab-gpt2"), "a")
    assert all(decide(traced, *AT, pattern.id) is None for pattern in DECIDED)
    assert neuron_row(traced, *AT, 0).weights.tolist() == [1.0]


def test_the_best_head_has_the_largest_score_of_those_that_choose(traced: Trace) -> None:
    found, chance = trace_patterns(traced), trace_chance(traced)
    names = trace_names(traced)
    for pattern in DECIDED:
        best, scores = best_head(found, pattern, chance), getattr(found, pattern.id)
        if best is None:
            assert np.isnan(scores).all()
            continue
        eligible = [(scores[at], -at[0], -at[1]) for at in np.ndindex(*scores.shape) if found.broad[at] <= 0.9]
        assert (best.score, -best.layer, -best.head) == max(eligible)
        assert best.named or names[best.layer, best.head] != pattern.id
        assert best.named == (best.score >= (1 + best.uniform) / 2 and best.score > best.untrained)
        assert best.left_out == scores.size - len(eligible)
        seen = traced.layer(best.layer).attention[best.head].numpy()
        spent = [
            sum(seen[i, j] for j in visible(traced, i) if meant(traced, pattern.id, i, j)) for i in range(len(traced))
        ]
        assert spent[best_query(traced, best.layer, best.head, pattern.id)] == pytest.approx(max(spent), abs=1e-5)


def test_where_every_head_is_near_uniform_the_best_is_one_of_them(traced: Trace) -> None:
    found = trace_patterns(traced)
    flat = Patterns(**{**vars(found), "broad": np.ones_like(found.broad)})
    best = best_head(flat, DECIDED[-1], trace_chance(traced))
    assert best is not None and best.left_out == 0
    assert best.score == np.nanmax(getattr(found, DECIDED[-1].id))


def test_lab_bert_takes_fewer_dimensions_for_a_delimiter_than_for_the_next_word() -> None:
    """What Vig 2019 saw by eye in bert-base, measured in the embedded model."""
    traced = lab.trace(lab.load_model("lab-bert"), *FOLLOWS)
    by_id = {pattern.id: pattern for pattern in DECIDED}
    delimiter, following = (walk(traced, by_id[id]) for id in ("delimiter", "next_token"))
    assert delimiter is not None and following is not None
    assert delimiter.best.named and following.best.named
    assert delimiter.count is not None and following.count is not None and delimiter.count < following.count
    assert delimiter.decision is not None and following.decision is not None
    assert delimiter.decision.leader()[1] > following.decision.leader()[1]
    assert delimiter.only == score_with(
        traced,
        (delimiter.best.layer, delimiter.best.head),
        "delimiter",
        delimiter.decision.order[: delimiter.count].tolist(),
    )
