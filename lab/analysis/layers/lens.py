"""The logit lens: the model's predictions if it stopped after each layer.

The model's own head reads every layer's hidden state, after GPT-2's final LayerNorm (nostalgebraist
2020, "interpreting GPT: the logit lens"). The head was trained on the last layer only, so an early
row contains only information already in the form of the last layer, not everything that the layer knows.

With ``fitted``, a map before the head guesses the last hidden state from the current one
(:mod:`lab.models.fitted_lens`; least squares, where Belrose et al. 2023 minimise the divergence from the output). An
early row then shows what this map can guess from the layer, which may be more than later layers use; where there is
little to guess, it reads one frequent token at every place. The last row is the model's own output either way. Every
function with this keyword raises ValueError if the model has no fitted lens.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

import torch
from torch import Tensor

from lab.analysis.words.masking import is_hidden
from lab.analysis.words.predictions import Likeliest
from lab.models.config import CheckpointError
from lab.models.fitted_lens import FittedLens, fitted_lens, measured
from lab.models.memo import once
from lab.models.trace import Trace


@torch.inference_mode()
def guessed(trace: Trace, places: Sequence[int]) -> Tensor:
    """Return the last hidden states at ``places`` as the fitted lens guesses them after each layer, (L+1, k, d).

    After the last layer, they are the model's own states. Raises ValueError if the model has no fitted lens.
    """
    through, states = _lens_of(trace, True), trace.hidden_states[:, list(places)]
    assert through is not None
    return torch.cat([states[:-1] @ through.w + through.b[:, None], states[-1:]])


@once
def likeliest_after(trace: Trace, place: int, k: int, *, fitted: bool = False) -> Likeliest:
    """The ``k`` most probable words at ``place`` after the embeddings and each layer, all rows (L+1, k) in one go.

    Raises ValueError for a model without a vocabulary head.
    """
    states = guessed(trace, [place])[:, 0] if fitted else trace.hidden_states[:, place]
    logs = replace(trace, hidden_states=states[None]).logits(range(len(states))).double().log_softmax(-1)
    best = logs.topk(min(k, logs.shape[-1]), dim=-1)
    return Likeliest(best.indices.numpy(), best.values.exp().numpy())


def first_read(trace: Trace, place: int, *, fitted: bool = False) -> int:
    """Return the first layer, from 1, after which a lens can read a word at ``place``.

    At a hidden word, or in a causal model, this is the first layer after which the lens is closer to the model's output
    than a guess without context, on held-out text. If no record has a measurement, this is layer 1: at the
    embeddings, a token has not heard the others yet.
    """
    record = None
    if trace.model.config.causal or is_hidden(trace, place):
        with suppress(CheckpointError):  # lesson 9 reports a damaged record
            record = measured(trace.model)
    return 1 if record is None else max(1, record.first_read(fitted))


def _lens_of(trace: Trace, fitted: bool) -> FittedLens | None:
    found = fitted_lens(trace.model) if fitted else None
    if fitted and found is None:
        raise ValueError(f"No lens was fitted for {trace.model.id}; read it with the plain one.")
    return found
