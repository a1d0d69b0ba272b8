"""Patches of a template as claims: chosen on A, reported on B, and what a transformer does by construction left out."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pandas as pd
import pytest

from lab.experiments import patched
from lab.experiments.intervals import holm
from lab.experiments.pairs import minimal_pairs
from lab.experiments.patched import PairRow, PatchingTest, known, names_of, untestable
from lab.experiments.patching import Maps, Patching
from lab.experiments.patching_claims import (
    CLAIMS,
    NEEDED,
    SUFFICES,
    Chosen,
    Sublayers,
    agreement,
    choose,
    compared,
    early_and_late,
    error,
)
from lab.experiments.patching_tables import as_tables, from_tables
from lab.experiments.verdicts import FEW, Verdict
from lab.models.loading import load_model
from tests.conftest import TinyCheckpoint

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


@pytest.mark.parametrize(
    ("layers", "early", "late"), [(3, [1], [2]), (4, [1], [3]), (5, [1, 2], [3, 4]), (6, [1, 2], [4, 5])]
)
def test_early_and_late_leave_out_both_ends_and_the_middle(layers: int, early: list[int], late: list[int]) -> None:
    states = list(range(layers + 1))
    assert [states[each] for each in early_and_late(layers)] == [early, late]


def test_two_layers_have_no_early_and_late() -> None:
    with pytest.raises(ValueError, match="2 layers"):
        early_and_late(2)


def test_each_claim_compares_what_it_says() -> None:
    one, other, guess = map(random_maps, range(3))
    chosen = Chosen(asked=Sublayers(2, 3), subject=Sublayers(0, 1))
    two = Patching(1.0, 0.0, one, other, guess, other)
    each = compared(two, {SUFFICES: chosen, NEEDED: chosen}, SUBJECT, ASKED).tolist()
    numbers = dict(zip([claim.key for claim in CLAIMS], each, strict=True))
    assert numbers["early suffices"] == [one.residual[1, SUBJECT], one.residual[1, ASKED]]
    assert numbers["late suffices"] == [one.residual[3, ASKED], one.residual[3, SUBJECT]]
    assert numbers["late needed"] == [1 - other.residual[3, ASKED], 1 - other.residual[3, SUBJECT]]
    assert numbers["brought suffices"] == [one.attention[2, ASKED], one.ffn[3, ASKED]]
    assert numbers["brought needed"] == [1 - other.attention[2, ASKED], 1 - other.ffn[3, ASKED]]
    assert numbers["worked out suffices"] == [one.ffn[1, SUBJECT], one.attention[0, SUBJECT]]
    rho = pd.DataFrame([one.heads.ravel(), guess.heads.ravel()]).T.rank().corr().iloc[0, 1]
    assert numbers["ranked"][0] == pytest.approx(rho)
    off = [np.abs(g - e).sum() / np.abs(e).sum() for e, g in ((one.residual, guess.residual), (one.heads, guess.heads))]
    assert numbers["failed"] == pytest.approx(off)


def test_the_layers_are_those_that_carry_most() -> None:
    maps = random_maps(5)
    chosen = choose(maps, SUBJECT, ASKED)
    assert maps.attention[chosen.asked.attention, ASKED] == maps.attention[:, ASKED].max()
    assert maps.ffn[chosen.subject.ffn, SUBJECT] == maps.ffn[:, SUBJECT].max()


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
        assert (row.first, row.second, row.count) == pytest.approx((first.mean(), second.mean(), len(b)))
        half = 1.96 * (first - second).std(ddof=1) / np.sqrt(len(b))
        assert row.low == pytest.approx(row.effect - half, abs=0.4 * half)
        assert row.high == pytest.approx(row.effect + half, abs=0.4 * half)
        assert (row.judged.verdict is Verdict.SAME) == (row.p < 0.05)
        if row.low > 0.01:
            assert row.judged.verdict is Verdict.SAME
        if row.high < 0:
            assert row.judged.verdict is Verdict.NOT_REPRODUCED


def test_p_is_corrected_for_all_claims(found: PatchingTest) -> None:
    b = np.stack([row.numbers[:, 0] - row.numbers[:, 1] for row in found.half(1)])
    rng = np.random.default_rng(1)
    drawn = np.stack([b[rng.integers(len(b), size=len(b))].mean(0) for _ in range(2000)])
    p = holm((1 + (drawn <= 0).sum(0)) / 2001)
    assert [row.p for row in found.rows] == pytest.approx(p.tolist(), rel=0.15, abs=0.005)


def test_too_few_pairs_are_no_verdict(found: PatchingTest) -> None:
    few = replace(found, pairs=(*found.half(0), *found.half(1)[: FEW - 1]))
    assert {row.judged.verdict for row in few.rows} == {Verdict.NOT_TESTABLE}
    assert all("too few" in row.judged.why for row in few.rows)


def test_the_numbers_of_a_pair_are_in_the_means(found: PatchingTest) -> None:
    """The residual stream takes no choice: means of the pairs' numbers are the cells of the map."""
    early, late = early_and_late(found.layers)
    stream, rows = found.carried[SUFFICES].on_b.residual, {row.claim.key: row for row in found.rows}
    assert rows["early suffices"].first == pytest.approx(stream[early, found.subject].mean())
    assert rows["late suffices"].first == pytest.approx(stream[late, found.asked].mean())
    own = found.chosen(NEEDED)
    assert rows["brought needed"].first == pytest.approx(
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
    again = from_tables(as_tables(found))
    assert again.pairs[3].pair == found.pairs[3].pair and again.refused == found.refused
    assert (again.tokens, again.subject, again.asked) == (found.tokens, found.subject, found.asked)
    assert [row.effect for row in again.rows] == [row.effect for row in found.rows]
    for f in fields(Maps):
        assert np.array_equal(getattr(again.estimated, f.name), getattr(found.estimated, f.name))
    assert np.array_equal(again.twin, found.twin)


@pytest.mark.parametrize("model_id", MODELS)
def test_what_ships_is_what_is_measured(model_id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first pairs again, by the whole way from drawing to tables; progress runs to 1."""
    model, ships = load_model(model_id), known(load_model(model_id))
    assert ships is not None
    monkeypatch.setattr(patched, "PAIRS", 12)
    told: list[float] = []
    found = patched.replicate(model, told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1) and told[0] < 0.2
    assert found.tokens == ships.tokens == names_of(minimal_pairs(model, 12, templates=[patched.TEMPLATE]).pairs[0])
    assert found.tokens[found.subject] == "subject"
    shipped: dict[str, PairRow] = {row.pair.text: row for row in ships.pairs}
    for row in found.pairs:
        same = shipped[row.pair.text]
        assert (row.clean, row.corrupt) == pytest.approx((same.clean, same.corrupt), abs=1e-3)
        # The rows that take no choice of a layer.
        for at in (0, 1, 2, 3, 8, 9):
            assert row.numbers[at] == pytest.approx(same.numbers[at], abs=1e-2)


def test_what_cannot_be_tested_is_said(tiny_checkpoint: TinyCheckpoint) -> None:
    assert not untestable(load_model("lab-gpt2"))
    assert "language-modelling head" in untestable(load_model(tiny_checkpoint("bert-headless")))
    assert untestable(load_model(tiny_checkpoint("gpt2")))
