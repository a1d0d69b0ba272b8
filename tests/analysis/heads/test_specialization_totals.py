"""The sums in the formulas of one head give the numbers of all heads at once, and both those of naive loops."""

from __future__ import annotations

import math

import numpy as np
import pytest

from lab.analysis.heads.specialization import SPECIALIZATIONS, head_specialization, totals_of
from tests.analysis.matrices import random_attention

UPOS = [None, "DET", "NOUN", "VERB", "ADP", "PROPN", "PUNCT", "SPACE", None]
ENTITIES = [None, None, None, None, None, "GPE", None, None, None]
CASES = [(UPOS, ENTITIES), (UPOS[:1], ENTITIES[:1]), ([None] * 7, [None] * 7)]


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize(("upos", "entities"), CASES)
def test_parts_are_the_metrics(upos: list[str | None], entities: list[str | None], causal: bool) -> None:
    attention = random_attention(1, 3, len(upos), causal)
    found = head_specialization(attention, upos, entities, causal=causal)
    for head in range(3):
        parts = totals_of(attention[head : head + 1], upos, entities, causal=causal)
        assert [part.id for part in parts.of(0)] == [dimension.id for dimension in SPECIALIZATIONS]
        assert parts.raw[0].tolist() == pytest.approx(found.raw[head].tolist(), abs=1e-6, nan_ok=True)
        assert parts.corrected[0].tolist() == pytest.approx(found.corrected[head].tolist(), rel=1e-5, nan_ok=True)
        for part in (part for part in parts.of(0) if part.members):
            shown = part.fill(corrected=True).rpartition(" = ")[2]
            assert float(shown) == pytest.approx(part.total / part.uniform, abs=6e-4)


@pytest.mark.parametrize("causal", [False, True])
def test_parts_by_loops(causal: bool) -> None:
    attention, n = random_attention(2, 1, len(UPOS), causal)[0], len(UPOS)
    parts = {part.id: part for part in totals_of(attention[None], UPOS, ENTITIES, causal=causal).of(0)}
    function = far = uniform = 0.0
    cells = 0
    for i in range(n):
        keys = i + 1 if causal else n
        for j in range(keys):
            if UPOS[j] in ("DET", "ADP"):
                function += float(attention[i, j])
                uniform += 1 / keys
            if abs(i - j) >= 5:
                far += float(attention[i, j])
                cells += 1
    assert parts["function_words"].members == 2
    assert (parts["function_words"].total, parts["function_words"].uniform) == pytest.approx(
        (function, uniform), abs=1e-5
    )
    assert parts["long_range"].members == cells
    assert parts["long_range"].total / parts["long_range"].divisor == pytest.approx(far / cells, abs=1e-6)


def test_uniform_corrected_is_one_and_nothing_of_a_kind_is_nan() -> None:
    even = np.full((6, 6), 1 / 6, dtype=np.float32)
    tags: list[str | None] = ["DET", "NOUN", "DET", "VERB", "DET", "NOUN"]
    parts = totals_of(even[None], tags, [None] * 6, causal=False)
    raw, corrected = (
        dict(zip([each.id for each in SPECIALIZATIONS], values[0], strict=True))
        for values in (parts.raw, parts.corrected)
    )
    assert (raw["function_words"], corrected["function_words"]) == pytest.approx((0.5, 1))
    assert math.isnan(raw["entities"]) and math.isnan(corrected["punctuation"])
