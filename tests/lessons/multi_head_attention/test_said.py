"""What the lesson says of its figures, held to the tensors by other formulas than the lab's."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import lab
from lab.analysis.heads import comparing
from lab.analysis.words.masking import masked_run, place_to_start
from lab.course.sentences.examples import example_named
from lab.course.words import plain, quoted, share
from lab.lessons.multi_head_attention import (
    alike_or_different,
    all_heads,
    each_head_off,
    join,
    one_head_off,
    through_several_layers,
)
from lab.models.interventions import Interventions
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace, trace_encoding
from lab.questions.returning import Spot
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import KEYS, STORY

TEXTS = (STORY, example_named("A garden path").text, "Dogs.")
Maps = NDArray[np.float64]
Heads = frozenset[tuple[int, int]]
NONE: Heads = frozenset()


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def maps_of(trace: Trace, layer: int) -> Maps:
    return trace.layer(layer).attention.double().numpy()


def divergence(first: Maps, second: Maps) -> float:
    """Jensen–Shannon by its other definition: the mean of two Kullback–Leibler divergences to the middle."""
    middle = (first + second) / 2
    both = [np.where(each > 0, each * np.log(np.where(each > 0, each, 1) / middle), 0) for each in (first, second)]
    rows = np.where(middle > 0, (both[0] + both[1]) / 2, 0).sum(-1)
    return float(rows.mean())


def apart(trace: Trace, layer: int) -> dict[tuple[int, int], float]:
    maps = maps_of(trace, layer)
    # The first row of a causal model has one key, so no choice: the lab leaves it out.
    first = 1 if trace.model.config.causal else 0
    return {(a, b): divergence(maps[a, first:], maps[b, first:]) for a, b in combinations(range(len(maps)), 2)}


def test_who_looks_at_the_same_token_is_counted_in_the_maps(trace: Trace) -> None:
    kinds = set()
    for layer, head, query in ((0, 1, 1), (2, 0, len(trace) - 1), (3, 5, 2)):
        said, maps = all_heads.said(Spot(trace, layer, head, query, 0)), maps_of(trace, layer)
        favourites = [int(row.argmax()) for row in maps[:, query]]
        key = favourites[head]
        same, others = favourites.count(key), np.delete(maps[:, query, key], head)
        if same == len(maps):
            assert f"All {same} heads look most at" in said
        elif same > 1:
            assert f"{same} of the {len(maps)} heads look most at" in said
        else:
            assert f"Only head {head + 1} looks most at" in said
            assert [float(each) for each in re.findall(r"\d\.\d\d", said)[:2]] == [
                pytest.approx(maps[head, query, key], abs=0.006),
                pytest.approx(others.max(), abs=0.006),
            ]
        told = [(int(count), int(place)) for count, place in re.findall(r"(\d+) heads? at .+?\((\d+)\)", said)]
        assert all(favourites.count(place - 1) == count for count, place in told)
        kinds.add(min(same, 2))
    assert kinds


def test_only_the_head_of_the_story_looks_at_brother() -> None:
    """Design of the course: no other head of layer 5 gives *brother* more than 0.15."""
    story = lab.trace(lab.load_model("lab-minilm"), STORY)
    query, key = story.labels.index("he"), story.labels.index("brother")
    maps = maps_of(story, 4)
    assert maps[10, query].argmax() == key and np.delete(maps[:, query, key], 10).max() < 0.155
    assert "Only head 11 looks most at" in all_heads.said(Spot(story, 4, 10, query, key))
    layer, head, weight = comparing.strongest_elsewhere(story, 4, 10, query)
    assert (layer, head) == (2, 4) and weight == pytest.approx(0.41, abs=0.01)


def asked(trace: Trace) -> tuple[Trace, int]:
    """The run with its middle word hidden, and the place; in a causal model, the run itself."""
    mask = trace.model.mask
    if trace.model.config.causal or mask is None:
        return trace, len(trace) - 2
    places = place_to_start(trace.encoding, mask[1])
    return masked_run(trace, places), places[0]


def chances(trace: Trace, place: int, off: Heads = NONE, *, to_mean: bool = False) -> Maps:
    changes = Interventions(mean_heads=off) if to_mean else Interventions(zero_heads=off)
    found: Maps = trace_encoding(trace.model, trace.encoding, changes).logits(place)[0].double().softmax(-1).numpy()
    return found


def test_a_head_off_changes_the_word_as_told(trace: Trace) -> None:
    run, place = asked(trace)
    word = int(run.logits(place)[0].argmax())
    for head in ((0, 0), (1, 6), (3, 2)):
        told = one_head_off.without(run, head, place)
        said, milder = one_head_off.said(told), one_head_off.milder(told)
        off = frozenset({head})
        before, after = chances(run, place), chances(run, place, off)
        mean = chances(run, place, off, to_mean=True)
        name = [quoted(str(run.model.tokenizer.id_to_token(word)))] if not run.model.config.causal else []
        then = int(after.argmax())
        if then != word:
            assert (
                f"({share(before[word])} with the head, {share(after[word])} without it)" in said
                and "instead of" in said
            )
        elif abs(np.log(after[word] / before[word])) < 0.01:
            assert "hardly anything changes" in said and share(after[word]) in said and share(before[word]) in said
        else:
            assert ("less probable" in said) == (after[word] < before[word])
            assert f"{share(after[word])} instead of {share(before[word])}" in said
        assert share(mean.max()) in milder and all(each in said for each in name)
        falls = then != word == int(mean.argmax()) and mean[word] < 0.8 * before[word]
        assert ("the head matters" in milder) == falls
        assert ("still says" in milder) == (int(mean.argmax()) == word != then)


def test_where_a_head_looks_from_the_blank(trace: Trace) -> None:
    run, place = asked(trace)
    for head in range(run.model.config.heads):
        row = maps_of(run, 0)[head, place]
        key = int(row.argmax())
        said = one_head_off.looks_from(run, (0, head), place)
        assert f"the weight {row[key]:.2f}." in said and ("itself" in said) == (key == place)
        assert key == place or f"({key + 1})" in said
        every = np.array([maps_of(run, layer)[:, place, key] for layer in range(run.model.config.layers)])
        every[0, head] = 0
        assert f"{every.max():.2f}" in said and ("None of" in said) == (every.max() < row[key])


def test_the_smallest_cut_is_that_of_one_look_of_one_head(trace: Trace) -> None:
    run, place = asked(trace)
    for head in ((0, 0), (3, 2)):
        row = maps_of(run, head[0])[head[1], place]
        key, said = int(row.argmax()), one_head_off.smallest(run, head, place)
        plain_word = int(chances(run, place).argmax())
        if key == place or int(chances(run, place, frozenset({head})).argmax()) == plain_word:
            assert said == ""
            continue
        cut = Interventions(blocked_in_heads=frozenset({(*head, place, key)}))
        after = trace_encoding(run.model, run.encoding, cut)
        then = after.logits(place)[0].double().softmax(-1).numpy()
        assert f"({share(float(then.max()))})" in said and f"({key + 1})" in said
        assert f"({float(maps_of(after, head[0])[head[1], place].max()):.2f})" in said
        assert ("took away more than this look" in said) == (int(then.argmax()) == plain_word)


def test_the_story_says_is_at_zero_and_are_at_the_mean() -> None:
    run = lab.trace(lab.load_model("lab-minilm"), KEYS)
    found = one_head_off.without(run, (4, 10), run.labels.index("[MASK]"))
    assert (plain(found.word), plain(found.zero_says[0]), plain(found.mean_says[0])) == tuple(
        plain(quoted(each)) for each in ("are", "is", "are")
    )
    assert "still says" in one_head_off.milder(found) and "the head matters" in one_head_off.milder(found)
    assert "more than this look" in one_head_off.smallest(run, (4, 10), run.labels.index("[MASK]"))


def test_with_each_head_off_the_largest_change_is_told_and_the_small_ones_are_counted() -> None:
    """By hand: of 0.2, a change to 0.208 is 4 %, and one to 0.212 is 6 %."""
    after = np.array([[0.2, 0.208, 0.212], [0.05, 0.2, 0.3]])
    little = frozenset({(0, 0), (0, 1), (1, 1)})
    said = each_head_off.said_alone(each_head_off.Alone(1, "“cat”", 0.2, after, little))
    assert said.startswith("3 of the 6 heads change the probability of “cat” by less than 0.010, a twentieth of it.")
    assert "Layer 2, head 1 changes it most: from 0.200 to 0.050." in said
    none = np.full((2, 2), 0.2005)
    every = frozenset({(0, 0), (0, 1), (1, 0), (1, 1)})
    assert "No single head" in each_head_off.said_alone(each_head_off.Alone(1, "“cat”", 0.2, none, every))


def test_heads_off_together_are_compared_with_their_single_changes_added_up(trace: Trace) -> None:
    run, place = asked(trace)
    found, off = each_head_off.alone(run, place), each_head_off.together(run, place)
    before = chances(run, place)
    word = int(before.argmax())
    heads = [(i, j) for i in range(run.model.config.layers) for j in range(run.model.config.heads)]
    single = {
        to_mean: {at: chances(run, place, frozenset({at}), to_mean=to_mean)[word] for at in heads}
        for to_mean in (False, True)
    }
    little = frozenset(at for at, p in single[False].items() if abs(p - before[word]) < 0.05 * before[word])
    assert little == found.little and found.word_id == word
    assert off.zero == pytest.approx(chances(run, place, little)[word], rel=1e-4)
    assert off.mean == pytest.approx(chances(run, place, little, to_mean=True)[word], rel=1e-4)
    odds = before[word] / (1 - before[word])
    for to_mean, added in ((False, off.zero_added), (True, off.mean_added)):
        product = odds * np.prod([single[to_mean][each] / (1 - single[to_mean][each]) / odds for each in little])
        assert added == pytest.approx(product / (1 + product), rel=1e-3)
    said = each_head_off.said(found, off)
    assert share(off.zero) in said and share(off.mean) in said and f"these {len(little)} heads" in said


@pytest.mark.parametrize(
    ("off", "told"),
    [
        ((0.78, 0.8, 0.77, 0.78), "change little"),
        ((0.02, 0.5, 0.6, 0.62), "make up for part of its work"),
        ((0.1, 0.75, 0.7, 0.75), "the many zeros disturb"),
        ((0.5, 0.45, 0.5, 0.45), "no sign here"),
        ((0.3, 0.25, 0.37, 0.26), "simply added up, it would go to 0.370 and 0.260."),
        ((0.5, 0.3, 0.5, 0.5), "simply added up, it would go to 0.500 and 0.500."),
    ],
)
def test_what_heads_off_together_mean(off: tuple[float, float, float, float], told: str) -> None:
    """In the order zero, mean, and the changes added up; the word has 0.8 with all heads."""
    alone = each_head_off.Alone(1, "“are”", 0.8, np.full((1, 3), 0.8), frozenset({(0, 0), (0, 1)}))
    said = each_head_off.said(alone, each_head_off.Together(*off))
    assert told in said
    kinds = ("change little", "make up for part", "zeros disturb", "no sign here")
    assert sum(each in said for each in kinds) <= 1


@pytest.mark.parametrize(
    ("moved", "told"),
    [
        ((0, 0, 0.08, 0.09, 0.05), "farthest away after layer 3 (0.090) and end nearer (0.050)"),
        ((0, 0, 0.08, 0.09, 0.085), "end farther away (0.085) than after layer 2 (0.080)"),
        ((0, 0, 0.08, 0.09, 0.075), "end nearly as far away (0.075) as after layer 2 (0.080)"),
        ((0, 0, 0, 0, 0.3), ""),
        ((0, 0, 0, 0, 0), ""),
    ],
)
def test_whether_later_layers_bring_the_vectors_back(moved: tuple[float, ...], told: str) -> None:
    """By hand: 0.05 is less than 0.8 · 0.09, and 0.075 is not."""
    said = one_head_off.repaired(1 if told else 3, np.array(moved))
    assert told in said and bool(told) == bool(said)


def test_two_heads_stand_among_the_pairs_of_their_layer(trace: Trace) -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = apart(trace, 2)
    least, most = min(pairs.values()), max(pairs.values())
    for (a, b), own in pairs.items():
        said = alike_or_different.said(trace, 2, a, b)
        assert f"are **{own:.2f}** apart" in said
        ends = ("more alike", most) if own == least else ("differ more", least) if own == most else ("between", least)
        assert ends[0] in said and f"{ends[1]:.2f}" in said
    farthest = alike_or_different.least_like(trace, 2, 0)
    assert pairs[0, farthest] == max(value for pair, value in pairs.items() if 0 in pair)


def test_the_longest_part_and_the_sum_are_told(trace: Trace) -> None:
    token, at = len(trace) - 1, trace.layer(0)
    weights = at.weights.w_o.unflatten(0, (len(at.context), -1))
    parts = torch.einsum("hk,hkd->hd", at.context[:, token], weights)
    values = parts.norm(dim=-1).numpy()
    said = join.said(Spot(trace, 0, 0, token, 0))
    named = [int(head) - 1 for head in re.findall(r"[Hh]ead (\d+)", said)]
    assert named == [int(values.argmax())], said
    told = sorted(float(number) for number in re.findall(r"\d+\.\d\d", said))
    assert told == pytest.approx(sorted([values.max(), values.sum(), parts.sum(dim=0).norm().item()]), abs=0.006)


@pytest.mark.parametrize("family", ["bert", "gpt2", "electra", "bert-headless"])
def test_every_family_and_a_single_token(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    model = lab.load_model(tiny_checkpoint(family, seed=1))
    for text in ("a", "The cat sat."):
        traced = lab.trace(model, text)
        spot = Spot(traced, 0, 0, 0, 0)
        for said in (all_heads.said(spot), alike_or_different.said(traced, 0, 0, 1), join.said(spot)):
            assert "nan" not in plain(said).replace("finance", "") and said.endswith(".")


@pytest.mark.parametrize("token", [1, 2])
def test_the_word_that_brings_most_is_the_longest_sum_over_heads(trace: Trace, token: int) -> None:
    """‖Σ_h α_h·f_h(x_j)‖, vector by vector, beside the sum of these lengths over all tokens (Kobayashi et al. 2020)."""
    best, where = 0.0, (0, 0)
    for number in range(trace.model.config.layers):
        layer = trace.layer(number)
        vectors = torch.einsum("hj,hjk,hkd->jd", layer.attention[:, token], layer.value, _by_head(layer))
        lengths = vectors.norm(dim=-1)
        for place in range(len(trace)):
            part = float(lengths[place] / lengths.sum())
            word = not trace.encoding.special[place] and re.search(r"\w", trace.labels[place])
            if part > best and place != token and word:
                best, where = part, (number, place)
    said = through_several_layers.said(trace, token)
    if not best:
        assert "No other word adds anything" in said
        return
    assert f"({where[1] + 1})" in said and f"in layer {where[0] + 1}" in said and f"{best:.0%}" in said


def _by_head(layer: LayerTrace) -> torch.Tensor:
    return layer.weights.w_o.unflatten(0, (len(layer.value), -1))
