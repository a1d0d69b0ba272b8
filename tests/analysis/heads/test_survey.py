"""A survey read in steps equals what one loop over the sentences gives, wherever it was interrupted."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.patterns import PATTERNS, average_patterns, head_patterns, trace_patterns, trace_roles
from lab.analysis.heads.survey import (
    FEATURES,
    TWIN_READS,
    HeadSample,
    HeadSurvey,
    Tags,
    chance_over,
    feature,
    features_of,
    mean_features,
    pattern_scores,
)
from lab.analysis.heads.values import layer_groups, uniform_attention
from lab.models.encoding import Encoding
from lab.models.trace import trace
from lab.models.twin import untrained_twin
from lab.toy.models import constructed_toy, random_toy

TEXTS = ("a b c d", "b b e", "d a a c e b", "c d", "b e a", "a a")


def no_tags(encoding: Encoding) -> Tags:
    return (None,) * len(encoding), (None,) * len(encoding)


def test_steps_give_what_a_loop_gives() -> None:
    toy = random_toy(6, 8, seed=3)
    twin = untrained_twin(toy)
    survey = HeadSurvey(TEXTS)
    assert len(survey.readings()) == 0
    for step in range(1, len(TEXTS) + 1):
        survey.step(toy, no_tags, twin)
        assert survey.done == step
    survey.step(toy, no_tags, twin)
    assert survey.finished and survey.done == survey.total == len(TEXTS)
    traces = [trace(toy, text) for text in TEXTS]
    own = [features_of(list(layer_groups(each)), HeadSample(each, *no_tags(each.encoding))) for each in traces]
    mean = mean_features([each.features for each in survey.readings()])
    for place in range(len(FEATURES)):
        known = [each[..., place] for each in own if not np.isnan(each[..., place]).any()]
        expected = np.mean(known, axis=0) if known else np.full(mean.shape[:2], np.nan)
        np.testing.assert_allclose(mean[..., place], expected)
    patterns = average_patterns(traces)
    for place, pattern in enumerate(PATTERNS):
        np.testing.assert_allclose(pattern_scores(mean)[place], getattr(patterns, pattern.id), atol=1e-6)
    chance = chance_over(survey.readings())
    even = [head_patterns(uniform_attention(len(t), False), trace_roles(t), causal=False) for t in traces]
    assert chance.uniform[2] == pytest.approx(np.mean([1 / len(t) for t in traces]))
    assert chance.uniform[3] == pytest.approx(np.nanmean([each.same_word[0] for each in even]))
    untrained = average_patterns([trace(twin, text) for text in TEXTS[::TWIN_READS]])
    assert chance.untrained[1] == pytest.approx(untrained.next_token.max())


def test_a_text_with_nothing_in_it_is_passed_over() -> None:
    toy = random_toy(6, 8, seed=3)
    survey = HeadSurvey(("a b", " ", "b c"))
    for _ in range(3):
        survey.step(toy, no_tags, untrained_twin(toy))
    assert survey.finished and len(survey.readings()) == 2


def test_nothing_read_has_no_mean() -> None:
    with pytest.raises(ValueError, match="no sentences"):
        mean_features(())


def test_features_by_name() -> None:
    features = np.arange(2.0 * len(FEATURES)).reshape(1, 2, len(FEATURES))
    assert feature(features, "broad").tolist() == feature(features, "spread").tolist()
    assert feature(features, FEATURES[3]).tolist() == [[3.0, 3.0 + len(FEATURES)]]


def test_features_are_the_corrected_numbers_of_the_other_analyses() -> None:
    trace = lab.trace(constructed_toy(9, 8), "c e b e c a c")
    nothing = [None] * len(trace)
    found = features_of(list(layer_groups(trace)), HeadSample(trace, nothing, nothing))
    assert found.shape == (1, 3, len(FEATURES))
    columns = dict(zip(FEATURES, np.moveaxis(found, -1, 0), strict=True))
    np.testing.assert_array_equal(columns["sparsity"], trace_metrics(trace).corrected["sparsity"])
    np.testing.assert_array_equal(columns["same_word"], trace_patterns(trace).same_word)
    assert np.isnan(columns["function_words"]).all()
