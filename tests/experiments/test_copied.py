"""The experiment on copying: effects beside an independent bootstrap, and what ships is true of what ships."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.analysis.heads.induction import model_induction, repeated_encoding
from lab.experiments import copied, shipped
from lab.experiments.copied import BEST, BOTH, PLAIN, RANDOM, SOURCE, CopyingTest, Run, as_tables, from_tables, known
from lab.experiments.copying import losses
from lab.experiments.verdicts import FEW, Verdict
from lab.models.interventions import Head, Interventions
from lab.models.jobs import Stopped
from lab.models.loading import load_model
from lab.models.twin import random_twin
from tests.conftest import TinyCheckpoint
from training.evaluation.experiments import write

MODEL = "lab-gpt2"


@pytest.fixture(scope="module")
def result() -> CopyingTest:
    found = known(load_model(MODEL))
    assert found is not None, f"stale: run python -m training.evaluation.experiments copying {MODEL}"
    return found


def made_up(rise: float, random: float, texts: int = 40, seed: int = 0) -> CopyingTest:
    """Texts whose loss rises by about as much without the best head, and without any random one."""
    rng = np.random.default_rng(seed)

    def run(kind: str, away: tuple[Head, ...], more: float) -> Run:
        return Run(kind, away, 8 + more + rng.normal(0, 0.3, texts), np.full(9, 8 + more))

    runs = [run(PLAIN, (), 0), run(BEST, ((0, 1),), rise), *(run(RANDOM, ((0, 0),), random) for _ in range(4))]
    scores = np.array([[0.1, 0.4]])
    return CopyingTest(scores, scores, scores, np.full((1, 2), np.nan), tuple(runs))


@pytest.mark.parametrize(
    ("rise", "random", "least", "most"),
    [
        (2.0, 0.2, 1.0, 1.0),
        (2.0, 2.0, 0.0, 0.1),  # no more than without random heads: by chance in 5 of 100
        (0.0, -2.0, 0.0, 0.1),  # random heads only made it better
        (-1.0, 0.0, 0.0, 0.0),
    ],
)
def test_a_rise_counts_only_beyond_random_heads(rise: float, random: float, least: float, most: float) -> None:
    clear = [made_up(rise, random, seed=seed).rows[0].judged.verdict is Verdict.SAME for seed in range(100)]
    assert least <= np.mean(clear) <= most


def test_few_texts_decide_nothing() -> None:
    found = made_up(2.0, 0.2, FEW - 1)
    assert found.rows[0].judged.verdict is Verdict.NOT_TESTABLE
    assert found.source is None and found.row(SOURCE) is None


def test_rows_are_the_means_and_an_independent_bootstrap(result: CopyingTest) -> None:
    rng = np.random.default_rng(123)
    assert [row.run.kind for row in result.rows] == [BEST, SOURCE, BOTH]
    for row in result.rows:
        rises = row.run.second - result.plain.second
        random = [run.second for run in result.runs if run.kind == RANDOM and len(run.heads) == len(row.run.heads)]
        assert len(random) == copied.DRAWS
        beyond = row.run.second - sum(random) / len(random)
        for values, mean, low, high in (
            (rises, row.rise, row.low, row.high),
            (beyond, row.beyond, row.beyond_low, row.beyond_high),
        ):
            drawn = [rng.choice(values, len(values)).mean() for _ in range(4000)]
            assert mean == pytest.approx(values.mean())
            assert (low, high) == pytest.approx(np.percentile(drawn, [2.5, 97.5]), abs=0.03)


def test_what_ships_is_of_these_weights_and_these_texts(result: CopyingTest) -> None:
    where = shipped.folder(copied.EXPERIMENT, MODEL)
    assert result.made is not None and result.made.command.endswith(f"copying {MODEL}")
    assert len(result.made.commit.rstrip("+")) == 40 and sum(path.stat().st_size for path in where.iterdir()) < 60_000


def test_what_ships_measured_again_on_a_part(result: CopyingTest) -> None:
    """Two texts of B, read again without each run's heads; and the score that the best head has on two texts."""
    model, half = load_model(MODEL), copied.TEXTS // 2
    read = [repeated_encoding(model, copied.PERIOD, half + at) for at in (0, 1)]
    for run in (result.run(kind) for kind in (PLAIN, BEST, SOURCE, BOTH, RANDOM)):
        assert run is not None
        again = losses(model, read, Interventions(zero_heads=frozenset(run.heads)))[:, copied.PERIOD :].mean(axis=-1)
        assert run.second[:2] == pytest.approx(again, abs=1e-3)
        assert run.by_place[copied.PERIOD :].mean() == pytest.approx(run.second.mean())
    scores = np.mean([model_induction(model, copied.PERIOD, seed) for seed in range(half)], axis=0)
    assert np.allclose(result.chosen_on, scores, atol=1e-5)
    assert result.chosen_on[result.best] == result.chosen_on.max()


def test_there_and_back(result: CopyingTest) -> None:
    back = from_tables(as_tables(result))
    assert [(run.kind, run.heads) for run in back.runs] == [(run.kind, run.heads) for run in result.runs]
    for one, other in zip(back.runs, result.runs, strict=True):
        assert np.array_equal(one.second, other.second) and np.array_equal(one.by_place, other.by_place)
    for name in ("chosen_on", "induction", "previous", "dependence"):
        assert np.array_equal(getattr(back, name), getattr(result, name), equal_nan=True)


def test_random_weights_copy_by_no_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sixty-four short texts of the untrained twin: nothing is clearly above random heads."""
    monkeypatch.setattr(copied, "PERIOD", 8)
    found = copied.replicate(random_twin(load_model(MODEL), 5))
    assert len(found.plain.second) == copied.TEXTS // 2 and found.period == 8
    assert not [row for row in found.rows if row.judged.verdict in (Verdict.SAME, Verdict.SMALLER)]


def test_a_model_of_short_texts_reads_shorter_ones_and_can_be_stopped(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load_model(tiny_checkpoint("gpt2"))
    assert copied.replicate(model).period == min(copied.PERIOD, model.config.max_tokens // 2)

    def stop(_: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        copied.replicate(model, stop)


def test_what_cannot_be_tested_says_why(tiny_checkpoint: TinyCheckpoint, capsys: pytest.CaptureFixture[str]) -> None:
    model = load_model(MODEL)
    assert copied.untestable(model) == ""
    headless = replace(model, weights=replace(model.weights, vocabulary_head=None))
    assert "predicts no next token" in copied.untestable(headless)
    with pytest.raises(ValueError, match="sees the whole text"):
        copied.replicate(load_model(tiny_checkpoint("bert")))
    write("copying", "lab-bert")
    assert "not measured" in capsys.readouterr().out
    assert not shipped.folder("copying", "lab-bert").exists()
