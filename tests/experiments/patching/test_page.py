"""What the page on patching says of a result is computed again from the result."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import lab
from lab.course.words import in_words, quoted
from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import HOLDS
from lab.experiments.patching import learners_pair, page
from lab.experiments.patching.claims import EARLY, SUFFICES, WORKED, flipped
from lab.experiments.patching.learners_pair import OwnPair, differing, own_contrast, own_patching
from lab.experiments.patching.measure import PatchingTest, known
from lab.figures import choices
from lab.figures.notebook import python_of
from lab.models.loading import LoadedModel
from tests.thorough import one_by_day
from tests.told import numbers

OWN = OwnPair("The boys in the garden _ playing.", "The boy in the garden _ playing.", "were", "was")


@pytest.fixture(scope="module")
def gpt2() -> LoadedModel:
    return lab.load_model("lab-gpt2")


@pytest.fixture(params=["lab-minilm", "lab-bert", "lab-gpt2"])
def found(request: pytest.FixtureRequest) -> PatchingTest:
    result = known(lab.load_model(request.param))
    assert result is not None
    return result


def with_stream(found: PatchingTest, subject: list[float], asked: list[float]) -> PatchingTest:
    """The result, had these two tokens carried this much after each layer."""
    means = found.carried[SUFFICES]
    stream = means.on_b.residual.copy()
    stream[1:, found.subject], stream[1:, found.asked] = subject, asked
    changed = replace(means, on_b=replace(means.on_b, residual=stream))
    return replace(found, carried={**found.carried, SUFFICES: changed})


def test_the_table_has_the_result_s_numbers(found: PatchingTest) -> None:
    b = np.stack([row.numbers for row in found.half(1)])
    for at, row in enumerate(found.rows):
        line, effect = page.line(found, row), row.effect
        told = numbers(line.here)
        means = b[:, at].mean(axis=0).tolist()
        assert told == pytest.approx([effect.estimate, effect.low, effect.high, *means], abs=0.006)
        assert effect.estimate == pytest.approx(means[0] - means[1]) and line.count == len(b)
        twin = numbers(line.twin)
        effects = [row.numbers[at, 0] - row.numbers[at, 1] for row in found.twins]
        assert twin[:1] == (pytest.approx([np.mean(effects)], abs=0.006) if row.claim.direction else [])
        assert line.verdict == LABELS[row.judged.verdict]
        assert (page.BY_CONSTRUCTION in line.cells[-1]) == (row.claim.id == EARLY)
        attention, network = found.lengths.T
        longer = (page.LONGER in line.cells[-1], page.NOT_LONGER in line.cells[-1])
        if row.claim.id == WORKED:
            chosen = found.chosen(row.claim.direction).subject
            is_longer = network[chosen.ffn] > attention[chosen.attention]
            assert longer == (is_longer, not is_longer)
        else:
            assert longer == (False, False)


def test_the_meaning_follows_from_the_verdicts(found: PatchingTest) -> None:
    verdicts: dict[str, list[bool]] = {}
    for row in found.rows[:8]:
        verdicts.setdefault(row.claim.id, []).append(row.judged.verdict in HOLDS)
    assert all(verdicts.pop(EARLY)) == all(row.judged.verdict in HOLDS for row in found.rows[:2])
    said, held = page.meaning_of(found, "m"), {claim for claim, both in verdicts.items() if all(both)}
    assert len(verdicts) == 3 and f"by construction, {in_words(len(held)) if held else 'none'} of the three" in said
    assert {claim for claim in verdicts if f"“{page.SAYS[claim]}”" in said} == ({*verdicts} - held if held else set())
    best = page.best_head(found)
    told = f"layer {best.head[0] + 1}, head {best.head[1] + 1} at the"
    assert told in page.meaning_of(found, "m") and f"recovers {best.share:.0%}." in page.meaning_of(found, "m")


@one_by_day
def test_the_crossing_is_the_layer_where_the_asked_token_has_more(found: PatchingTest) -> None:
    for crossing in range(1, found.layers + 1):
        subject = [0.8] * (crossing - 1) + [0.3] * (found.layers - crossing + 1)
        moved = with_stream(found, subject, [0.6] * found.layers)
        assert moved.crosses(SUFFICES) == crossing
        said = page.meaning_of(moved, "m")
        last = "after every layer but the last" in said
        assert last == (crossing == found.layers) and (f"From layer {crossing} on" in said) != last


@pytest.mark.parametrize(("share", "option"), [(0.05, 1), (0.47, 1), (0.53, 0), (0.9, 0)])
def test_how_much_the_best_head_brings_back_is_the_answer(found: PatchingTest, share: float, option: int) -> None:
    best, means = page.best_head(found), found.carried[SUFFICES]
    place = (*best.head, best.token)

    def with_interval(half: float) -> PatchingTest:
        changed = {}
        for name, value in (("on_b", share), ("low", share - half), ("high", share + half)):
            heads = getattr(means, name).heads.copy()
            heads[place] = value
            changed[name] = replace(getattr(means, name), heads=heads)
        return replace(found, carried={**found.carried, SUFFICES: replace(means, **changed)})

    answer = page.decided(with_interval(0.01))
    assert (
        answer is not None
        and answer[0] == option
        and f"recovers {share:.0%}, with an interval from {share - 0.01:.0%} to {share + 0.01:.0%}" in answer[1]
    )
    assert page.decided(with_interval(0.5)) is None, "the interval leaves it open"


def test_the_map_has_the_means_over_b(found: PatchingTest) -> None:
    assert found.made is not None
    drawn = page.template_map(lab.load_model(found.made.command.split()[-1]))
    values = found.carried[SUFFICES].on_b.residual
    assert drawn.shape == values.shape and np.allclose(drawn.data["value"], values.reshape(-1), atol=1e-6)
    table = drawn.table()
    assert len(table) == values.size
    assert (table["low"] <= table["recovers"] + 1e-9).all() and (table["recovers"] <= table["high"] + 1e-9).all()
    cell = table[(table["after"] == "layer 1") & (table["token"] == "subject")]["recovers"].item()
    assert cell == values[1, found.subject]


@pytest.mark.parametrize("part", choices.PATCHED)
def test_every_part_of_a_pair_can_be_drawn(gpt2: LoadedModel, part: str) -> None:
    two = own_contrast(gpt2, OWN)
    maps = own_patching(gpt2, two).clean_into_corrupt
    places = {choices.HEADS_WHERE_ASKED: two.place, choices.HEADS_WHERE_DIFFERENT: differing(two)[0]}
    values = maps.heads[..., places[part]] if part in places else getattr(maps, learners_pair._SITE[part])
    drawn = learners_pair.own_map(gpt2, OWN, part, choices.SUFFICES)
    assert drawn.shape == values.shape and np.allclose(drawn.data["value"], values.reshape(-1), atol=1e-6)


def test_a_pair_of_one_s_own_is_drawn_as_it_is_patched(gpt2: LoadedModel) -> None:
    two = own_contrast(gpt2, OWN)
    found = own_patching(gpt2, two)
    drawn = learners_pair.own_map(gpt2, OWN, choices.FFN_OUTPUT, choices.NEEDED)
    assert np.allclose(drawn.data["value"], flipped(found.corrupt_into_clean).ffn.reshape(-1), atol=1e-6)
    assert learners_pair.labels(gpt2, two)[1] == "␣boys/␣boy"


def test_what_is_said_of_a_pair_is_in_its_maps(gpt2: LoadedModel) -> None:
    two = own_contrast(gpt2, OWN)
    found, labels = own_patching(gpt2, two), learners_pair.labels(gpt2, two)
    said = learners_pair.own_meaning(found, labels, two.place, choices.SUFFICES)
    stream = found.clean_into_corrupt.residual
    assert f"{quoted(labels[int(stream[1].argmax())])} alone recovers the most, {stream[1].max():.0%}" in said
    most = stream[1:].argmax(axis=1)
    first = next(layer for layer in range(1, len(stream)) if (most[layer - 1 :] == two.place).all())
    last = first == len(stream) - 1
    assert (f"From layer {first} on, the asked token" in said) != last
    assert ("only after the last layer" in said) == last
    best = found.clean_into_corrupt.heads.max()
    assert f"{best:.0%}" in said.rpartition("single heads")[2]


def test_the_figure_of_an_own_pair_can_be_taken_home(gpt2: LoadedModel) -> None:
    whole = partial(learners_pair.own_map, gpt2, OWN, choices.HEADS_WHERE_DIFFERENT, choices.NEEDED)
    setup, expression = python_of(whole)
    scope: dict[str, Any] = {}
    exec(setup, scope)
    assert eval(expression, scope).table().equals(whole().table())


def test_a_pair_is_as_claimed_by_both_ends_of_the_residual_stream(found: PatchingTest) -> None:
    row = found.half(1)[0]
    for early, late in ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)):
        numbers = row.numbers.copy()
        numbers[0], numbers[2] = (early, 0.0), (late, 0.0)
        assert page.as_claimed(replace(row, numbers=numbers)) == (early > 0 and late > 0)
