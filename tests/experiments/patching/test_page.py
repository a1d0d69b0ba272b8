"""What the page on patching says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import lab
from lab.course.words import quoted
from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import HOLDS
from lab.experiments.patching import page
from lab.experiments.patching.claims import SUFFICES, flipped
from lab.experiments.patching.measure import PatchingTest, known
from lab.experiments.patching.own_pair import OwnPair, own_contrast, own_patching
from lab.figures import choices
from lab.figures.notebook import python_of
from lab.models.loading import LoadedModel
from lab.models.trace import trace_encoding

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


def test_the_meaning_has_the_result_s_numbers(found: PatchingTest) -> None:
    said, full, table = page.meaning_of(found, "m"), page.in_full(found), page.as_frame(found)
    b = [row for row in found.pairs if row.pair.half == 1]
    assert f"the two logits by {np.mean([row.clean - row.corrupt for row in b]):.2f} on average" in full
    located = table[table["direction"] != "–"]
    held = located["verdict"].isin([LABELS[verdict] for verdict in HOLDS]).sum()
    assert (f"**{held} of 8**" in full) == (held < 8) and ("All 8 claims" in full) == (held == 8)
    for line in table.to_dict("records"):
        named = full.partition("untrained twin: ")[2]
        assert (f"“{line['claim']}”" in named) == (
            "also untrained" in table.loc[table["claim"] == line["claim"], "verdict"].tolist()
        )
    state = found.carried[SUFFICES].on_b.residual[1]
    elsewhere = state.argmax() not in (found.subject, found.asked)
    assert (f"does not name recovers the most: {found.tokens[state.argmax()]}, {state.max():.0%}" in full) == elsewhere
    head = page.best_frame(found).query("direction == @choices.SUFFICES and part == 'Single head'").iloc[0]
    layer, number = page.best_head(found).head
    assert head["best on A"].startswith(f"layer {layer + 1} head {number + 1},")
    assert f"layer {layer + 1}, head {number + 1} at the" in said and f"recovers {head['on B']:.0%}." in said
    verdicts = page.verdict_of(found)
    for claim, both in located.groupby("claim"):
        (told,) = [line for line in verdicts.splitlines() if line.startswith(f"- {claim}: ")]
        assert set(re.findall(r"\*\*(.*?)\*\*", told)) == set(both["verdict"])
    assert ("**Also untrained**" in verdicts) == ("also untrained" in located["verdict"].tolist())
    relay = page.relay_frame(found).query("direction == @choices.SUFFICES")
    assert f"Attention in layer {relay['attention of layer'].iloc[0]} brings the number to the asked token" in said
    assert f"on its own, it recovers {relay['carried'].iloc[0]:.0%}" in said
    single = relay[relay["held network"].str.startswith("that of")]
    assert f"{single['carried'].min():.0%} when the feed-forward network of layer" in full


def test_the_crossing_is_the_layer_where_the_asked_token_has_more(found: PatchingTest) -> None:
    for crossing in range(1, found.layers + 1):
        subject = [0.8] * (crossing - 1) + [0.3] * (found.layers - crossing + 1)
        moved = with_stream(found, subject, [0.6] * found.layers)
        assert moved.crosses(SUFFICES) == crossing
        said = page.meaning_of(moved, "m")
        last = "in every layer but the last" in said
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
        and f"recovers {share:.0%} (95 % interval: {share - 0.01:.0%} to {share + 0.01:.0%}" in answer[1]
    )
    assert page.decided(with_interval(0.5)) is None, "the interval leaves it open"


@pytest.mark.parametrize("part", choices.PATCHED)
@pytest.mark.parametrize("way", [choices.SUFFICES, choices.NEEDED])
def test_the_maps_are_means_over_b(found: PatchingTest, part: str, way: str) -> None:
    assert found.made is not None
    model = lab.load_model(found.made.command.split()[-1])
    drawn = page.template_map(model, part, way)
    maps = found.carried[page.DIRECTION[way]].on_b
    places = {choices.HEADS_WHERE_ASKED: found.asked, choices.HEADS_WHERE_DIFFERENT: found.subject}
    values = maps.heads[..., places[part]] if part in places else getattr(maps, page._SITE[part])
    assert drawn.shape == values.shape
    assert np.allclose(drawn.data["value"], values.reshape(-1), atol=1e-6)
    table = drawn.table()
    assert len(table) == (maps.heads if part in places else values).size
    assert (table["low"] <= table["carried"] + 1e-9).all() and (table["carried"] <= table["high"] + 1e-9).all()


def test_a_pair_of_one_s_own_is_drawn_as_it_is_patched(gpt2: LoadedModel) -> None:
    two = own_contrast(gpt2, OWN)
    found = own_patching(gpt2, two)
    drawn = page.own_map(gpt2, OWN, choices.FFN_OUTPUT, choices.NEEDED)
    assert np.allclose(drawn.data["value"], flipped(found.corrupt_into_clean).ffn.reshape(-1), atol=1e-6)
    assert page.labels(gpt2, two)[1] == "␣boys/␣boy"
    points = page.own_estimates(gpt2, OWN, choices.HEADS_WHERE_ASKED)
    assert np.allclose(points.data["x"], found.clean_into_corrupt.heads.reshape(-1), atol=1e-6)
    assert np.allclose(points.data["value"], found.estimated_into_corrupt.heads.reshape(-1), atol=1e-6)


def test_what_parts_add_is_the_difference_of_the_logits(gpt2: LoadedModel) -> None:
    two = own_contrast(gpt2, OWN)
    logits = trace_encoding(gpt2, two.clean).logits(two.place)[0]
    apart = float(logits[two.good] - logits[two.bad])
    heads, ffn, embedded, biases = page.parts_of(gpt2, two)
    assert heads.sum() + ffn.sum() + embedded + biases == pytest.approx(apart, abs=1e-4)
    assert f"Together, this is **{apart:+.2f}**" in page.added_up(heads, ffn, embedded, biases)


def test_what_is_said_of_a_pair_is_in_its_maps(gpt2: LoadedModel) -> None:
    two = own_contrast(gpt2, OWN)
    found, labels = own_patching(gpt2, two), page.labels(gpt2, two)
    said = page.own_meaning(found, labels, two.place, choices.SUFFICES)
    stream = found.clean_into_corrupt.residual
    assert f"{quoted(labels[int(stream[1].argmax())])} alone recovers the most, {stream[1].max():.0%}" in said
    most = stream[1:].argmax(axis=1)
    first = next(layer for layer in range(1, len(stream)) if (most[layer - 1 :] == two.place).all())
    last = first == len(stream) - 1
    assert (f"From layer {first} on, the asked token" in said) != last
    assert ("only after the last layer" in said) == last
    best = found.clean_into_corrupt.heads.max()
    assert f"{best:.0%}" in said.rpartition("single heads")[2]


@pytest.mark.parametrize(
    "call",
    [
        partial(page.template_map, part=choices.ATTENTION_OUTPUT, way=choices.SUFFICES),
        partial(page.template_estimates, part=choices.RESIDUAL_STREAM),
        partial(page.claim_table),
        partial(page.own_map, own=OWN, part=choices.HEADS_WHERE_DIFFERENT, way=choices.NEEDED),
        partial(page.own_estimates, own=OWN, part=choices.FFN_OUTPUT),
        partial(page.own_contributions, own=OWN),
    ],
)
def test_figures_and_table_can_be_taken_home(call: partial[Any], gpt2: LoadedModel) -> None:
    whole = partial(call.func, gpt2, **call.keywords)
    setup, expression = python_of(whole)
    scope: dict[str, Any] = {}
    exec(setup, scope)
    again, here = eval(expression, scope), whole()
    assert again.equals(here) if call.func is page.claim_table else again.table().equals(here.table())


def test_estimates_that_are_exact_have_no_error(found: PatchingTest) -> None:
    exact = replace(found, estimated=found.carried[SUFFICES].on_b)
    frame = page.estimate_frame(exact)
    assert (frame["error"] == 0).all() and np.allclose(frame["rank correlation"], 1)
    assert (page.estimate_frame(found)["error"] > 0).all()


def test_a_pair_is_as_claimed_by_both_ends_of_the_residual_stream(found: PatchingTest) -> None:
    row = found.half(1)[0]
    for early, late in ((1.0, 1.0), (-1.0, 1.0), (1.0, -1.0)):
        numbers = row.numbers.copy()
        numbers[0], numbers[2] = (early, 0.0), (late, 0.0)
        assert page.as_claimed(replace(row, numbers=numbers)) == (early > 0 and late > 0)
