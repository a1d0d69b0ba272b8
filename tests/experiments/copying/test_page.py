"""What the page on copying says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace
from math import log

import numpy as np
import pytest

import lab
from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import HOLDS
from lab.experiments.copying import page, sequence
from lab.experiments.copying.induction import MEAN, ZERO, losses
from lab.experiments.copying.measure import BEST, BOTH, CopyingTest, known
from lab.experiments.copying.page import loss_chart
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from tests.conftest import TinyCheckpoint


@pytest.fixture(scope="module")
def gpt2() -> LoadedModel:
    return lab.load_model("lab-gpt2")


@pytest.fixture(scope="module")
def found(gpt2: LoadedModel) -> CopyingTest:
    result = known(gpt2)
    assert result is not None
    return result


def moved(found: CopyingTest, kind: str, by: float) -> CopyingTest:
    """The result, had the loss without these heads been the plain one and ``by`` more, by both ablations."""
    runs = [replace(run, second=found.plain.second + by) if run.kind == kind else run for run in found.runs]
    return replace(found, runs=tuple(runs))


def test_the_meaning_has_the_result_s_numbers(found: CopyingTest, gpt2: LoadedModel) -> None:
    said, best = page.meaning_of(found, "m"), found.rows[0]
    random = np.mean([control.rise for control in found.controls(1, MEAN)])
    assert f"rises by {best.mean.rise:.2f}; without a random head it rises by {random:.2f}." in said
    alike, second = log(gpt2.config.vocabulary), found.plain.second.mean()
    first = found.plain.by_place[: found.period - 1].mean()
    assert f"falls from {first:.1f} in the first copy to {second:.1f} in the second." in said
    assert 0.25 < (alike - second) / alike < 0.75 and "**m copies in part:**" in said
    assert found.source is not None and f"gives {found.previous[found.source]:.2f} of its attention" in said


def test_a_claim_whose_verdict_does_not_hold_is_not_told_as_held(found: CopyingTest) -> None:
    without = moved(found, BEST, 0.0)
    assert "two such heads are there" in page.meaning_of(found, "m")
    assert "two such heads are there" not in page.meaning_of(without, "m")
    held = sum(row.judged.verdict in HOLDS for row in without.rows)
    assert f"Of the 3 removals in the table, {held} cost" in page.meaning_of(without, "m")


def test_a_line_has_the_effect_and_both_rises(found: CopyingTest) -> None:
    for row in found.rows:
        line, effect = page.line(found, row), row.judged.effect
        numbers = [float(each) for each in re.findall(r"-?[\d.]*\d", line.here.replace("−", "-"))]
        rises = [end for each in (row.zero, row.mean) for end in (each.rise, each.low, each.high)]
        told = [each for each in numbers if each != 0] if row.decides == ZERO else numbers
        assert told[:3] == pytest.approx([effect.estimate, effect.low, effect.high], abs=0.006)
        assert told[-3:] == pytest.approx(rises[-3:], abs=0.006)
        assert (line.count, line.verdict) == (len(row.zero.run.second), LABELS[row.judged.verdict])


def test_the_control_for_position_decides_the_bet(found: CopyingTest) -> None:
    place = next(each for each in found.distances if each.period == found.period)
    assert place.fresh.mean() < 0.25 * place.repeated.mean()
    assert (page.decided(found) or (None,))[0] == 1
    fixed = replace(found, distances=tuple(replace(each, fresh=each.repeated) for each in found.distances))
    assert (page.decided(fixed) or (None,))[0] == 0
    assert page.decided(replace(found, distances=())) is None


def test_a_loss_is_explained_by_that_of_a_model_that_knows_nothing() -> None:
    assert f"a loss of {log(8192):.1f}." in page.what_a_loss_is(8192)


def test_a_model_that_does_not_copy_is_said_not_to(found: CopyingTest) -> None:
    worse = replace(found.plain, second=found.plain.second + 20)
    assert "does not copy" in page.meaning_of(replace(found, runs=(worse, *found.runs[1:])), "m")
    few = replace(found, vocabulary=10)
    said = "no lower than the loss of a model that gives every token the same probability"
    assert said in page.meaning_of(few, "m")


def test_the_figure_has_the_losses_of_the_second_copy(found: CopyingTest, gpt2: LoadedModel) -> None:
    table = loss_chart(gpt2).table()
    assert table["Token of the second copy"].tolist() == list(range(2, found.period + 1))
    for row in (found.run(BEST, MEAN), found.run(BOTH, MEAN)):
        assert row is not None
        line = table["neither" if row.kind == BOTH else f"no {row.name}"]
        assert np.allclose(line, row.by_place[found.period :], atol=1e-5)
        assert line.mean() == pytest.approx(row.second.mean(), abs=1e-4)
    assert np.allclose(table["all alike"], log(gpt2.config.vocabulary))


def test_a_sequence_is_its_words_twice_and_its_numbers_the_model_s(found: CopyingTest, gpt2: LoadedModel) -> None:
    texts = [sequence.readable(gpt2, seed) for seed in range(3)]
    assert len(set(texts)) == 3
    for text in texts:
        words = text.split()
        assert words[: sequence.WORDS] == words[sequence.WORDS :] and len(set(words)) == sequence.WORDS
        trace = lab.trace(gpt2, text)
        assert [label.strip("␣") for label in trace.labels] == words
        layer, head = found.best
        weights = trace.layer(layer).attention[head]
        plain = losses(gpt2, [trace.encoding])[0]
        without = losses(gpt2, [trace.encoding], Interventions(zero_heads=frozenset({found.best})))[0]
        for place in sequence.places(trace, found.best):
            first = words.index(words[place.query])
            assert words[place.sought] == words[first + 1] and place.sought == first + 1
            assert place.weight == pytest.approx(float(weights[place.query, first + 1]))
            assert place.most == int(weights[place.query].argmax())
            assert (place.plain, place.without) == pytest.approx((plain[place.query], without[place.query]))


def test_a_vocabulary_without_words_has_no_sequence(tiny_checkpoint: TinyCheckpoint) -> None:
    assert sequence.readable(lab.load_model(tiny_checkpoint("bert")), 0) == ""
