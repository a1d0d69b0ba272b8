"""Small drawings of real numbers as HTML, for the map of the way: no axes, no scale, only what it looks like."""

from __future__ import annotations

import html
from base64 import b64encode
from collections.abc import Sequence
from io import BytesIO

import numpy as np
from numpy.typing import ArrayLike
from PIL import Image

from lab.charts.base.colour import CHOSEN, ON_CHOSEN
from lab.charts.base.labels import visible

# Above and below zero, as red, green, blue: one picture serves both themes, so these are those of the light one.
_ABOVE, _BELOW = (0x2F, 0x71, 0xCB), (0xBD, 0x5A, 0x1C)
_CHIPS, _LETTERS = 12, 10
_STYLE = f"""<style>
.way-sketch {{ height: 6rem; overflow: hidden; margin-bottom: .25rem; }}
.way-sketch img {{ width: 100%; height: 100%; image-rendering: pixelated; border-radius: .2rem; }}
.way-sketch img.square {{ width: 6rem; }}
.way-sketch span {{ display: inline-block; margin: .1rem; padding: 0 .35em; border-radius: .25rem; font-size: .8rem;
  border: 1px solid {CHOSEN}; }}
.way-sketch span.marked {{ background: {CHOSEN}; color: {ON_CHOSEN}; }}
</style>"""


def chips_sketch(labels: Sequence[str], marked: int | None = None) -> str:
    """The first tokens of a text; ``marked`` (from 0) is filled. All text is escaped."""
    chips = (
        f"<span{' class=marked' if place == marked else ''}>{html.escape(visible(label, _LETTERS))}</span>"
        for place, label in enumerate(labels[:_CHIPS])
    )
    return _sketch("".join(chips))


def cells_sketch(values: ArrayLike) -> str:
    """A matrix as cells: blue above zero, orange below, stronger the farther from it.

    Raises ValueError for anything but a matrix of finite numbers.
    """
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2 or array.size == 0 or not np.isfinite(array).all():
        raise ValueError(f"cells_sketch: a matrix of finite numbers is wanted, not {array.shape}.")
    picture = np.zeros((*array.shape, 4), dtype=np.uint8)
    picture[array > 0, :3], picture[array <= 0, :3] = _ABOVE, _BELOW
    # A fourth channel instead of white: what is near zero looks like the page, in both themes.
    picture[..., 3] = np.rint(255 * np.abs(array) / (np.abs(array).max() or 1.0))
    packed = BytesIO()
    Image.fromarray(picture).save(packed, "png")
    kind = "square" if len(set(array.shape)) == 1 else "wide"
    return _sketch(f'<img class="{kind}" alt="" src="data:image/png;base64,{b64encode(packed.getvalue()).decode()}">')


def _sketch(inside: str) -> str:
    """Decoration beside its words: a screen reader passes it by."""
    return f'{_STYLE}<div class="way-sketch" aria-hidden="true">{inside}</div>'
