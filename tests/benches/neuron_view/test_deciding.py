"""The dimensions that decide: bars that add up to the difference, and lines that end at the head's score."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.query_neurons import decide, score_with
from lab.benches.neuron_view.deciding import deciding, kept
from lab.models.trace import Trace


@pytest.fixture(scope="module", params=["lab-bert", "lab-gpt2"])
def traced(request: pytest.FixtureRequest) -> Trace:
    return lab.trace(lab.load_model(request.param), "The word is here again. " * 60)


def test_the_bars_add_up_to_the_difference_and_the_lines_end_at_the_score(traced: Trace) -> None:
    bars = deciding(traced, 1, 2, "previous_token").table()
    found = decide(traced, 1, 2, "previous_token")
    assert found is not None
    assert float(bars.iloc[:, 0].sum()) == pytest.approx(found.total, abs=1e-4)
    lines = kept(traced, 1, 2, "previous_token", 3).table()
    whole = score_with(traced, (1, 2), "previous_token", range(32))
    assert lines["Only these"].iloc[-1] == pytest.approx(whole) == lines["Without these"].iloc[0]
    # A uniform head gives the previous token 1/n, or 1/(i + 1) where token i sees only what came before.
    n, causal = len(traced), traced.model.config.causal
    uniform = np.mean([1 / (i + 1) if causal else 1 / n for i in range(1, n)])
    assert lines["Score needed for the name"].to_numpy() == pytest.approx(uniform + 0.5 * (1 - uniform))


def test_a_figure_of_what_the_text_does_not_have_says_so() -> None:
    with pytest.raises(ValueError, match="No query of this text"):
        deciding(lab.trace(lab.load_model("lab-gpt2"), "a b c"), 0, 0, "next_token")
