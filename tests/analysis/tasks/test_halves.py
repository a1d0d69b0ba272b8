"""Two halves of a class: against scikit-learn on the same vectors, and what is said where there is nothing to learn."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lab.analysis.tasks.few_examples import halves, learned, of_new, products_of
from lab.analysis.tasks.logistic import STRENGTH, centred


def clouds(count: int) -> tuple[np.ndarray, list[bool]]:
    generator = np.random.default_rng(0)
    labels = [place // 2 % 2 == 0 for place in range(count)]
    middle = np.where(np.array(labels)[:, None], 0.6, -0.6)
    return (generator.normal(size=(count, 8)) + middle).astype(np.float32), labels


def test_one_half_is_learned_and_the_other_is_the_test() -> None:
    vectors, labels = clouds(40)
    found = halves(vectors, labels).learned()
    assert found is not None
    curve, now = found
    assert (now.labelled, now.tested, now.left_out) == (20, 20, False) and curve.sizes[-1] == 20
    x, y = centred(vectors), np.array(labels)
    taught = np.concatenate([np.flatnonzero(y == label)[::2] for label in (True, False)])
    rest = np.setdiff1d(np.arange(len(y)), taught)
    other = LogisticRegression(C=1 / STRENGTH, class_weight="balanced").fit(x[taught], y[taught])
    assert abs(now.right - int((other.predict(x[rest]) == y[rest]).sum())) <= 1
    assert curve.mean[-1] == pytest.approx(now.right / 20)


def test_a_new_sentence_is_judged_by_the_classifier_that_has_learned() -> None:
    """A sentence that is there already gets the very probability that it has; the new one moves nothing."""
    vectors, labels = clouds(40)
    examples = halves(vectors, labels).examples
    known = learned(products_of(vectors), examples)
    assert known is not None
    for place in (0, 1, 2, 39):
        assert of_new(vectors, examples, vectors[place]) == pytest.approx(known[place], abs=1e-9)
    x, y, chosen = centred(vectors), np.array(labels), examples.labelled
    other = LogisticRegression(C=STRENGTH, class_weight="balanced", tol=1e-10, max_iter=10_000).fit(
        x[chosen], y[chosen]
    )
    far = vectors[0] + 5
    scale = np.sqrt(((vectors - vectors.mean(0)) ** 2).sum(1).mean())
    wanted = other.predict_proba(((far - vectors.mean(0)) / scale)[None])[0, 1]
    assert of_new(vectors, examples, far) == pytest.approx(wanted, abs=1e-4)


def test_with_one_label_or_one_sentence_nothing_is_learned() -> None:
    vectors, _ = clouds(8)
    assert halves(vectors, [True] * 8).learned() is None
    assert halves(vectors[:1], [True]).learned() is None
    assert halves(vectors, [True, True, False, True, True, True, False, True]).learned() is not None
    two = halves(vectors[:4], [True, True, False, False]).learned()
    assert two is not None and (two[1].labelled, two[1].tested) == (2, 2)
    with pytest.raises(ValueError, match="labels"):
        halves(vectors, [True])
