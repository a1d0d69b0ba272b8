"""Follow one token through the layers: the turning of its vector, and the most similar row of the token table.

The states of a token are the embeddings' output and the output of each layer, the last after a final LayerNorm if
the model has one. Similarity is the cosine. The rows come unchanged from the token table; the logit lens
(:mod:`lab.analysis.layers.lens`) reads the same states through the head of the model instead.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from lab.analysis.words.neighbours import some, vocabulary_words
from lab.models import forward
from lab.models.memo import once
from lab.models.trace import Trace

Values = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class States:
    """A token's states, and their cosines with rows of the token table.

    vectors  (L+1, d), the states
    turned   (L,), cosine of each state with the previous state
    nearest  (L+1,), id of the word, or of the token itself, whose row is most similar to the state
    cosine   (L+1,), cosine with the nearest row
    own      (L+1,), cosine with the token's own row
    mean     (L+1,), mean cosine with the rows of all whole words, which is the value by chance
    """

    vectors: Values
    turned: Values
    nearest: tuple[int, ...]
    cosine: Values
    own: Values
    mean: Values


@once
@torch.inference_mode()
def states(trace: Trace, token: int) -> States:
    """Compare the states of ``token``, from 0, with each other and with the token table."""
    found = torch.cat([trace.hidden_states[:-1, token], trace.output[None, token]]).double()
    words, w = vocabulary_words(trace.model), trace.model.weights.embeddings
    ids = words if trace.token_ids[token] in words else (*words, trace.token_ids[token])

    def unit(rows: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.normalize(rows, dim=-1)

    def rows_of(chosen: list[int]) -> torch.Tensor:
        rows = w.token[chosen]
        return unit((rows if w.project is None else forward.linear(rows, *w.project)).double())

    near = torch.cat([unit(found) @ rows_of(part).T for part in some(ids)], dim=1)
    best = near.argmax(dim=-1)
    own = unit(found) @ rows_of([trace.token_ids[token]])[0]
    return States(
        found.numpy(),
        torch.nn.functional.cosine_similarity(found[1:], found[:-1], dim=-1).numpy(),
        tuple(ids[int(at)] for at in best),
        near.gather(1, best[:, None])[:, 0].numpy(),
        own.numpy(),
        near[:, : len(words)].mean(dim=-1).numpy(),
    )
