"""The experiment on copying: effects beside an independent bootstrap, and what ships is true of what ships."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.heads.induction import model_induction, repeated_encoding
from lab.evidence import shipped
from lab.evidence.tables import from_tables, to_tables
from lab.evidence.verdicts import FEW, HOLDS, Verdict
from lab.experiments.copying import measure
from lab.experiments.copying.induction import ABLATIONS, MEAN, ZERO, losses, without
from lab.experiments.copying.measure import (
    BEST,
    BOTH,
    PLAIN,
    RANDOM,
    SOURCE,
    CopyingRun,
    CopyingTest,
    Runs,
    known,
)
from lab.models.interventions import Head
from lab.models.jobs import Stopped
from lab.models.loading import load_model
from lab.models.twin import random_twin
from tests.conftest import TinyCheckpoint
from tests.thorough import at_night
from training.evaluation.experiments import write

MODEL = "lab-gpt2"


@pytest.fixture(scope="module")
def result() -> CopyingTest:
    found = known(load_model(MODEL))
    assert found is not None, f"stale: run python -m training.evaluation.experiments copying {MODEL}"
    return found


def made_up(
    rise: float, random: float, texts: int = 40, seed: int = 0, by_mean: float | None = None, twin: float = 0.0
) -> CopyingTest:
    """Texts whose loss rises by about as much without the best head, and without any random one.

    Where heads write their mean, the best one costs ``by_mean``; the twin's costs ``twin``.
    """
    rng = np.random.default_rng(seed)

    def run(kind: str, ablation: str, away: tuple[Head, ...], more: float) -> CopyingRun:
        return CopyingRun(kind, ablation, away, 8 + more + rng.normal(0, 0.3, texts), np.full(9, 8 + more))

    def runs(zero: float, mean: float) -> tuple[CopyingRun, ...]:
        found = []
        for ablation, best in zip(ABLATIONS, (zero, mean), strict=True):
            found += [run(PLAIN, ablation, (), 0), run(BEST, ablation, ((0, 1),), best)]
            found += [run(RANDOM, ablation, ((0, 0),), random) for _ in range(4)]
        return tuple(found)

    scores = np.array([[0.1, 0.4]])
    own = runs(rise, rise if by_mean is None else by_mean)
    return CopyingTest(own, scores, scores, 5000, (), Runs(runs(twin + random, twin + random)))


@pytest.mark.usefixtures("few_draws")
@pytest.mark.parametrize(
    ("rise", "random", "least", "most"),
    [
        (2.0, 0.2, 1.0, 1.0),
        (2.0, 2.0, 0.0, 0.1),  # no more than without random heads: by chance in 2 of 40
        (0.0, -2.0, 0.0, 0.1),  # random heads only made it better
        (-1.0, 0.0, 0.0, 0.0),
    ],
)
def test_a_rise_counts_only_beyond_random_heads(rise: float, random: float, least: float, most: float) -> None:
    clear = [made_up(rise, random, seed=seed).rows[0].judged.verdict is Verdict.SAME for seed in range(40)]
    assert least <= np.mean(clear) <= most


@pytest.mark.usefixtures("few_draws")
def test_few_texts_decide_nothing() -> None:
    found = made_up(2.0, 0.2, FEW - 1)
    assert found.rows[0].judged.verdict is Verdict.NOT_TESTABLE
    assert found.source is None and found.row(SOURCE) is None


@pytest.mark.usefixtures("few_draws")
def test_the_ablation_with_the_smaller_effect_decides() -> None:
    (row,) = made_up(3.0, 0.2, by_mean=0.2).rows
    assert row.decides == MEAN and row.judged.verdict in (Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE)
    assert row.zero.rise == pytest.approx(3, abs=0.3) and row.judged.effect.estimate == pytest.approx(0, abs=0.3)
    assert made_up(0.3, 0.2, by_mean=3.0).rows[0].decides == ZERO


@pytest.mark.usefixtures("few_draws")
def test_a_rise_in_the_untrained_twin_is_also_untrained() -> None:
    (row,) = made_up(2.0, 0.2, twin=2.0).rows
    assert row.judged.verdict is Verdict.ALSO_UNTRAINED and row.twin == pytest.approx(2, abs=0.3)


@pytest.mark.usefixtures("few_draws")
def test_no_more_than_all_that_is_copied_can_be_lost() -> None:
    found = made_up(2.0, 0.2)
    assert found.alike == pytest.approx(np.log(5000))


def test_rows_are_the_means_and_an_independent_bootstrap(result: CopyingTest) -> None:
    rng = np.random.default_rng(123)
    assert [row.kind for row in result.rows] == [BEST, SOURCE, BOTH]
    for row in result.rows:
        effects = []
        for rise in (row.zero, row.mean):
            rises = rise.run.second - result.plain.second
            random = [
                run.second
                for run in result.runs
                if (run.kind, run.ablation, len(run.heads)) == (RANDOM, rise.run.ablation, len(rise.run.heads))
            ]
            assert len(random) == measure.DRAWS
            effects.append((rise.run.second - sum(random) / len(random), rise.run.ablation))
            drawn = [rng.choice(rises, len(rises)).mean() for _ in range(4000)]
            assert rise.rise == pytest.approx(rises.mean())
            assert (rise.low, rise.high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.03)
        beyond, ablation = min(effects, key=lambda each: each[0].mean())
        drawn = [rng.choice(beyond, len(beyond)).mean() for _ in range(4000)]
        assert row.decides == ablation and row.judged.effect.estimate == pytest.approx(beyond.mean())
        ends = row.judged.effect.low, row.judged.effect.high
        assert ends == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.03)
        assert row.random == pytest.approx(row.rise.rise - row.judged.effect.estimate)


def test_what_ships_is_of_these_weights_and_these_texts(result: CopyingTest) -> None:
    where = shipped.folder(measure.MEASUREMENT.id, MODEL)
    assert result.made is not None and result.made.command.endswith(f"copying {MODEL}")
    assert len(result.made.commit.rstrip("+")) == 40 and sum(path.stat().st_size for path in where.iterdir()) < 200_000


def test_what_ships_measured_again_on_a_part(result: CopyingTest) -> None:
    """Two texts of B, read again without each run's heads; and the score that the best head has on two texts."""
    model, half = load_model(MODEL), measure.TEXTS // 2
    read = [repeated_encoding(model, measure.PERIOD, half + at) for at in (0, 1)]
    for run in (result.run(kind, way) for kind in (PLAIN, BEST, SOURCE, BOTH, RANDOM) for way in ABLATIONS):
        assert run is not None
        away = without(frozenset(run.heads), run.ablation)
        again = losses(model, read, away)[:, measure.PERIOD :].mean(axis=-1)
        assert run.second[:2] == pytest.approx(again, abs=1e-3)
        assert run.by_place[measure.PERIOD :].mean() == pytest.approx(run.second.mean())
    scores = np.mean([model_induction(model, measure.PERIOD, seed) for seed in range(half)], axis=0)
    assert result.induction[result.best] > 0 and scores[result.best] == scores.max()


