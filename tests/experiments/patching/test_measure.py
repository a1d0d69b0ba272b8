"""Patches of a template as claims: chosen on A, reported on B, and what a transformer does by construction left out."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from lab.evidence.intervals import crossed_draws, holm
from lab.evidence.pairs import minimal_pairs, shared_words
from lab.evidence.tables import from_tables, to_tables
from lab.evidence.verdicts import FEW, Verdict
from lab.experiments.patching import measure
from lab.experiments.patching.claims import (
    BROUGHT,
    CLAIMS,
    LATE,
    LOGITS,
    NEEDED,
    SUFFICES,
    WORKED,
    Chosen,
    Sublayers,
    agreement,
    choose,
    compared,
    crossing,
    early,
    error,
)
from lab.experiments.patching.measure import PairRow, PatchingTest, known, names_of, untestable
from lab.experiments.patching.page import why_of
from lab.experiments.patching.patches import Maps, Patching
from lab.models.loading import load_model
from lab.models.trace import trace_encoding
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import drawn_by_words
from tests.thorough import one_by_day

MODELS = ("lab-bert", "lab-gpt2")
LAYERS, HEADS, TOKENS, SUBJECT, ASKED = 4, 3, 5, 1, 4


@pytest.fixture(params=MODELS)
def found(request: pytest.FixtureRequest) -> PatchingTest:
    result = known(load_model(request.param))
    assert result is not None
    return result


def random_maps(seed: int) -> Maps:
    rng = np.random.default_rng(seed)
    shapes = (LAYERS + 1, TOKENS), (LAYERS, TOKENS), (LAYERS, TOKENS), (LAYERS, HEADS, TOKENS)
    return Maps(*(rng.normal(size=shape) for shape in shapes))


@pytest.mark.parametrize(("layers", "states"), [(3, [1]), (4, [1]), (5, [1, 2]), (6, [1, 2])])
def test_early_is_the_first_half_between_both_ends(layers: int, states: list[int]) -> None:
    assert list(range(layers + 1))[early(layers)] == states


def test_two_layers_have_no_early_ones() -> None:
    with pytest.raises(ValueError, match="2 layers"):
        early(2)


@pytest.mark.parametrize(
    ("asked", "layer"), [([0, 0, 0.2, 0.9, 1], 3), ([0, 0.5, 0.1, 0.2, 1], 1), ([0, 0, 0, 0, 1], 4)]
)
def test_lines_cross_after_the_first_layer_with_as_much_at_the_asked_token(asked: list[float], layer: int) -> None:
    lines = np.zeros((5, TOKENS))
    lines[:, ASKED], lines[:, SUBJECT] = asked, [1, 0.5, 0.4, 0.3, 0]
    assert crossing(lines, SUBJECT, ASKED) == layer


def test_each_claim_compares_what_it_says() -> None:
    one, other, guess = map(random_maps, range(3))
    chosen = Chosen(asked=Sublayers(2, 3), subject=Sublayers(0, 1))
    two = Patching(1.0, 0.0, one, other, guess, other)
    each = compared(two, {SUFFICES: chosen, NEEDED: chosen}, SUBJECT, ASKED).tolist()
    numbers = dict(zip([claim.key for claim in CLAIMS], each, strict=True))
    assert numbers["early suffices"] == [one.residual[1, SUBJECT], one.residual[1, ASKED]]
    crossed = [at for at in range(1, LAYERS + 1) if one.residual[at, ASKED] >= one.residual[at, SUBJECT]]
    assert numbers["late suffices"] == [LAYERS, crossed[0] if crossed else LAYERS]
    crossed = [at for at in range(1, LAYERS + 1) if other.residual[at, ASKED] <= other.residual[at, SUBJECT]]
    assert numbers["late needed"] == [LAYERS, crossed[0] if crossed else LAYERS]
    assert numbers["brought suffices"] == [one.attention[2, ASKED], one.ffn[3, ASKED]]
    assert numbers["brought needed"] == [1 - other.attention[2, ASKED], 1 - other.ffn[3, ASKED]]
    assert numbers["worked out suffices"] == [one.ffn[1, SUBJECT], one.attention[0, SUBJECT]]
    rho = pd.DataFrame([one.heads.ravel(), guess.heads.ravel()]).T.rank().corr().iloc[0, 1]
    assert numbers["ranked"][0] == pytest.approx(rho)
    off = [np.abs(g - e).sum() / np.abs(e).sum() for e, g in ((one.residual, guess.residual), (one.heads, guess.heads))]
    assert numbers["failed"] == pytest.approx(off)


def test_the_layers_are_those_that_carry_most_up_to_the_crossing() -> None:
    maps, ends = random_maps(5), set()
    for end in range(1, LAYERS + 1):
        stream = np.zeros((LAYERS + 1, TOKENS))
        stream[end:, ASKED] = stream[:end, SUBJECT] = 1
        cut = replace(maps, residual=stream)
        chosen = choose(cut, SUBJECT, ASKED)
        assert maps.attention[chosen.asked.attention, ASKED] == maps.attention[:end, ASKED].max()
        assert maps.ffn[chosen.subject.ffn, SUBJECT] == maps.ffn[:end, SUBJECT].max()
        ends.add(chosen)
    assert len(ends) > 1


def test_agreement_leaves_out_what_does_nothing() -> None:
    exact, guess = np.array([0.3, 0.2, 0.1, 0.0, 0.0]), np.array([0.1, 0.2, 0.3, 0.0, 0.0])
    assert agreement(exact, guess) == pytest.approx(-1)
    assert agreement(exact, exact) == pytest.approx(1)
    assert agreement(np.zeros(4), np.zeros(4)) == 0 and agreement(np.ones(4), guess[:4]) == 0
    assert error(exact, exact) == 0 and error(exact, np.zeros(5)) == 1


def test_the_rows_are_half_b(found: PatchingTest) -> None:
    b = np.stack([row.numbers for row in found.pairs if row.pair.half == 1])
    assert len(b) >= FEW
    for at, row in enumerate(found.rows):
        first, second = b[:, at].T
        effect = row.effect
        assert (row.first, row.second, effect.count) == pytest.approx((first.mean(), second.mean(), len(b)))
        assert effect.low <= effect.estimate <= effect.high
        if row.judged.verdict is Verdict.OPPOSITE:
            assert effect.p_below < 0.05 and effect.twin is not None and effect.twin.p_below < 0.05
        if row.judged.verdict is Verdict.SAME:
            assert effect.p < 0.05 and effect.low > 0
            assert not row.claim.direction or (row.twin is not None and row.twin < effect.estimate)


def test_where_all_pairs_agree_on_a_layer_the_rule_of_three_gives_the_interval(found: PatchingTest) -> None:
    """A bootstrap would say that no pair anywhere crosses in another layer."""
    at, n = [claim.key for claim in CLAIMS].index(f"{LATE} {SUFFICES}"), len(found.half(1))
    numbers = [row.numbers.copy() for row in found.pairs]
    for each in numbers:
        each[at] = found.layers, found.layers - 1
    same = replace(found, pairs=tuple(replace(row, numbers=to) for row, to in zip(found.pairs, numbers, strict=True)))
    effect = same.rows[at].effect
    assert effect.estimate == 1
    assert (effect.low, effect.high) == pytest.approx((1 - 3 / n, 1 + 3 / n * (found.layers - 2)))


def test_what_parts_carry_is_compared_in_logits() -> None:
    """The recovered share times the size of the difference, whichever run prefers the good word."""
    one, other, guess = map(random_maps, range(3))
    chosen = Chosen(asked=Sublayers(2, 3), subject=Sublayers(0, 1))
    numbers = [
        compared(Patching(*both, one, other, guess, other), {SUFFICES: chosen, NEEDED: chosen}, SUBJECT, ASKED)
        for both in ((1.0, 0.0), (3.0, -1.0), (-1.0, 3.0))
    ]
    times = np.array([4.0 if claim.unit == LOGITS else 1.0 for claim in CLAIMS])[:, None]
    assert numbers[1] == pytest.approx(numbers[0] * times) and numbers[2] == pytest.approx(numbers[1])


def test_lengths_are_those_of_a_run(found: PatchingTest) -> None:
    """‖output‖ / ‖input‖ of both sublayers at the subject, from single runs instead of a batch."""
    model = load_model(shipped_model(found))
    pairs = [each for each in minimal_pairs(model, 12, templates=[measure.TEMPLATE]).pairs if each.pair.half]
    each = []
    for pair in pairs:
        run = trace_encoding(model, pair.encoding)
        at = pair.deciding
        each.append(
            [
                [float(out[at].norm() / layer.input[at].norm()) for out in (layer.attention_output, layer.ffn_output)]
                for layer in (run.layer(number) for number in range(model.config.layers))
            ]
        )
    assert measure.lengths(model, pairs) == pytest.approx(np.mean(each, axis=0), rel=1e-3)


def shipped_model(found: PatchingTest) -> str:
    assert found.made is not None
    return found.made.command.split()[-1]


def test_a_claim_in_the_last_layer_cannot_be_tested(found: PatchingTest) -> None:
    for row in found.rows:
        last = row.claim.id == LATE and found.crosses(row.claim.direction, 0) == found.layers
        assert ("the last one" in why_of(found, row)) == last
        assert not last or row.judged.verdict is Verdict.NOT_TESTABLE


def test_intervals_are_those_of_nouns_and_verbs_drawn_one_by_one(found: PatchingTest) -> None:
    """The pigeonhole bootstrap with loops: every noun and every verb is drawn, a pair counts their product."""
    rows = found.half(1)
    effects = np.stack([row.numbers[:, 0] - row.numbers[:, 1] for row in rows])
    drawn = drawn_by_words(effects, [row.pair for row in rows], seed=1)
    low, high = np.nanpercentile(drawn, [2.5, 97.5], axis=0)
    width = high - low
    for at, row in enumerate(found.rows):
        assert row.effect.low == pytest.approx(low[at], abs=0.25 * width[at] + 0.01)
        assert row.effect.high - row.effect.low == pytest.approx(width[at], rel=0.2, abs=0.01)
    # A draw in which no pair is drawn (0 / 0) counts against every claim.
    p = holm((1 + (~(drawn > 0)).sum(0)) / 1501)
    # Near 1 a correction for ten claims multiplies the chance of the draws by ten.
    assert np.allclose(np.minimum([row.effect.p for row in found.rows], 0.5), np.minimum(p, 0.5), atol=0.05)


def test_the_twin_is_drawn_with_the_same_words(found: PatchingTest) -> None:
    """A noun that counts twice for the model counts twice for its twin: equal pairs differ by nothing."""
    same = replace(found, twins=tuple(replace(row, twin=0) for row in found.half(1)))
    assert [row.twin for row in same.rows] == pytest.approx([row.effect.estimate for row in same.rows])
    held = {row.judged.verdict for row in same.rows if row.claim.direction}
    assert Verdict.ALSO_UNTRAINED in held and not held & {Verdict.SAME, Verdict.SMALLER, Verdict.LARGER}
    assert {row.effect.twin for row in same.rows if not row.claim.direction} == {None}, "claims about a method"
    nobody = replace(found, twins=())
    assert {row.twin for row in nobody.rows} == {None}
    weights = next(crossed_draws(*shared_words([row.pair for row in (*found.half(1), *found.half(1))])))
    own, other = np.split(weights, 2, axis=1)
    assert np.array_equal(own, other)


def test_the_spread_of_the_twins_is_in_their_interval(found: PatchingTest) -> None:
    """Two twins that differ by a constant: the interval reaches from the one to the other.

    A quarter of the draws has the one twin only, so the ends are each twin's 10 % and 90 % quantiles, about 0.7
    standard deviations inside a 95 % interval: a sixth of its width.
    """
    b = found.half(1)
    moved = [replace(row, twin=1, numbers=row.numbers + np.array([5.0, 0.0])) for row in b]
    alone = replace(found, twins=tuple(replace(row, twin=0) for row in b)).rows
    for one, two in zip(alone, replace(found, twins=(*(replace(row, twin=0) for row in b), *moved)).rows, strict=True):
        if one.effect.twin is None or two.effect.twin is None:
            continue
        near = 0.1 + (one.effect.twin.high - one.effect.twin.low) / 4
        assert two.effect.twin.low == pytest.approx(one.effect.twin.low, abs=near)
        assert two.effect.twin.high == pytest.approx(one.effect.twin.high + 5, abs=near)


def test_twins_are_drawn_anew(found: PatchingTest) -> None:
    assert {row.twin for row in found.twins} == set(range(measure.TWINS)) and {row.twin for row in found.pairs} == {-1}
    gaps = [[row.clean for row in found.twins if row.twin == number] for number in range(measure.TWINS)]
    assert len({tuple(each) for each in gaps}) == measure.TWINS


def test_too_few_pairs_are_no_verdict(found: PatchingTest) -> None:
    few = replace(found, pairs=(*found.half(0), *found.half(1)[: FEW - 1]))
    assert {row.judged.verdict for row in few.rows} == {Verdict.NOT_TESTABLE}
    assert all("too few" in why_of(few, row) or row.claim.id == LATE for row in few.rows)


def test_the_numbers_of_a_pair_are_in_the_means(found: PatchingTest) -> None:
    """The residual stream takes no choice: means of the pairs' numbers are the cells of the map."""
    stream, rows = found.carried[SUFFICES].on_b.residual, {row.claim.key: row for row in found.rows}
    gaps = np.array([abs(row.clean - row.corrupt) for row in found.half(1)])
    assert found.gap == pytest.approx(gaps.mean())
    early_share = np.mean([row.numbers[0, 0] for row in found.half(1)] / gaps)
    assert early_share == pytest.approx(stream[early(found.layers), found.subject].mean())
    assert rows[f"{LATE} suffices"].first == found.layers
    own, at = found.chosen(NEEDED), [claim.key for claim in CLAIMS].index("brought needed")
    assert np.mean([row.numbers[at, 0] for row in found.half(1)] / gaps) == pytest.approx(
        found.carried[NEEDED].on_b.attention[own.asked.attention, found.asked]
    )


