"""Teaching by examples: what is learned, how good it is, and that pairs stay together."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from lab.analysis.tasks.few_examples import (
    Examples,
    Turning,
    _draws,
    halves,
    learned,
    of_new,
    partners,
    products_of,
    rise,
    sizes_to,
    standing,
)
from lab.analysis.tasks.logistic import STRENGTH, LabelledTask, accuracy, centred, folds, right

# Eight sentences in four pairs: the first number tells the label, the others the pair.
TRUTH = (True, False) * 4
GROUPS = (0, 0, 1, 1, 2, 2, 3, 3)
TOPICS = np.repeat(np.eye(4), 2, axis=0)
TOLD = np.concatenate([np.where(np.array(TRUTH), 1.0, -1.0)[:, None], 0.1 * TOPICS], axis=1).astype(np.float32)
# Vectors that know only the pair, and nothing of the label.
BLIND = TOPICS.astype(np.float32)


def marked(*places: int) -> Examples:
    return Examples(tuple(TRUTH[i] if i in places else None for i in range(8)), TRUTH, GROUPS)


def test_two_examples_teach_what_one_number_tells() -> None:
    found = standing(products_of(TOLD), marked(0, 1))
    assert found is not None and (found.labelled, found.right, found.tested) == (2, 6, 6)
    said = learned(products_of(TOLD), marked(0, 1))
    assert said is not None and ((said > 0.5) == np.array(TRUTH)).all()


def test_one_of_each_pair_teaches_the_topics_so_that_every_partner_is_told_wrongly() -> None:
    """Worked by hand: the vectors know only the pair, so a partner gets the label of its learned sentence."""
    examples = marked(0, 3, 4, 7)
    found = standing(products_of(BLIND), examples)
    assert found is not None and (found.right, found.tested) == (0, 4)
    assert np.flatnonzero(partners(examples)).tolist() == [1, 2, 5, 6] and not partners(marked(0, 1, 2, 3)).any()


def test_without_both_labels_nothing_is_learned() -> None:
    for examples in (marked(), marked(0), marked(0, 2)):
        assert learned(products_of(TOLD), examples) is None
        assert standing(products_of(TOLD), examples) is None
        assert rise(products_of(TOLD), examples) is None


def test_sizes_double_up_to_the_number_of_examples() -> None:
    assert sizes_to(1) == ()
    assert sizes_to(2) == (2,)
    assert sizes_to(8) == (2, 4, 8)
    assert sizes_to(30) == (2, 4, 8, 16, 30)


def test_the_last_point_of_the_curve_is_how_the_classifier_stands() -> None:
    products, examples = products_of(TOLD), marked(0, 1, 2, 3)
    found, now = rise(products, examples), standing(products, examples)
    assert found is not None and now is not None
    assert found.sizes == (2, 4)
    assert found.mean[-1] == found.low[-1] == found.high[-1] == now.share


def test_the_band_of_the_curve_holds_four_fifths_of_the_draws() -> None:
    """Each draw is taught alone, and judged as the list of a learner is."""
    truth, random = (True, False) * 20, np.random.default_rng(0)
    noisy = random.normal(size=(40, 8)) + np.array(truth)[:, None]
    products, groups = products_of(noisy.astype(np.float32)), tuple(range(40))
    found = rise(products, examples := Examples((*truth[:20], *[None] * 20), truth, groups))
    assert found is not None
    outside = 0
    for at, size in enumerate(found.sizes[:-1]):
        drawn = _draws(examples, size)
        assert drawn is not None and len(drawn) > 10
        taught = (Examples(tuple(truth[i] if i in one else None for i in range(40)), truth, groups) for one in drawn)
        shares = [now.share for each in taught if (now := standing(products, each)) is not None]
        ends = np.quantile(shares, (0.1, 0.9))
        assert (found.low[at], found.mean[at], found.high[at]) == pytest.approx((ends[0], np.mean(shares), ends[1]))
        outside += min(shares) < ends[0]
    assert outside, "some draws are below the band"


def test_own_sentences_are_judged_by_classifiers_that_have_not_learned_them() -> None:
    """All are labelled, so there is no other sentence to test on."""
    every = Examples(TRUTH, (None,) * 8, tuple(range(8)))
    found = standing(products_of(TOLD), every)
    assert found is not None and (found.labelled, found.right, found.tested) == (8, 8, 8)


def test_groups_are_never_split_between_learning_and_testing() -> None:
    fold = folds(GROUPS, 2)
    assert all(
        len({int(f) for f, group in zip(fold, GROUPS, strict=True) if group == each}) == 1 for each in set(GROUPS)
    )
    assert sorted(np.bincount(fold)) == [4, 4]


def test_the_interval_contains_the_share_and_is_a_point_without_variation() -> None:
    task = LabelledTask("t", ("a", "b"), tuple("abcdefgh"), TRUTH, GROUPS)
    every = accuracy(task, np.ones(8, dtype=bool))
    assert (every.share, every.low, every.high) == (1, 1, 1)
    half = accuracy(task, np.array([True, False] * 4))  # one of each pair, however the pairs are drawn
    assert (half.share, half.low, half.high) == (0.5, 0.5, 0.5)
    some = accuracy(task, np.array([True] * 4 + [False] * 4))
    assert some.low < some.share == 0.5 < some.high
    assert right(task, TOLD).all()


def test_a_task_needs_a_label_for_each_sentence() -> None:
    with pytest.raises(ValueError, match="needs a label"):
        LabelledTask("t", ("a", "b"), ("one",), (True, False), (0,))


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


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_what_matters_speaks_for_the_answer_whichever_it_is(sign: float) -> None:
    """Without token 2 the answer is least sure; without token 3 it is surer; without token 5 it is the other one."""
    found = Turning(2.0 * sign, (1, 2, 3), sign * np.array([1.9, 0.5, 4.0]), np.array([0.1, 0.2, 0.7]))
    assert found.matters == 2 and found.turns == () and found.looked_at == 3
    turned = Turning(2.0 * sign, (4, 5), sign * np.array([1.0, -0.1]), np.array([0.6, 0.4]))
    assert turned.matters == 5 and turned.turns == (5,) and turned.looked_at == 4
