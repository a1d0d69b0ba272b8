"""A softmax to play with: what is sent gives the probabilities that a softmax over all words gives."""

from __future__ import annotations

import numpy as np
import pytest

from lab.charts.components.softmax import Softmax
from tests.charts.payloads import unpack
from tests.charts.samples import HOSTILE


def test_the_parts_add_up_to_the_whole_vocabulary() -> None:
    logits = np.random.default_rng(0).normal(0, 4, 500)
    drawn, others = logits[:8], logits[8:]
    rest = float(np.log(np.exp(others).sum()))
    header, arrays = unpack(Softmax([f"w{i}" for i in range(8)], drawn, 492, rest, 3).payload())
    powers = np.exp([*arrays["logits"], header["rest"]])
    right = np.exp(logits) / np.exp(logits).sum()
    np.testing.assert_allclose(powers / powers.sum(), [*right[:8], right[8:].sum()], rtol=1e-4)
    assert header["largest"] + arrays["logits"][3] == pytest.approx(drawn[3], abs=1e-5)
    assert header["others"] == 492 and header["chosen"] == 3


def test_a_vocabulary_that_is_all_drawn_has_no_rest() -> None:
    assert unpack(Softmax(["a"], [1.0], 0, 0.0, 0, 0.5).payload())[0]["called"] == "Logit ÷ 0.5"
    header, _ = unpack(Softmax(list(HOSTILE[:2]), [1.0, 2.0], 0, float("-inf"), 0).payload())
    assert header["rest"] is None and all("\n" not in word for word in header["words"])


@pytest.mark.parametrize(("logits", "chosen"), [([1.0], 0), ([1.0, np.nan], 0), ([1.0, 2.0], 2)])
def test_what_is_no_softmax_is_refused(logits: list[float], chosen: int) -> None:
    with pytest.raises(ValueError, match="softmax"):
        Softmax(["a", "b"], logits, 0, 0.0, chosen)
