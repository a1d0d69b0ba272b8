"""What a comparison means is what the two models say, asked again through their logits."""

from __future__ import annotations

import pytest
import torch

import lab
from lab.benches.compare import EXAMPLE
from lab.benches.compare.comparable import PREDICTIONS, At, hidden, shown
from lab.benches.compare.side_by_side import WordShares
from lab.benches.compare.view import said as best_words
from lab.course.words import quoted
from lab.models.twin import random_twin

SAME = "The old boys were sleeping in the garden."


def said(model: str, first: str, second: str, token: int) -> tuple[str, list[tuple[str, float]]]:
    """The sentence, and what each run finds best by its own logits."""
    runs = [hidden(lab.trace(lab.load_model(model), text), token) for text in (first, second)]
    a, b = (shown(run, PREDICTIONS, At(token=token)) for run in runs)
    assert isinstance(a, WordShares) and isinstance(b, WordShares)
    best = []
    for run in runs:
        shares = torch.softmax(run.logits(token)[0].double(), -1)
        best.append((str(run.model.tokenizer.id_to_token(int(shares.argmax()))).replace("Ġ", "␣"), float(shares.max())))
    return best_words(a, b, (runs[0], runs[1])), best


def test_one_token_moves_the_model_from_one_word_to_another() -> None:
    told, ((first, p), (second, q)) = said("lab-bert", *EXAMPLE, 4)
    assert first != second
    assert told.startswith(f"A’s first word is {quoted(first)} ({p:.2f}), and B’s is {quoted(second)} ({q:.2f}).")
    assert (
        f"only in one token, {quoted('dogs')} in A and {quoted('dog')} in B. This swap is enough to move the model"
        in told
    )


def test_one_token_that_moves_nothing_is_said_to() -> None:
    told, ((first, p), (second, q)) = said("lab-bert", EXAMPLE[0], SAME, 4)
    assert first == second
    assert told.startswith(
        f"Both expect {quoted(first)} most. A gives this word the probability {p:.2f}, and B gives it {q:.2f}."
    )
    assert told.endswith("This swap does not change the word that comes first.")


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_of_texts_that_differ_in_more_no_cause_is_named(model: str) -> None:
    told, ((first, p), (second, q)) = said(model, EXAMPLE[0], "My old friends and I met him again.", 3)
    assert f"{p:.2f}" in told and f"{q:.2f}" in told and quoted(first) in told and quoted(second) in told
    assert "differ in one token" not in told


@pytest.mark.parametrize("changed", ["weights", "intervention"])
def test_no_cause_is_named_where_more_than_the_token_differs(changed: str) -> None:
    """One token differs, and the weights or the run, too: then it need not be the token that moves the model."""
    model = lab.load_model("lab-bert")
    other = random_twin(model, 0) if changed == "weights" else model
    off = lab.Interventions(zero_heads=frozenset({(0, 1)} if changed == "intervention" else ()))
    runs = (hidden(lab.trace(model, EXAMPLE[0]), 4), hidden(lab.trace(other, EXAMPLE[1], interventions=off), 4))
    a, b = (shown(run, PREDICTIONS, At(token=4)) for run in runs)
    assert isinstance(a, WordShares) and isinstance(b, WordShares)
    assert "differ in one token" not in best_words(a, b, runs)
