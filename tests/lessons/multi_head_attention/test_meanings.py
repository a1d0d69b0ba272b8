"""What the multi-head lesson says of its figures, held to the tensors by other formulas than the lab's."""

from __future__ import annotations

import re
from itertools import combinations

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import lab
from lab.analysis.heads import comparing
from lab.course.sentences.examples import example_named
from lab.course.words import plain, share
from lab.lessons.multi_head_attention import meanings
from lab.models.interventions import Interventions
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.sentences import STORY

TEXTS = (STORY, example_named("A garden path").text, "Dogs.")
Maps = NDArray[np.float64]


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
        said, maps = meanings.side_by_side(trace, layer, head, query), maps_of(trace, layer)
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
    assert "Only head 11 looks most at" in meanings.side_by_side(story, 4, 10, query)
    layer, head, weight = comparing.strongest_elsewhere(story, 4, 10, query)
    assert (layer, head) == (2, 4) and weight == pytest.approx(0.41, abs=0.01)


def test_with_each_head_off_the_largest_change_is_told_and_the_small_ones_are_counted() -> None:
    """By hand: of 0.2, a change to 0.208 is 4 %, and one to 0.212 is 6 %."""
    after = np.array([[0.2, 0.208, 0.212], [0.05, 0.2, 0.3]])
    said = meanings.each_off("cat", 0.2, after)
    assert "Switching off layer 2, head 1 changes it most: from 0.200 to 0.050." in said  # and not 0.3: a factor of 1.5
    assert said.startswith("3 of the 6 heads change the probability of “\u2068cat\u2069” by less than 5 % each.")
    assert "No single head" in meanings.each_off("cat", 0.2, np.full((2, 2), 0.2005))


def test_two_heads_stand_among_the_pairs_of_their_layer(trace: Trace) -> None:
    with np.errstate(divide="ignore", invalid="ignore"):
        pairs = apart(trace, 2)
    for (a, b), own in pairs.items():
        said = meanings.two(trace, 2, a, b)
        assert f"are {own:.2f} apart" in said and f"{np.log(2):.2f}." in said
        if found := re.search(r"layer, (\d+) are more alike", said):
            closer = sum(each < own - 1e-9 for each in pairs.values())
            assert int(found[1]) == closer
            assert (f"{b + 1} are less alike than most" in said) == (closer > len(pairs) / 2)
        else:
            assert own in (min(pairs.values()), max(pairs.values()))
    farthest = meanings.least_like(trace, 2, 0)
    assert pairs[0, farthest] == max(value for pair, value in pairs.items() if 0 in pair)


def test_the_longest_and_the_shortest_part_are_named(trace: Trace) -> None:
    token, at = len(trace) - 1, trace.layer(0)
    weights = at.weights.w_o.unflatten(0, (len(at.context), -1))
    parts = torch.einsum("hk,hkd->hd", at.context[:, token], weights)
    values = parts.norm(dim=-1).numpy()
    said = meanings.added(trace, 0, token)
    named = [int(head) - 1 for head in re.findall(r"head (\d+)", said)]
    assert named == [int(values.argmax()), int(values.argmin())], said
    told = [float(number) for number in re.findall(r"\d+\.\d\d", said)]
    expected = [values[named[0]], values[named[1]], values.sum(), parts.sum(dim=0).norm().item()]
    assert told == pytest.approx([float(each) for each in expected[: len(told)]], abs=0.006)


def test_a_head_off_changes_the_word_as_told(trace: Trace) -> None:
    place = len(trace) - 2
    word = int(trace.logits(place)[0].argmax())
    for head in ((0, 0), (1, 6), (3, 2)):
        off = lab.trace(trace.model, trace.text, interventions=Interventions(zero_heads=frozenset({head})))
        before, after = (float(run.logits(place)[0].double().softmax(-1)[word]) for run in (trace, off))
        said = meanings.one_off(trace, head, place, (word, "it"))
        then = int(off.logits(place)[0].argmax())
        if then != word:
            assert f"({share(before)} with it, {share(after)} without)" in said and "in place of" in said
        elif abs(np.log(after / before)) < 0.01:
            assert f"stays at {share(before)}" in said
        else:
            assert ("less probable" in said) == (after < before)
            assert f"{share(after)} in place of {share(before)}" in said
    assert "set to 0" in meanings.measured(False) and "set to their mean" in meanings.measured(True)
    assert re.search(r"move by \d+% of their length", meanings.one_off(trace, (0, 0), None, None))


@pytest.mark.parametrize("family", ["bert", "gpt2", "electra", "bert-headless"])
def test_every_family_and_a_single_token(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    model = lab.load_model(tiny_checkpoint(family, seed=1))
    for text in ("a", "The cat sat."):
        traced = lab.trace(model, text)
        for said in (
            meanings.side_by_side(traced, 0, 0, 0),
            meanings.two(traced, 0, 0, 1),
            meanings.added(traced, 0, 0),
            meanings.one_off(traced, (0, 0), None, None),
        ):
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
    said = meanings.through_layers(trace, token)
    if not best:
        assert "No other word adds anything" in said
        return
    assert f"({where[1] + 1})" in said and f"in layer {where[0] + 1}" in said and f"{best:.0%}" in said


def _by_head(layer: LayerTrace) -> torch.Tensor:
    return layer.weights.w_o.unflatten(0, (len(layer.value), -1))