def test_there_and_back(result: CopyingTest) -> None:
    back = from_tables(CopyingTest, to_tables(result))
    for own, kept in ((back.runs, result.runs), (back.twin.runs, result.twin.runs)):
        assert [(r.kind, r.ablation, r.heads) for r in own] == [(r.kind, r.ablation, r.heads) for r in kept]
    assert back.vocabulary == result.vocabulary == load_model(MODEL).config.vocabulary
    for place, before in zip(back.distances, result.distances, strict=True):
        assert place.period == before.period and np.array_equal(place.fresh, before.fresh)
    for one, other in zip((*back.runs, *back.twin.runs), (*result.runs, *result.twin.runs), strict=True):
        assert np.array_equal(one.second, other.second) and np.array_equal(one.by_place, other.by_place)
    for name in ("induction", "previous"):
        assert np.array_equal(getattr(back, name), getattr(result, name), equal_nan=True)


@at_night
@pytest.mark.usefixtures("few_draws")
def test_random_weights_copy_by_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty-four short texts of the untrained twin: nothing is clearly above random heads, of which five are drawn."""
    monkeypatch.setattr(measure, "PERIOD", 8)
    monkeypatch.setattr(measure, "DRAWS", 5)
    monkeypatch.setattr(measure, "PERIODS", (8,))
    found = measure.replicate(random_twin(load_model(MODEL), 5))
    assert len(found.plain.second) == measure.TEXTS // 2 and found.period == 8
    assert not [row for row in found.rows if row.judged.verdict in HOLDS]


def test_a_model_of_short_texts_reads_shorter_ones_and_can_be_stopped(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load_model(tiny_checkpoint("gpt2"))
    assert measure.replicate(model).period == min(measure.PERIOD, model.config.max_tokens // 2)

    def stop(_: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        measure.replicate(model, stop)


def test_what_cannot_be_tested_says_why(tiny_checkpoint: TinyCheckpoint, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(MODEL)
    assert measure.untestable(model) == ""
    headless = replace(model, weights=replace(model.weights, vocabulary_head=None))
    assert "predicts no words" in measure.untestable(headless)
    with pytest.raises(ValueError, match="sees the whole text"):
        measure.replicate(load_model(tiny_checkpoint("bert")))
    write("copying", "lab-bert")
    assert "not measured" in capsys.readouterr().out
    assert not shipped.folder("copying", "lab-bert").exists()
