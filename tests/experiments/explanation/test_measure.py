"""The experiment on explanations: agreement and effects recomputed by hand, and what ships is true of what ships."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from lab.evidence import shipped
from lab.evidence.tables import from_tables, to_tables
from lab.evidence.treebank import ewt
from lab.evidence.verdicts import FEW, HOLDS, Verdict
from lab.experiments.explanation import measure
from lab.experiments.explanation.measure import (
    CLAIMS,
    LEAST,
    ROLLED,
    TELLS,
    TEXTS,
    WEAK,
    WORDS,
    ExplainedText,
    ExplanationTest,
    asked_texts,
    known,
    reading,
    upper,
)
from lab.experiments.explanation.methods import (
    ATTENTION,
    AVERAGE,
    GRADIENT,
    INTEGRATED,
    METHODS,
    NEAR,
    NORMS,
    RARE,
    ROLLOUT,
    Importance,
    importance,
)
from lab.models.jobs import Stopped
from lab.models.loading import load_model
from lab.models.twin import random_twin
from tests.conftest import TinyCheckpoint
from tests.thorough import one_by_day

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


def result_of(model_id: str) -> ExplanationTest:
    found = known(load_model(model_id))
    assert found is not None, f"stale: run python -m training.evaluation.experiments explanation {model_id}"
    return found


def ranks(values: np.ndarray) -> np.ndarray:
    return np.array([(values < each).sum() + ((values == each).sum() + 1) / 2 for each in values])


def spearman(first: np.ndarray, second: np.ndarray) -> float:
    return float(np.corrcoef(ranks(first), ranks(second))[0, 1])


def made_up(noise: dict[str, float], texts: int = 60, seed: int = 0, twin_too: bool = False) -> ExplanationTest:
    """Texts in which every method is leave-one-out with so much noise; four layers. The twin is noise, or the same."""
    rng = np.random.default_rng(seed)

    def one(noise: dict[str, float]) -> Importance:
        worth = rng.normal(size=12)

        def like(name: str, layers: int) -> np.ndarray:
            return np.abs(worth) + noise.get(name, 1.0) * rng.normal(size=(layers, 12)).clip(-9)

        scores = {name: like(name, 4) + 20 for name in (ATTENTION, NORMS, ROLLOUT)}
        scores |= {name: like(name, 1) + 20 for name in (AVERAGE, GRADIENT, INTEGRATED)}
        scores |= {name: rng.normal(size=(1, 12)) for name in (NEAR, RARE)}
        return Importance(0, -1.0, worth, scores, 1.0, 0.0)

    each = [one(noise) for _ in range(texts)]
    untrained = each if twin_too else [one(dict.fromkeys(METHODS, 99.0)) for _ in range(texts)]
    return ExplanationTest(tuple(ExplainedText(at, 0, found) for at, found in enumerate(each)), reading(untrained))


def verdicts_of(found: ExplanationTest) -> dict[str, Verdict]:
    return {row.claim: row.judged.verdict for row in found.rows}


@pytest.mark.usefixtures("few_draws")
def test_the_rule_tells_an_effect_from_none() -> None:
    clear = verdicts_of(made_up({GRADIENT: 0.1, ROLLOUT: 0.1, ATTENTION: 1.5}))
    assert clear[WEAK] is Verdict.SAME and clear[TELLS] is Verdict.SAME
    assert clear[ROLLED] in HOLDS
    blind = made_up({ATTENTION: 99.0, GRADIENT: 99.0, ROLLOUT: 99.0})
    assert set(verdicts_of(blind).values()) <= {Verdict.NOT_REPRODUCED, Verdict.INCONCLUSIVE}
    turned = verdicts_of(made_up({ATTENTION: 0.1, GRADIENT: 1.5, ROLLOUT: 1.5}))
    assert turned[WEAK] is Verdict.OPPOSITE and turned[ROLLED] is Verdict.OPPOSITE


@pytest.mark.usefixtures("few_draws")
def test_what_the_twin_has_as_well_is_also_untrained() -> None:
    noise = {GRADIENT: 0.1, ROLLOUT: 0.1, ATTENTION: 1.5}
    found = made_up(noise, twin_too=True)
    assert set(verdicts_of(found).values()) == {Verdict.ALSO_UNTRAINED}
    assert all(row.tested.p < 0.05 and row.tested.low > 0 for row in found.rows)


@pytest.mark.usefixtures("few_draws")
def test_noise_is_seldom_an_effect() -> None:
    found = [verdicts_of(made_up({}, 30, seed)) for seed in range(12)]
    assert np.mean([each[WEAK] in HOLDS for each in found]) <= 0.25


@pytest.mark.usefixtures("few_draws")
def test_a_small_effect_is_called_smaller() -> None:
    found = made_up({ATTENTION: 1.0, ROLLOUT: 0.5}, 200)
    row = found.rows[2]
    assert 0 < row.tested.high < (CLAIMS[ROLLED] or 0)
    assert row.judged.verdict is Verdict.SMALLER


def test_the_published_effect_is_of_their_upper_three_layers() -> None:
    assert CLAIMS[ROLLED] == pytest.approx((0.62 + 0.70 + 0.71) / 3 - (-0.09 + 0.20 + 0.29) / 3)
    assert [list(range(layers))[upper(layers)] for layers in (1, 3, 4)] == [[0], [1, 2], [2, 3]]


@pytest.mark.usefixtures("few_draws")
def test_few_texts_decide_nothing() -> None:
    assert set(verdicts_of(made_up({ATTENTION: 0.1}, FEW - 1)).values()) == {Verdict.NOT_TESTABLE}


def test_an_order_that_tells_nothing_agrees_by_0() -> None:
    found = made_up({}).texts[0].importance
    flat = replace(found, scores={**found.scores, ATTENTION: np.ones((4, 12))})
    one = reading([flat])
    assert (one.rho[ATTENTION] == 0).all() and (one.terms[TELLS] == 0).all()


@pytest.mark.parametrize("model_id", MODELS)
def test_what_is_asked_is_what_is_said(model_id: str) -> None:
    model, asked = load_model(model_id), asked_texts(load_model(model_id))
    assert len(asked) == TEXTS >= 100 and len({sentence for sentence, _, _ in asked}) == TEXTS
    for sentence, hidden, each in asked:
        words = ewt()[sentence].words
        assert len(words) in WORDS and words[hidden].isalpha() and len(each.context) >= LEAST
        assert model.tokenizer.decode([each.word]).strip().lower() == words[hidden].lower()
        there = " ".join(words[:hidden])
        assert each.text == there if model_id == "lab-gpt2" else each.text.startswith(f"{there} [MASK]".strip())


@one_by_day
@pytest.mark.parametrize("model_id", MODELS)
def test_what_ships_is_measured_again(model_id: str) -> None:
    model, found = load_model(model_id), result_of(model_id)
    for at, (sentence, hidden, asked) in list(enumerate(asked_texts(model)))[:: TEXTS // 2]:
        text, again = found.texts[at], importance(model, asked)
        assert (text.sentence, text.hidden) == (sentence, hidden)
        assert text.importance.predicted == again.predicted
        assert np.allclose(text.importance.left_out, again.left_out, atol=1e-3)
        for name in again.scores:
            assert np.allclose(text.importance.scores[name], again.scores[name], atol=5e-3), name
    assert len(found.texts) == TEXTS
    assert found.made is not None and found.made.command.endswith(f"explanation {model_id}")
    assert not found.made.commit.endswith("+")


@one_by_day
@pytest.mark.parametrize("model_id", MODELS)
def test_the_means_are_spearman_s_by_hand(model_id: str) -> None:
    found = result_of(model_id)
    each = [text.importance for text in found.texts]
    for name in (ATTENTION, ROLLOUT):
        for layer, ours in enumerate(found.own.rho[name].mean(axis=0)):
            assert ours == pytest.approx(
                np.mean([spearman(one.scores[name][layer], np.abs(one.left_out)) for one in each])
            )
    for one in each:
        assert np.allclose(one.scores[AVERAGE][0], one.scores[ATTENTION].mean(axis=0), atol=1e-6)
    by_hand = [spearman(np.abs(one.scores[INTEGRATED][0]), np.abs(one.left_out)) for one in each]
    assert found.own.rho[INTEGRATED][:, -1].mean() == pytest.approx(np.mean(by_hand))
    rolled, half = found.rows[2], found.own.rho[ROLLOUT].shape[1] // 2
    assert rolled.first == pytest.approx(found.own.rho[ROLLOUT][:, half:].mean())
    assert rolled.tested.estimate == pytest.approx(rolled.first - found.own.rho[ATTENTION][:, half:].mean())


@pytest.mark.parametrize("model_id", MODELS)
def test_verdicts_follow_from_an_independent_bootstrap(model_id: str) -> None:
    found = result_of(model_id)
    rng, twins = np.random.default_rng(99), found.twin.terms
    for row in found.rows:
        effect = np.subtract(*found.own.terms[row.claim].T)
        means = effect[rng.integers(0, len(effect), (4000, len(effect)))].mean(axis=1)
        assert (row.tested.low, row.tested.high) == pytest.approx(np.quantile(means, [0.025, 0.975]).tolist(), abs=0.01)
        beyond = effect - np.subtract(*twins[row.claim].T)
        above = beyond[rng.integers(0, len(effect), (4000, len(effect)))].mean(axis=1)
        held = (means <= 0).mean() < 0.05 / 3 and (above <= 0).mean() < 0.05 / 3
        assert held == (row.judged.verdict in HOLDS)
        assert row.twin == pytest.approx(np.subtract(*twins[row.claim].T).mean())


@pytest.mark.parametrize("model_id", MODELS)
def test_integrated_gradients_are_nearly_complete(model_id: str) -> None:
    for text in result_of(model_id).texts:
        one = text.importance
        assert one.scores[INTEGRATED].sum() == pytest.approx(one.change + one.gap, abs=1e-3)
    missed = [abs(text.importance.gap) for text in result_of(model_id).texts]
    assert np.median(missed) < 0.05


@pytest.mark.usefixtures("few_draws")
def test_tables_keep_everything() -> None:
    found = made_up({})
    again = from_tables(ExplanationTest, to_tables(found))
    assert [row.claim for row in again.rows] == [row.claim for row in found.rows]
    for row, same in zip(again.rows, found.rows, strict=True):
        assert row.tested.estimate == pytest.approx(same.tested.estimate, abs=1e-3)
    assert np.allclose([row.twin for row in again.rows], [row.twin for row in found.rows], atol=1e-6)


def test_a_run_tells_how_far_it_is_and_can_be_stopped(
    tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = load_model(tiny_checkpoint("bert"))
    asked = asked_texts(model)[:3]
    assert len(asked) == 3
    monkeypatch.setattr(measure, "asked_texts", lambda _: asked)
    told: list[float] = []
    found = measure.replicate(model, told.append)
    assert told == pytest.approx([1 / 3, 2 / 3, 1]) and len(found.texts) == 3
    assert set(verdicts_of(found).values()) == {Verdict.NOT_TESTABLE}

    def stop(_: float) -> None:
        raise Stopped

    with pytest.raises(Stopped):
        measure.replicate(model, stop)


def test_a_model_without_words_is_refused(tiny_checkpoint: TinyCheckpoint) -> None:
    model = load_model(tiny_checkpoint("electra"))
    assert model.id in measure.untestable(model)
    with pytest.raises(ValueError, match="predicts no words"):
        measure.replicate(model)
    assert known(random_twin(load_model("lab-bert"), 3)) is None
    assert not measure.untestable(load_model("lab-bert"))
    assert shipped.folder("explanation", "lab-bert").exists()