def test_both_ends_are_as_a_transformer_is_built(found: PatchingTest) -> None:
    for means in found.carried.values():
        for half in (means.on_a, means.on_b):
            assert half.residual[0] == pytest.approx(np.eye(len(found.tokens))[found.subject], abs=1e-4)
            assert half.residual[-1] == pytest.approx(np.eye(len(found.tokens))[found.asked], abs=1e-4)


def test_the_halves_share_no_subject(found: PatchingTest) -> None:
    a, b = ({row.pair.text.split()[1] for row in found.half(half)} for half in (0, 1))
    assert a and b and not a & b


def test_no_pair_is_another_turned_round(found: PatchingTest) -> None:
    both = {(row.pair.text, row.pair.other) for row in found.pairs}
    assert not [1 for text, other in both if (other, text) in both]


def test_tables_keep_everything(found: PatchingTest) -> None:
    again = from_tables(PatchingTest, to_tables(found))
    assert again.pairs[3].pair == found.pairs[3].pair and again.refused == found.refused
    assert (again.tokens, again.subject, again.asked) == (found.tokens, found.subject, found.asked)
    assert [row.effect for row in again.rows] == [row.effect for row in found.rows]
    assert np.array_equal(again.lengths, found.lengths)
    for f in fields(Maps):
        both = (getattr(each.carried[NEEDED].low, f.name) for each in (again, found))
        assert np.array_equal(*both)
    assert [(row.pair, row.twin) for row in again.twins] == [(row.pair, row.twin) for row in found.twins]
    assert all(np.array_equal(a.numbers, b.numbers) for a, b in zip(again.twins, found.twins, strict=True))


