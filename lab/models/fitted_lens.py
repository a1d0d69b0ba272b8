"""A lens that was fitted: for each layer one affine map that guesses the last hidden state from the one after it.

Belrose et al. 2023, "Eliciting Latent Predictions from Transformers with the Tuned Lens"; theirs is trained by gradient
descent, ours is a ridge regression (``training/lens.py``). The model's own head then reads the guess. The maps lie in a
folder of their own, as they are no part of the model: its weights alone say which model it is.
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
    """The maps from hidden state l = 0 … L−1 (0: the embeddings' output) to the last one, in float32.

    w  (L, d, d), for ``x @ w + b``
    b  (L, d)
    """

    w: Tensor
    b: Tensor

    def guess(self, states: Tensor, layer: int) -> Tensor:
        """The last hidden states as guessed from those after ``layer``, (..., d) -> (..., d)."""
        return states @ self.w[layer] + self.b[layer]


@dataclass(frozen=True)
class LensReading:
    """How well one kind of lens reads: a value after the embeddings and after each layer.

    agreement    share of the places where the best word is the model's own
    probability  mean probability of the word that is really there
    divergence   mean KL from the model's own prediction to the lens's, in nats
    """

    agreement: tuple[float, ...]
    probability: tuple[float, ...]
    divergence: tuple[float, ...]


_MEASURED = ("agreement", "probability", "divergence")


@dataclass(frozen=True)
class MeasuredLens:
    """How well each kind of lens reads ``places`` words of text that nothing was fitted on.

    ``untrained`` is a lens from the states of the untrained twin to the trained model's last state: what a map can
    guess without any of the model's layers. ``in_sight`` is the agreement of the plain and the fitted lens at words
    of a BERT that are not hidden, where nothing was fitted; None for GPT-2, which is asked everywhere.
    """

    places: int
    plain: LensReading
    fitted: LensReading
    untrained: LensReading
    in_sight: tuple[tuple[float, ...], tuple[float, ...]] | None


def fitted_lens(model: LoadedModel) -> FittedLens | None:
    """The lens that was fitted for ``model``, read once; None for toys, twins and folders without one.

    Raises :class:`CheckpointError` for a file that is damaged or of a model of another shape.
    """
    folder = _folder(model)
    return None if folder is None else _read(folder, model.config.layers, model.config.width)


def measured(model: LoadedModel) -> MeasuredLens | None:
    """What was measured of a model's fitted lens when it was made; None where it has none.

    Raises :class:`CheckpointError` for a record that cannot be read.
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
        return MeasuredLens(found["places"], plain, fitted, untrained, in_sight)
    except (KeyError, TypeError) as error:
        raise CheckpointError(
            f"{RECORD} of {folder.parent.name} does not say how its lens reads; restore it."
        ) from error
