"""What lesson 8 says of a model: every sentence's numbers counted again, and said only where they hold."""

from __future__ import annotations

import numpy as np
import pytest

from lab.analysis.layers.excitation import Commonest
from lab.analysis.layers.feed_forward import active_on_words
from lab.analysis.layers.sublayers import sublayer_changes
from lab.lessons.feed_forward import reading
from lab.models.loading import load_model
from lab.models.trace import trace
from lab.models.twin import random_twin

TEXTS = ("The sleepy cat sat on the mat.", "She gave her brother the book that he wanted.")
CAT = 4


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_odd_about_lab_bert_is_said(text: str) -> None:
    model = load_model("lab-bert")
    run, twin = trace(model, text), trace(random_twin(model), text)
    after, before = (sublayer_changes(each).relative[:, 1, CAT] for each in (run, twin))
    said = reading.much_added(after, before)
    assert said is not None and said.startswith("**This is odd.** Layers 1, 2 and 4 add more than 10 times")
    assert "With random weights no layer adds that much" in said
    shares = active_on_words(run)
    silent = reading.silent_for_words(shares)
    assert silent is not None and silent.startswith("**Layer 3 is nearly silent for words**")
    assert f"{shares[2]:.1%}" in silent and f"{shares.max():.0%}" in silent
    beside = reading.beside_untrained("“x”", after, before)
    for value in (before.min(), before.max(), after.min(), after.max()):
        assert f"{value:.2f}" in beside


@pytest.mark.parametrize("text", TEXTS)
def test_nothing_is_called_odd_that_is_not(text: str) -> None:
    twin = trace(random_twin(load_model("lab-bert")), text)
    assert reading.silent_for_words(active_on_words(twin)) is None
    assert reading.much_added(sublayer_changes(twin).relative[:, 1, CAT], None) is None
    assert reading.silent_for_words(active_on_words(trace(load_model("lab-gpt2"), text))) is None
    assert reading.much_added(np.array([20.0, 1.0]), np.array([20.0, 1.0])) is None


@pytest.mark.parametrize(
    ("share", "found", "said"),
    [
        (0.181, Commonest(7, 10, 12, 0.015), "12 times as many"),
        (0.005, Commonest(7, 12, 12, 0.005), "hardly anywhere else"),
        (0.5, Commonest(7, 2, 12, 0.015), "say little about it"),
        (0.1, Commonest(7, 2, 12, 0.015), "for you to judge"),
    ],
)
def test_what_the_strongest_tokens_allow_to_be_said(share: float, found: Commonest, said: str) -> None:
    text = reading.about_its_tokens(25, share, found, "“to”")
    assert said in text and "neuron 26" in text.lower() and f"{share:.1%}" in text
