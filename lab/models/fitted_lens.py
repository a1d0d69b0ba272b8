"""A fitted lens: for each layer one affine map that guesses the last hidden state from the state after this layer.

Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens", train the maps by gradient
descent; here they come from a ridge regression (``training/lens.py``). The model's own vocabulary head then reads the
guessed state. The maps have a separate folder, because they are not part of the model, which is identified by its
weights alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from torch import Tensor

from lab.models.config import CheckpointError
from lab.models.loading import read_json, read_safetensors

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

FOLDER, MAPS, RECORD = "lens", "lens.safetensors", "lens.json"


@dataclass(frozen=True, eq=False)
class FittedLens:
    """The maps from hidden state l = 0 … L−1 (0: the embeddings' output) to the last hidden state, in float32.

    w  (L, d, d), for ``x @ w + b``
    b  (L, d)
    """

    w: Tensor
    b: Tensor

    def guess(self, states: Tensor, layer: int) -> Tensor:
        """Return the last hidden states as guessed from the hidden states after ``layer``, (..., d) -> (..., d)."""
        return states @ self.w[layer] + self.b[layer]


@dataclass(frozen=True)
class LensReading:
    """The quality of one kind of lens: a value after the embeddings and after each layer.

    agreement    share of the places at which the lens's best word is the model's own best word
    probability  mean probability of the true word
    divergence   mean KL divergence from the model's own prediction to the lens's, in nats
    """

    agreement: tuple[float, ...]
    probability: tuple[float, ...]
    divergence: tuple[float, ...]


_MEASURED = ("agreement", "probability", "divergence")


@dataclass(frozen=True)
class MeasuredLens:
    """The quality of each kind of lens on ``places`` words of text that were not used for fitting.

    ``without_context`` is the mean KL divergence, in nats, from the model's prediction to one and the same guess at
    every place, the model's mean prediction: a lens that reads no better has read nothing of the text. ``untrained`` is
    a lens from the states of the untrained twin to the trained model's last state, as a measure of what can be guessed
    without the model's trained layers. ``in_sight`` is the agreement of the plain and the fitted lens at words of a
    BERT that are not hidden, where nothing was fitted; None for GPT-2, which predicts at every word.
    """

    places: int
    without_context: float
    plain: LensReading
    fitted: LensReading
    untrained: LensReading
    in_sight: tuple[tuple[float, ...], tuple[float, ...]] | None

    def first_read(self, fitted: bool) -> int:
        """Return the first state (0: the embeddings) at which a lens beats the guess without context.

        The last state is the model's own output, which every lens reads.
        """
        divergences = (self.fitted if fitted else self.plain).divergence
        read = (state for state, found in enumerate(divergences) if found < self.without_context)
        return next(read, len(divergences) - 1)


def fitted_lens(model: LoadedModel) -> FittedLens | None:
    """Return the fitted lens of ``model``, read once; None for toys, twins and folders without a lens.

    Raises :class:`CheckpointError` if the file is damaged or is for a model of another shape.
    """
    folder = _folder(model)
    return None if folder is None else _read(folder, model.config.layers, model.config.width)


def measured(model: LoadedModel) -> MeasuredLens | None:
    """Return the quality of a model's fitted lens, measured when the lens was made; None for a model without a lens.

    Raises :class:`CheckpointError` if the record cannot be read.
    """
    folder = _folder(model)
    return None if folder is None else _measured(folder)


def _folder(model: LoadedModel) -> Path | None:
    if not isinstance(model.source, Path):
        return None
    folder = model.source / FOLDER
    return folder if (folder / MAPS).is_file() else None


@cache
def _read(folder: Path, layers: int, width: int) -> FittedLens:
    tensors, shapes = (
        read_safetensors(folder / MAPS, folder.parent.name),
        {"w": (layers, width, width), "b": (layers, width)},
    )
    for name, shape in shapes.items():
        found = tuple(tensors[name].shape) if name in tensors else None
        if found != shape:
            raise CheckpointError(
                f"{MAPS} of {folder.parent.name}: the tensor {name!r} is {found or 'missing'}, and the model needs "
                f"{shape}. It is the lens of another model; restore it from the repository."
            )
    return FittedLens(tensors["w"].float(), tensors["b"].float())


@cache
def _measured(folder: Path) -> MeasuredLens:
    record = read_json(folder / RECORD)
    try:
        found = record["held_out"]
        plain, fitted, untrained = (
            LensReading(*(tuple(found[kind][key]) for key in _MEASURED)) for kind in ("plain", "fitted", "untrained")
        )
        seen = record.get("in_sight")
        in_sight = seen and (tuple(seen["plain"]), tuple(seen["fitted"]))
        return MeasuredLens(found["places"], found["without_context"], plain, fitted, untrained, in_sight)
    except (KeyError, TypeError) as error:
        raise CheckpointError(
            f"{RECORD} of {folder.parent.name} does not say how its lens reads; restore it."
        ) from error
