"""One tensor of a trace, cut to any range of rows and columns: its numbers, statistics, proof and Python."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from lab.models.memo import once
from lab.models.proof import Proof
from lab.models.tensor_entries import TensorEntry
from lab.models.tensor_index import expression, tensor_of
from lab.models.trace import Trace

Array = NDArray[np.generic]

# The largest download in bytes; each visitor's download is made in the server's memory.
MOST_BYTES = 20_000_000
_CSV_BYTES = 13  # the approximate bytes of a number as text, with its comma
_RANGE = re.compile(r"(?P<one>\d{1,9})|(?P<first>\d{1,9})?\s*[-–]\s*(?P<last>\d{1,9})?")


class RangeError(ValueError):
    """Raised for an impossible range of rows or columns; the message is written for the learner."""


def matching(entries: Sequence[TensorEntry], query: str, group: str | None = None) -> tuple[TensorEntry, ...]:
    """Find the entries with ``query`` in a name, formula or source; if there are none, entries with all words of
    ``query``.

    Underscores, dots and capitals make no difference: "self attention" finds ``attention.self.query``. If ``group`` is
    given, only entries of this group are found.
    """
    texts = {entry: _text(entry) for entry in entries if group in (None, entry.group)}
    phrase = " ".join(_plain(query).split())
    whole = tuple(entry for entry, text in texts.items() if phrase in text)
    return whole or tuple(entry for entry, text in texts.items() if all(word in text for word in phrase.split()))


def _text(entry: TensorEntry) -> str:
    return _plain(" ".join((entry.name, entry.alias or "", entry.group, entry.formula, entry.source, entry.words)))


def _plain(text: str) -> str:
    return re.sub(r"[._\[\]]+", " ", text.casefold()).replace("layer norm", "layernorm")


def parse_range(text: str, size: int, what: str) -> range:
    """Return the places (from 0) for "3-7", "3-", "-7" or "3", which count from 1 and include both ends; "" means all.

    Raises :class:`RangeError` with a sentence for anything else, and for places beyond ``size``.
    """
    wanted = text.strip()
    match = _RANGE.fullmatch(wanted)
    if wanted in ("-", "–") or (match is None and wanted):
        raise RangeError(f"{wanted[:20]} is no range of {what}. Type 3-7, 3- or 5; nothing means all {size:,}.")
    if match and match["one"]:
        first = last = int(match["one"])
    else:
        first, last = (int(match[end] or other) if match else other for end, other in (("first", 1), ("last", size)))
    if not 1 <= first <= last <= size:
        raise RangeError(f"{what.capitalize()} run from 1 to {size:,}; {first:,}-{last:,} is not among them.")
    return range(first - 1, last)


def leading(entry: TensorEntry) -> str | None:
    """Return the name of the first of three axes, "head" or "state"; None for matrices and vectors."""
    return entry.axes[0] if len(entry.axes) == 3 else None


def rows_of(entry: TensorEntry) -> int:
    """Return the number of rows; a vector has one row."""
    return 1 if len(entry.shape) == 1 else entry.shape[-2]


@dataclass(frozen=True)
class Cut:
    """The part of a tensor that is on screen; all places count from 0.

    ``layer`` matters only for a tensor of layers, ``lead`` (a head, or a state of the residual stream)
    only for a tensor with three axes. A vector has one row.
    """

    entry: TensorEntry
    layer: int
    lead: int
    rows: range
    columns: range

    @property
    def size(self) -> int:
        return len(self.rows) * len(self.columns)

    @property
    def python(self) -> str:
        """The Python expression that gives this part from ``trace`` as an array."""
        sizes = (rows_of(self.entry), self.entry.shape[-1])
        parts = [
            ":" if len(places) == size else f"{places.start}:{places.stop}"
            for places, size in zip((self.rows, self.columns), sizes, strict=True)
        ]
        if len(self.entry.shape) == 1:
            parts = parts[1:]
        index = [str(self.lead)] if leading(self.entry) else []
        index += parts if set(parts) != {":"} else []
        cut = f"[{', '.join(index)}]" if index else ""
        return f"{expression(self.entry.name, self.layer)}{cut}.numpy()"

    def at_most(self, rows: int, columns: int) -> Cut:
        """Return this part from its first row and column on, with at most ``rows`` rows and ``columns`` columns."""
        return replace(self, rows=self.rows[:rows], columns=self.columns[:columns])


def values(trace: Trace, cut: Cut) -> Array:
    """Return the numbers of ``cut``, not copied, (rows, columns), or (columns,) for a vector."""
    tensor = tensor_of(trace, cut.entry.name, cut.layer)
    if leading(cut.entry):
        tensor = tensor[cut.lead]
    columns = slice(cut.columns.start, cut.columns.stop)
    found = tensor[columns] if tensor.ndim == 1 else tensor[cut.rows.start : cut.rows.stop, columns]
    return np.asarray(found)


@dataclass(frozen=True)
class Statistics:
    """Statistics of the finite numbers of an array.

    ``norm`` is the Frobenius norm, or ‖·‖ of a vector; ``zeros`` is the share of zeros. ``lowest`` and ``highest`` are
    the first (row, column), from 0 within the array, of the smallest and of the largest number; ``masked`` is the
    number of scores of −∞.
    """

    minimum: float
    maximum: float
    mean: float
    deviation: float
    norm: float
    zeros: float
    lowest: tuple[int, int]
    highest: tuple[int, int]
    masked: int


def statistics(array: Array) -> Statistics | None:
    """Statistics of an array with one or two axes, in float64; None if no number is finite."""
    matrix = np.atleast_2d(np.asarray(array, dtype=np.float64))
    finite = np.isfinite(matrix)
    kept = matrix[finite]
    if not kept.size:
        return None
    low, high = np.where(finite, matrix, np.inf).argmin(), np.where(finite, matrix, -np.inf).argmax()
    width = matrix.shape[1]
    return Statistics(
        minimum=float(kept.min()),
        maximum=float(kept.max()),
        mean=float(kept.mean()),
        deviation=float(kept.std()),
        norm=float(np.sqrt(np.square(kept).sum())),
        zeros=float((kept == 0).mean()),
        lowest=divmod(int(low), width),
        highest=divmod(int(high), width),
        masked=int((~finite).sum()),
    )


@once
def statistics_of(trace: Trace, cut: Cut) -> Statistics | None:
    """:func:`statistics` of a part of a tensor."""
    return statistics(values(trace, cut))


def proven_difference(proof: Proof, cut: Cut) -> float | None:
    """Return the largest |difference| of the tensor (all heads, this layer) from Hugging Face's.

    Returns None if the tensor was not compared.
    """
    name, layer = cut.entry.name.removeprefix("layer."), cut.layer if cut.entry.of_layer else None
    if name == "hidden_states" or cut.entry.name == "layer.input":
        state = cut.lead if name == "hidden_states" else cut.layer
        name, layer = ("output", state - 1) if state else ("embeddings.output", None)
    return next((row.difference for row in proof.rows if (row.step, row.layer) == (name, layer)), None)


def refusal(cut: Cut, itemsize: int, kind: str) -> str | None:
    """The reason why ``cut`` is too large to download as "npy" or "CSV", in a sentence; None if it is small enough."""
    size = cut.size * (itemsize if kind == "npy" else _CSV_BYTES)
    if size <= MOST_BYTES:
        return None
    return (
        f"As {kind} the selection takes about {size / 1e6:.0f} MB; this server gives at most {MOST_BYTES / 1e6:.0f}. "
        "Choose fewer rows, or compute it in Python."
    )


def npy(array: Array) -> bytes:
    """Return the array as the content of a ``.npy`` file."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()
