"""Logistic regression from dot products, against scikit-learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lab.analysis.tasks.logistic import fit, probability


def sample(count: int, width: int, seed: int, apart: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    labels = np.arange(count) % 3 == 0
    return generator.normal(size=(count, width)) + apart * labels[:, None], labels


@pytest.mark.parametrize(("count", "width"), [(8, 3), (30, 12), (40, 300)])
@pytest.mark.parametrize("strength", [0.1, 1.0, 100.0])
def test_weights_scores_and_bias_are_those_of_scikit_learn(count: int, width: int, strength: float) -> None:
    x, labels = sample(count, width, seed=count)
    trained = np.arange(count)[None]
    found = fit(x @ x.T, labels, trained, strength)
    theirs = LogisticRegression(C=strength, class_weight="balanced", tol=1e-10, max_iter=20_000).fit(x, labels)
    assert found.bias[0] == pytest.approx(theirs.intercept_[0], abs=2e-4)
    assert found.parts[0] @ x == pytest.approx(theirs.coef_[0], abs=2e-4)
    fresh, _ = sample(10, width, seed=99)
    scores = found.scores(fresh @ x.T)[0]
    assert scores == pytest.approx(theirs.decision_function(fresh), abs=2e-3)
    assert probability(scores) == pytest.approx(theirs.predict_proba(fresh)[:, 1], abs=1e-3)


def test_many_fits_at_once_are_the_same_as_one_after_the_other() -> None:
    x, labels = sample(24, 6, seed=1)
    generator = np.random.default_rng(0)
    rows = np.stack([generator.permutation(24)[:16] for _ in range(80)])
    products = x @ x.T
    together = fit(products, labels, rows)
    for place in (0, 63, 64, 79):
        alone = fit(products, labels, rows[place : place + 1])
        assert together.scores(products)[place] == pytest.approx(alone.scores(products)[0], abs=1e-8)


def test_labels_that_a_plane_separates_have_a_finite_answer() -> None:
    x, labels = sample(20, 4, seed=2, apart=50.0)
    scores = fit(x @ x.T, labels, np.arange(20)[None]).scores(x @ x.T)[0]
    assert np.isfinite(scores).all() and ((scores > 0) == labels).all()


def test_vectors_that_are_all_the_same_tell_nothing_however_many_have_a_label() -> None:
    x, labels = np.ones((9, 3)), np.arange(9) < 3
    scores = fit(x @ x.T, labels, np.arange(9)[None]).scores(x @ x.T)[0]
    assert scores == pytest.approx(np.zeros(9), abs=1e-9)


def test_one_label_only_is_refused() -> None:
    with pytest.raises(ValueError, match="both labels"):
        fit(np.eye(4), np.array([True, True, True, False]), np.array([[0, 1, 2]]))
