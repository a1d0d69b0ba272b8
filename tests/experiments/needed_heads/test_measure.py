"""The experiment on needed heads: rules on made-up models, numbers beside an independent bootstrap, what ships."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.evidence import shipped
from lab.evidence.competition import differences
from lab.evidence.pairs import MinimalPair, minimal_pairs
from lab.evidence.tables import from_tables, to_tables
from lab.evidence.verdicts import FEW, Verdict
from lab.experiments.needed_heads import measure
from lab.experiments.needed_heads.ablations import ABLATED, only_one_head, without_each_head
from lab.experiments.needed_heads.claims import (
    EACH,
    FIFTH,
    GREEDY,
    HURTS,
    IMPORTANCE,
    MARGIN,
    NEEDED,
    ONE,
    PRUNED,
    _for_free,
    claims,
    claims_in,
)
from lab.experiments.needed_heads.measure import (
    TWIN,
    MeanEffects,
    NeededTest,
    a_fifth,
    mean_effects,
)
from lab.experiments.needed_heads.page import why_of
from lab.experiments.needed_heads.pruning import by_importance, importance
from lab.models.interventions import Head, Interventions
from lab.models.jobs import Stopped
from lab.models.loading import LoadedModel, load_model
from lab.models.twin import untrained_twin
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import drawn_by_words
from tests.thorough import one_by_day

MODELS = ("lab-bert", "lab-gpt2")
SHAPE = (2, 4)
PAIRS = 400


@pytest.fixture(scope="module", params=MODELS)
def model(request: pytest.FixtureRequest) -> LoadedModel:
    return load_model(request.param)


@pytest.fixture(scope="module")
def result(model: LoadedModel) -> NeededTest:
    found = measure.known(model)
    assert found is not None, f"stale: run python -m training.evaluation.experiments needed_heads {model.id}"
    return found


def made_up(
    lost: dict[Head, float] | None = None,
    together: float = 0.0,
    right: float = 0.8,
    by_mean: float = 1.0,
    twin_lost: dict[Head, float] | None = None,
) -> NeededTest:
    """A model that is right in a share of pairs; without a head, or a fifth of them, it loses so much more of it.

    Alone in its layer, a head loses what ``lost`` says of it. Where heads write their mean, ``by_mean`` times as much
    is lost. Each pair has a noun of its own.
    """
    rng, pairs, lost = np.random.default_rng(0), PAIRS, lost or {}

    def answers(share: float) -> np.ndarray:
        return np.where(rng.permutation(pairs) < share * pairs, 1.0, -1.0)

    plain = answers(right)

    def without(share: float) -> np.ndarray:
        """The plain answers, of which so many turn; the logits move a little, too."""
        turned = plain.copy()
        own = rng.permutation(np.flatnonzero(plain > 0) if share > 0 else np.flatnonzero(plain < 0))
        turned[own[: round(abs(share) * pairs)]] *= -1
        return turned + rng.normal(0, 1e-3, pairs)

    def each(lost: dict[Head, float], times: float = 1.0) -> np.ndarray:
        return np.array([without(times * lost.get(head, 0.0)) for head in np.ndindex(SHAPE)]).reshape(*SHAPE, pairs)

    changed, to_mean = each(lost), each(lost, by_mean)
    twin_changed = each(twin_lost or {})
    half = np.arange(pairs) % 2
    b, away = half == 1, np.array([0, 1, a_fifth(SHAPE), 8])
    curve = np.stack([plain, plain, without(together), without(0.3)])
    order = tuple(np.ndindex(*SHAPE))
    return NeededTest(
        pairs=tuple(MinimalPair("simple", f"{n} _", f"{n} _", "a", "b", int(half[n]), str(n)) for n in range(pairs)),
        groups=np.arange(pairs),
        plain=plain,
        twin=plain,
        changed=changed,
        to_mean=to_mean,
        twin_changed=twin_changed,
        twin_to_mean=twin_changed,
        effects=(),
        kept=tuple((layer, 0) for layer in range(SHAPE[0])),
        alone=changed[:, 0][:, b],
        alone_to_mean=to_mean[:, 0][:, b],
        away=away,
        orders=dict.fromkeys((IMPORTANCE, GREEDY), order),
        curves=dict.fromkeys((IMPORTANCE, GREEDY), curve[:, b]),
        random=np.full((3, len(away)), right),
        fifth_to_mean=without(by_mean * together)[b],
    )


def verdicts(found: NeededTest) -> dict[str, Verdict]:
    return {row.id: row.judged.verdict for row in claims(found)}


SAME, NOT, UNSURE = Verdict.SAME, Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(
    ("lost", "together", "expected"),
    [
        # No pair changes: by the rule of three, a gain of one pair in a hundred is still possible.
        ({}, 0.0, {EACH: SAME, NEEDED: NOT, HURTS: UNSURE, ONE: SAME, FIFTH: SAME}),
        ({(0, 1): 0.2}, 0.2, {EACH: SAME, NEEDED: SAME, HURTS: UNSURE, ONE: SAME, FIFTH: Verdict.OPPOSITE}),
        ({(1, 1): -0.15}, 0.0, {EACH: SAME, NEEDED: NOT, HURTS: SAME, ONE: SAME, FIFTH: SAME}),
        # As much as the margin is neither clearly less than it nor clearly more.
        (dict.fromkeys(np.ndindex(SHAPE), MARGIN), MARGIN, {EACH: UNSURE, ONE: UNSURE}),
        (
            dict.fromkeys(np.ndindex(SHAPE), 0.2),
            -0.1,
            {EACH: Verdict.OPPOSITE, NEEDED: SAME, ONE: Verdict.OPPOSITE, FIFTH: SAME},
        ),
        # One of two layers is not most of them, and not less.
        ({(0, 0): 0.3}, 0.0, {EACH: SAME, NEEDED: SAME, ONE: NOT}),
    ],
)
def test_each_claim_can_come_out_either_way(
    lost: dict[Head, float], together: float, expected: dict[str, Verdict]
) -> None:
    found = verdicts(made_up(lost, together))
    assert {claim: found[claim] for claim in expected} == expected
    assert found[PRUNED] is Verdict.NOT_TESTABLE


@pytest.mark.usefixtures("few_draws")
def test_a_verdict_takes_both_ways_to_take_heads_away() -> None:
    """What only a 0 costs is not needed; and the row is of the way with the smaller effect."""
    both, zero_alone = made_up({(0, 1): 0.2}), made_up({(0, 1): 0.2}, by_mean=0.0)
    assert verdicts(both)[NEEDED] is SAME and verdicts(zero_alone)[NEEDED] is NOT
    row = next(row for row in claims(zero_alone) if row.id == NEEDED)
    assert row.decides is row.mean and row.zero.ours == pytest.approx(0.2, abs=0.03) and row.mean.ours == 0
    # What 0 gives away for free, the mean may cost: then the claim does not hold, and its opposite does not either.
    dear = made_up(dict.fromkeys(np.ndindex(SHAPE), 0.02), 0.02, by_mean=10.0)
    assert verdicts(dear)[EACH] is verdicts(dear)[FIFTH] is NOT


@pytest.mark.usefixtures("few_draws")
def test_without_an_event_the_rule_of_three_gives_the_interval() -> None:
    """A bootstrap of no events would say exactly 0; and 32 pairs cannot show that a loss is below 5 points."""
    found = made_up({})
    row, n = next(row for row in claims(found) if row.id == NEEDED), int(found.b.sum())
    assert (row.zero.low, row.zero.high) == pytest.approx((-3 / n, 3 / n)) and row.zero.ours == 0
    few, many = (_for_free(np.zeros((count, 4)), [np.arange(count)]) for count in (32, 400))
    assert few.ours == many.ours == 1 and few.low == 0 and many.low == 1
    assert few.p == pytest.approx(min(1, 4 * 0.95**32))


@pytest.mark.usefixtures("few_draws")
def test_what_the_twin_loses_as_well_is_also_untrained() -> None:
    found = made_up({(0, 1): 0.2}, twin_lost={(1, 2): 0.2})
    assert verdicts(found)[NEEDED] is Verdict.ALSO_UNTRAINED
    row = next(row for row in claims(found) if row.id == NEEDED)
    assert row.twin == pytest.approx(0.2, abs=0.03), "the twin's head is chosen for the twin"


@pytest.mark.usefixtures("few_draws")
def test_a_template_has_verdicts_of_its_own() -> None:
    """A head that one of two templates needs: the mean over both halves what it costs."""
    whole = made_up({(0, 1): 0.1})
    lost = np.flatnonzero((whole.changed[0, 1] > 0) != (whole.plain > 0))
    pairs = [replace(pair, template="hard") if at in set(lost) else pair for at, pair in enumerate(whole.pairs)]
    found = replace(whole, pairs=tuple(pairs))
    assert found.costly_in("hard") == ((0, 1),) and found.costly_in("simple") == ()
    rows = {template: {row.id: row for row in rows} for template, rows in found.rows_in.items()}
    assert rows["simple"][NEEDED].judged.verdict is NOT and rows["hard"][NEEDED].zero.ours == 1
    assert set(rows["hard"]) == {EACH, NEEDED}
    assert [row.id for row in claims_in(found.sample)] == [EACH, NEEDED]


@pytest.mark.usefixtures("few_draws")
def test_a_model_that_guesses_has_nothing_to_lose() -> None:
    found = made_up(right=0.5)
    assert set(verdicts(found).values()) == {Verdict.NOT_TESTABLE}
    assert "not clearly better than guessing" in why_of(claims(found)[0])


@pytest.mark.usefixtures("few_draws")
def test_few_sentences_decide_nothing_however_many_pairs() -> None:
    """A causal model reads 400 pairs, but only so many different beginnings."""
    found = made_up({(0, 1): 0.3})
    few = replace(found, groups=np.arange(PAIRS) % (FEW - 1))
    assert verdicts(few)[EACH] is verdicts(few)[NEEDED] is Verdict.NOT_TESTABLE


@pytest.mark.usefixtures("few_draws")
def test_pairs_that_share_a_noun_count_once() -> None:
    """Ten copies of 40 pairs are as uncertain as the 40."""
    rng = np.random.default_rng(1)
    once = rng.normal(0.1, 1, (1, 2, 40))
    copied = np.tile(once, 10)
    one, ten = mean_effects("", once, np.arange(40)), mean_effects("", copied, np.tile(np.arange(40), 10))
    assert np.allclose(one.high - one.low, ten.high - ten.low, rtol=0.1) and np.allclose(one.mean, ten.mean)
    apart = mean_effects("", copied, np.arange(400))
    assert ((apart.high - apart.low) < 0.5 * (ten.high - ten.low)).all()


@pytest.mark.usefixtures("few_draws")
def test_no_head_is_told_from_noise() -> None:
    """Holm over eight heads of pure noise, a hundred times: about five times one of them is."""
    found = [
        mean_effects("", np.random.default_rng(seed).normal(0, 1, (2, 4, 100)), np.arange(100)).clear.any()
        for seed in range(100)
    ]
    assert np.mean(found) < 0.12


@one_by_day
def test_intervals_are_those_of_an_independent_bootstrap(result: NeededTest) -> None:
    """Nouns and verbs are drawn one by one, by both ways to take the head away."""
    row = result.row(NEEDED)
    (head,) = row.heads
    pairs = [pair for pair in result.pairs if pair.half == 1]
    for changed, found in ((result.changed, row.zero), (result.to_mean, row.mean)):
        values = (result.plain > 0).astype(float)[result.b] - (changed[head] > 0)[result.b]
        drawn = drawn_by_words(values, pairs, seed=7)
        assert found.ours == pytest.approx(values.mean())
        assert (found.low, found.high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.015)
    assert row.count == len(np.unique(result.groups[result.b]))


@one_by_day
def test_what_is_chosen_is_chosen_on_a(result: NeededTest) -> None:
    a = ~result.b
    mean = result.delta[..., a].mean(axis=-1)
    assert result.row(NEEDED).heads[0] == np.unravel_index(mean.argmin(), mean.shape)
    right = (result.changed[..., a] > 0).mean(axis=-1)
    assert right[result.row(HURTS).heads[0]] == right.max()
    simple = [pair for pair in result.pairs if pair.template == "simple"]
    nouns = [{pair.text.split()[1] for pair in simple if pair.half == half} for half in (0, 1)]
    assert nouns[0] and nouns[1] and not nouns[0] & nouns[1]


def test_the_rows_are_shares_counted_by_hand(result: NeededTest) -> None:
    accuracy = (result.plain > 0).mean()
    lost = accuracy - (result.changed > 0).mean(axis=-1)
    row = result.row(EACH).zero
    assert row.ours == pytest.approx((lost < MARGIN).mean()) and row.low <= row.ours <= row.high
    by_mean = accuracy - (result.to_mean > 0).mean(axis=-1)
    assert result.row(EACH).mean.ours == pytest.approx((by_mean < MARGIN).mean())
    on_b = (result.plain[result.b] > 0).mean()
    alone = on_b - (result.alone > 0).mean(axis=-1)
    assert result.row(ONE).zero.ours == pytest.approx((alone < MARGIN).mean())
    fifth = result.row(FIFTH)
    assert len(fifth.heads) == a_fifth(result.shape) and fifth.heads == result.orders[IMPORTANCE][: len(fifth.heads)]
    at = result.away.tolist().index(len(fifth.heads))
    assert fifth.zero.ours == pytest.approx(on_b - (result.curves[IMPORTANCE][at] > 0).mean())
    assert fifth.mean.ours == pytest.approx(on_b - (result.fifth_to_mean > 0).mean())


def test_what_ships_is_of_these_weights_and_enough_pairs(result: NeededTest, model: LoadedModel) -> None:
    where = shipped.folder(measure.MEASUREMENT.id, model.id)
    assert result.made is not None and result.made.command.endswith(f"needed_heads {model.id}")
    assert len(result.made.commit) == 40 and sum(path.stat().st_size for path in where.iterdir()) < 500_000
    assert len(result.pairs) >= measure.PAIRS and result.shape == (model.config.layers, model.config.heads)
    assert not [effect for effect in result.effects if effect.name == TWIN and effect.clear.any()]


@one_by_day
def test_what_ships_measured_again_on_a_part(result: NeededTest, model: LoadedModel) -> None:
    each = len(result.pairs) // len(result.rows_in)
    asked = minimal_pairs(model, each).pairs
    assert tuple(pair.pair for pair in asked) == result.pairs
    some = list(range(0, len(asked), 80))
    effects = without_each_head(model, [asked[at] for at in some])
    assert np.allclose(effects.changed, result.changed[..., some], atol=1e-3)
    to_mean = without_each_head(model, [asked[at] for at in some], "sentence")
    assert np.allclose(to_mean.changed, result.to_mean[..., some], atol=1e-3)
    untrained = without_each_head(untrained_twin(model), [asked[at] for at in some])
    assert np.allclose(untrained.changed, result.twin_changed[..., some], atol=1e-3)
    assert np.allclose(effects.plain, result.plain[some], atol=1e-3)
    b = [pair for pair in asked if pair.pair.half == 1]
    order = result.orders[IMPORTANCE]
    fifth = Interventions(zero_heads=frozenset(order[: a_fifth(result.shape)]))
    assert np.allclose(differences(model, b[:5], fifth), result.curves[IMPORTANCE][result.fifth][:5], atol=1e-3)
    for way, kept in zip(ABLATED, (result.alone, result.alone_to_mean), strict=True):
        alone = only_one_head(model, b[:2], way).changed
        assert np.allclose([alone[head] for head in result.kept], kept[:, :2], atol=1e-3)
    mean_fifth = Interventions(mean_heads=fifth.zero_heads)
    assert np.allclose(differences(model, b[:5], mean_fifth), result.fifth_to_mean[:5], atol=1e-3)
    assert order == by_importance(importance(model, [pair for pair in asked if pair.pair.half == 0]))


def test_there_and_back(result: NeededTest) -> None:
    back = from_tables(NeededTest, to_tables(result))
    assert (back.pairs, back.kept) == (result.pairs, result.kept)
    assert dict(back.orders) == dict(result.orders)
    names = "groups plain twin changed to_mean twin_changed twin_to_mean alone alone_to_mean away random fifth_to_mean"
    for name in names.split():
        assert np.array_equal(getattr(back, name), getattr(result, name)), name
    for one, other in zip(back.effects, result.effects, strict=True):
        assert one.name == other.name
        for name in MeanEffects.__dataclass_fields__.keys() - {"name"}:
            assert np.array_equal(getattr(one, name), getattr(other, name))
    assert all(np.array_equal(back.curves[name], result.curves[name]) for name in (IMPORTANCE, GREEDY))


def test_a_short_run_tells_how_far_it_is_and_can_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("PAIRS", 64), ("SAMPLE", 4), ("STEPS", 2), ("RANDOM_ORDERS", 1)):
        monkeypatch.setattr(measure, name, value)
    model, told = load_model("lab-gpt2"), list[float]()
    found = measure.replicate(model, told.append)
    assert told == sorted(told) and told[-1] == pytest.approx(1) and len(told) > 20
    assert len(found.pairs) >= 64 and found.made is None
    assert [effect.name for effect in found.effects] == ["zero", "sentence", "corpus", "resample", "uniform", TWIN]
    assert sorted(found.orders[IMPORTANCE]) == list(np.ndindex(found.shape))

    def stop(share: float) -> None:
        if share > 0.02:
            raise Stopped

    with pytest.raises(Stopped):
        measure.replicate(model, stop)


def test_what_cannot_be_tested_says_why(
    tiny_checkpoint: TinyCheckpoint,
) -> None:
    model = load_model("lab-bert")
    assert measure.untestable(model) == ""
    headless = replace(model, weights=replace(model.weights, vocabulary_head=None))
    assert "predicts no words" in measure.untestable(headless)
    tiny = load_model(tiny_checkpoint("bert"))
    assert "too few of the words" in measure.untestable(tiny)
    with pytest.raises(ValueError, match="too few of the words"):
        measure.replicate(tiny)


def test_a_bigger_model_takes_longer() -> None:
    small = load_model("lab-bert").config
    base = replace(small, layers=12, heads=12, width=768, ffn_width=3072)
    assert 0.5 < measure.minutes(small) < 1 and 60 < measure.minutes(base) / measure.minutes(small) < 120
