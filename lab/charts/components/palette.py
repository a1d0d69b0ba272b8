"""Sixteen colours for a layer's heads, used by all figures that tell heads apart by colour."""

from collections.abc import Sequence

# The eight categorical colours of .streamlit/config.toml and eight more. Any two colours differ by at least 0.13 in
# OKLab, and each colour has a contrast of at least 3:1 with the page; a test measures difference and contrast. A head's
# number is always beside its colour, because no set of sixteen colours can be told apart by every eye.
LIGHT = (
    "#0439a1",
    "#cf6401",
    "#08996a",
    "#c978b7",
    "#6d5401",
    "#7960d7",
    "#206b7f",
    "#393d45",
    "#9c1e90",
    "#129cd8",
    "#5a0c78",
    "#72061e",
    "#906072",
    "#9c9600",
    "#ae1e00",
    "#d8366c",
)
DARK = (
    "#1193f4",
    "#d64119",
    "#2f8669",
    "#d790a8",
    "#fbca34",
    "#7a61ac",
    "#79c7fe",
    "#e4e8ef",
    "#36ea84",
    "#d88a00",
    "#b478fc",
    "#b41e78",
    "#845a00",
    "#48a800",
    "#84ae90",
    "#fcaefc",
)


def head_colours(count: int) -> dict[str, Sequence[str]]:
    """Return a colour for each of ``count`` heads, on light and on dark pages.

    After sixteen heads the colours repeat.
    """
    return {
        "light": [LIGHT[head % len(LIGHT)] for head in range(count)],
        "dark": [DARK[head % len(DARK)] for head in range(count)],
    }
