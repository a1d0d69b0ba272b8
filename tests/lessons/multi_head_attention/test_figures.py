"""The words with a head and without it: the word that one follows has a bar of its own, wherever it ranks."""

from __future__ import annotations

import numpy as np
import pytest
from lab.lessons.multi_head_attention.figures import TOP, best_without_head

import lab
from lab.analysis.heads.ablation import head_off
from lab.figures.multi_head import concatenation


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


def test_each_head_stands_alone_in_its_own_place_of_the_concatenation() -> None:
    run = lab.trace(lab.load_model("lab-bert"), "The cat sat.")
    heads, d_k = run.model.config.heads, run.model.config.head_width
    concat, *alone = concatenation(run, 1, 2).data["value"].to_numpy().reshape(1 + heads, -1)
    np.testing.assert_array_equal(concat, run.layer(1).context_concat[2].numpy())
    for head, strip in enumerate(alone):
        own = slice(head * d_k, (head + 1) * d_k)
        np.testing.assert_array_equal(strip[own], run.layer(1).context[head, 2].numpy())
        assert not np.delete(strip, np.r_[own]).any()
