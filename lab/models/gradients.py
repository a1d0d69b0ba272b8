"""Gradients, through the papers' formulas, of a number read from the output with respect to parts of each layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch import Tensor

from lab.models import forward
from lab.models.batches import batch_inputs, embed_batch
from lab.models.encoding import Encoding
from lab.models.layer_trace import changed
from lab.models.one_token import model_at

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True, eq=False)
class GradientParts:
    """The outputs of the parts of all layers for b texts of n tokens, or a gradient with respect to these outputs.

    Attributes
    ----------
    residual
        (L+1, b, n, d), the residual stream; 0 is the embeddings' output.
    attention, ffn
        (L, b, n, d), the vectors that the two sublayers add to the residual stream.
    context
        (L, b, H, n, d_k), each head's input to W_O.
    """

    residual: Tensor
    attention: Tensor
    ffn: Tensor
    context: Tensor


@torch.inference_mode()
def parts(model: LoadedModel, stream: Tensor) -> GradientParts:
    """Return the parts of plain runs with this residual ``stream`` (L+1, b, n, d)."""
    layers = [forward.run_layer(stream[i], w, model.config) for i, w in enumerate(model.weights.layers)]
    return GradientParts(
        stream,
        torch.stack([layer.attention.output for layer in layers]),
        torch.stack([layer.feed_forward.output for layer in layers]),
        torch.stack([layer.attention.context for layer in layers]),
    )


def gradients(
    model: LoadedModel, encodings: Sequence[Encoding], read: Callable[[Tensor], Tensor]
) -> tuple[GradientParts, Tensor]:
    """The gradient of a number with respect to every part, and the residual stream (L+1, b, n, d) of the plain run.

    ``read`` takes the last hidden states (b, n, d) and returns a number for each text, (b,). Each number depends only
    on its own text, so one backward pass of the sum finds all gradients. The weights need no gradient.
    """
    config, batch, n = model.config, len(encodings), len(encodings[0])
    with torch.inference_mode(False), torch.enable_grad():
        # Add zeros to each part, because the gradient with respect to the zeros equals the gradient with respect to the
        # part.
        add = GradientParts(
            residual=_nothing(config.layers + 1, batch, n, config.width),
            attention=_nothing(config.layers, batch, n, config.width),
            ffn=_nothing(config.layers, batch, n, config.width),
            context=_nothing(config.layers, batch, config.heads, n, config.head_width),
        )
        steps = [
            changed(
                context=add.context[layer].add,
                attention_output=add.attention[layer].add,
                ffn_output=add.ffn[layer].add,
            )
            for layer in range(config.layers)
        ]
        x = embed_batch(model, encodings)
        stream = forward.run_model(x, model.weights, steps, lambda x, layer: x + add.residual[layer])
        found = torch.autograd.grad(read(stream[-1]).sum(), [add.residual, add.attention, add.ffn, add.context])
    return GradientParts(*found), stream.detach()


def word_gradients(
    model: LoadedModel, encoding: Encoding, vectors: Tensor, place: int, read: Callable[[Tensor], Tensor]
) -> tuple[Tensor, Tensor]:
    """Return the gradient of a number with respect to the vector that each token has in the look-up table.

    ``vectors`` (b, n, e) replace the tokens' own vectors in b runs; positions and segments come from the text.
    ``read`` takes the last hidden states (b, d) of the token at ``place``, from 0, and returns a number for each run.
    Returns the gradients (b, n, e), and the numbers (b,).
    """
    config, weights = model.config, model.weights
    _, segments, positions = batch_inputs(model, [encoding] * len(vectors))
    with torch.inference_mode(False), torch.enable_grad():
        table = vectors.flatten(0, 1).clone().requires_grad_()
        rows = torch.arange(len(table)).view(vectors.shape[:2])
        tables = replace(weights.embeddings, token=table)
        x = forward.embed(rows, segments.clone(), positions.clone(), tables, config.norm_eps).output
        numbers = read(model_at(x, weights, torch.tensor([place])))
        (found,) = torch.autograd.grad(numbers.sum(), [table])
    return found.view(vectors.shape), numbers.detach()


def _nothing(*shape: int) -> Tensor:
    return torch.zeros(shape, requires_grad=True)