@one_by_day
@pytest.mark.parametrize("model_id", MODELS)
def test_what_ships_is_what_is_measured(model_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pairs again, by the whole way from drawing to tables; progress runs to 1."""
    model, ships = load_model(model_id), known(load_model(model_id))
    assert ships is not None
    monkeypatch.setattr(measure, "PAIRS", 4)
    monkeypatch.setattr(measure, "TWINS", 2)
    told: list[float] = []
    found = measure.replicate(model, told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1) and told[0] < 0.2
    assert {row.twin for row in found.twins} == {0, 1}
    assert found.tokens == ships.tokens == names_of(minimal_pairs(model, 4, templates=[measure.TEMPLATE]).pairs[0])
    assert found.tokens[found.subject] == "subject"
    shipped: dict[str, PairRow] = {row.pair.text: row for row in ships.pairs}
    for row in found.pairs:
        same = shipped[row.pair.text]
        assert (row.clean, row.corrupt) == pytest.approx((same.clean, same.corrupt), abs=1e-3)
        for at, claim in enumerate(CLAIMS):
            if claim.id not in (BROUGHT, WORKED):  # these take a choice of a layer
                assert row.numbers[at] == pytest.approx(same.numbers[at], abs=1e-2)


def test_what_cannot_be_tested_is_said(tiny_checkpoint: TinyCheckpoint) -> None:
    assert not untestable(load_model("lab-gpt2"))
    assert "vocabulary head" in untestable(load_model(tiny_checkpoint("bert-headless")))
    assert untestable(load_model(tiny_checkpoint("gpt2")))
