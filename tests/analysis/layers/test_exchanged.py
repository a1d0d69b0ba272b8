"""One vector from another run: every probability again by a hook in Hugging Face's model, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

import lab
from lab.analysis.layers.exchanged import MOST, NotExchangeable, exchange, exchanged, other_run
from lab.analysis.words.predictions import prediction_at
from lab.models.reference import reference
from lab.models.trace import Trace

FRANCE, RUSSIA = "The capital of France is [MASK].", "The capital of Russia is _."


def theirs(trace: Trace, other: Trace, place: int) -> NDArray[np.float64]:
    """The probability of the other run's best word: a hook at a layer's input takes one token from the other run."""
    module: Any = reference(trace.model)
    causal = trace.model.config.causal
    blocks = module.transformer.h if causal else module.bert.encoder.layer
    tokens = torch.tensor([trace.token_ids]).repeat(len(trace), 1)
    every = torch.arange(len(trace))
    with torch.inference_mode():
        states = module(torch.tensor([other.token_ids]), output_hidden_states=True).hidden_states
        word = int(_read(module, torch.tensor([other.token_ids]), place)[0].argmax())
        rows = []
        for state, block in zip(states, blocks, strict=False):

            def taken(_: object, given: tuple[Any, ...], state: torch.Tensor = state) -> tuple[Any, ...]:
                x = given[0].clone()
                x[every, every] = state[0]
                return x, *given[1:]

            hook = block.register_forward_pre_hook(taken)
            rows.append(_read(module, tokens, place).double().softmax(-1)[:, word])
            hook.remove()
    return torch.stack(rows).numpy()


def _read(module: Any, tokens: torch.Tensor, place: int) -> torch.Tensor:
    out = module(tokens)
    logits: torch.Tensor = (out.logits if "logits" in out else out.prediction_logits)[:, place]
    return logits


@pytest.mark.parametrize(
    ("model", "text", "second", "place"),
    [
        ("lab-minilm", FRANCE, RUSSIA, 6),
        ("lab-bert", "The boys [MASK] playing.", "The boy ▢ playing.", 3),
        ("lab-gpt2", "The boys in the garden", "The boy in the garden", 4),
    ],
)
def test_every_probability_is_that_of_a_hook(model: str, text: str, second: str, place: int) -> None:
    trace = lab.trace(lab.load_model(model), text)
    other = other_run(trace, place, second)
    told: list[float] = []
    ours, expected = exchanged(trace, place, other, told.append), theirs(trace, other, place)
    assert told == sorted(told) and told[-1] == 1 and exchange(trace, place, other).finished
    assert ours[:-1] == pytest.approx(expected, abs=2e-5)
    word = prediction_at(other, place, None).best(1)[0]  # after the last layer, only the place that is read counts
    whole, own = (float(prediction_at(run, place, None).probabilities[word]) for run in (other, trace))
    assert ours[-1] == pytest.approx([whole if at == place else own for at in range(len(trace))], abs=2e-5)


@pytest.mark.parametrize(
    ("text", "second", "why"),
    [
        (FRANCE, "The capital of Mauritania is _.", "9 tokens and the second 11"),
        (FRANCE, FRANCE, "reads the same in both"),
        (FRANCE, "The capital of _ is Paris.", "blank at the same place: token 7"),
        (FRANCE, "The capital of Russia is big.", "blank at the same place"),
        ("The boys [MASK] playing.", "The girls _ playing.", "most probable word is “were”"),
        ("so " * MOST + "[MASK]", "so " * MOST + "_", "at most 32 tokens"),
    ],
)
def test_sentences_that_do_not_fit_together_are_refused_with_a_reason(text: str, second: str, why: str) -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), text)
    place = trace.tokens.index("[MASK]")
    with pytest.raises(NotExchangeable, match=why):
        other_run(trace, place, second)


def test_a_pair_of_texts_is_refused() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), FRANCE, "So?")
    with pytest.raises(NotExchangeable, match="one sentence"):
        other_run(trace, 6, RUSSIA)
