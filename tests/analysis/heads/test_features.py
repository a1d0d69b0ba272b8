"""The features of a head are what the other analyses say, on real traces."""

from __future__ import annotations

import numpy as np

import lab
from lab.analysis.heads.metrics import trace_metrics
from lab.analysis.heads.patterns import trace_patterns
from lab.analysis.heads.survey import FEATURES, HeadSample, features_of
from lab.analysis.heads.values import layer_groups
from lab.toy.models import constructed_toy


def test_features_are_the_corrected_numbers_of_the_other_analyses() -> None:
    trace = lab.trace(constructed_toy(9, 8), "c e b e c a c")
    nothing = [None] * len(trace)
    found = features_of(list(layer_groups(trace)), HeadSample(trace, nothing, nothing))
    assert found.shape == (1, 3, len(FEATURES))
    columns = dict(zip(FEATURES, np.moveaxis(found, -1, 0), strict=True))
    np.testing.assert_array_equal(columns["sparsity"], trace_metrics(trace).corrected["sparsity"])
    np.testing.assert_array_equal(columns["same_word"], trace_patterns(trace).same_word)
    assert np.isnan(columns["function_words"]).all()
