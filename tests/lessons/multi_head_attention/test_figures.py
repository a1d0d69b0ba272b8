"""The words with a head and without it: the word that one follows has a bar of its own, wherever it ranks."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.ablation import head_off
from lab.lessons.multi_head_attention.figures import TOP, best_without_head


@pytest.mark.parametrize("rank", [1, TOP, TOP + 1, 500])
def test_the_followed_word_keeps_its_bar(rank: int) -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "The ship will [MASK] across the sea.")
    logits = head_off(trace, 0, 1, 4).logits
    assert logits is not None
    order = np.argsort(-logits)
    drawn = best_without_head(trace, 0, 1, 4, int(order[rank - 1]))
    values = drawn.table().iloc[:, -1].to_numpy()
    exponentials = np.exp(np.asarray(logits, dtype=np.float64) - logits.max())
    best = [*order[:TOP]] + ([order[rank - 1]] if rank > TOP else [])
    assert list(np.flatnonzero(drawn.data["chosen"])) == [min(rank - 1, TOP)]
    np.testing.assert_allclose(values, exponentials[best] / exponentials.sum(), rtol=1e-5)
