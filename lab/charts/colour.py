"""Colours of the charts, chosen once, for a light and a dark page.

Vega knows the page it stands on as its `background` signal, so one specification serves both themes:
`DARK` is a parameter that every specification carries, and `themed(light, dark)` picks in the browser.
The ramps have equal steps of lightness (OKLCH) from the page's own colour to full strength, one hue for
[0, 1], blue and orange either side of zero: safe for the common colour deficiencies, readable in grey.
"""

from typing import Any

DARK = {"name": "dark", "expr": "luminance(background) < 0.4"}

_SEQUENTIAL = (
    ("#f3f9ff", "#c6e0f9", "#98c5f6", "#6daaef", "#498de2", "#2f71cb", "#2357aa", "#1b3f85", "#13295f"),
    ("#1c222c", "#243756", "#2c4f7f", "#3268a7", "#3d84cb", "#52a0e7", "#7bbdf5", "#aad8fd", "#e0f1fe"),
)
_DIVERGING = (
    ("#9e4500", "#bd6e43", "#d39b7e", "#e6c7b8", "#f7f4f3", "#b7cae3", "#7c9fce", "#4175b6", "#004b96"),
    ("#feb079", "#cf854f", "#946341", "#5d4332", "#2a2522", "#364c5f", "#497599", "#5ca0d7", "#8ecbff"),
)


def themed(light: str, dark: str) -> dict[str, str]:
    """An expression for a colour: `light` on a light page, `dark` on a dark one."""
    return {"expr": f"dark ? '{dark}' : '{light}'"}


INK = themed("#31333f", "#fafafa")
PAPER = themed("#ffffff", "#0e1117")
POSITIVE = themed("#2f71cb", "#52a0e7")
NEGATIVE = themed("#bd5a1c", "#e8925a")
FADED = themed("#a9c3e6", "#35557d")
MASKED = "rgba(128, 132, 149, 0.28)"


def ramp(scale: str) -> list[dict[str, str]]:
    """The colour range of `"sequential"` or `"diverging"` values, nine themed stops, low to high."""
    light, dark = _SEQUENTIAL if scale == "sequential" else _DIVERGING
    return [themed(*pair) for pair in zip(light, dark, strict=True)]


def on_cell(value: str) -> dict[str, Any]:
    """An expression for the text colour that stands out on the cell filled for the expression `value`."""
    return {"expr": f"luminance(scale('color', {value})) > 0.22 ? '#111318' : '#ffffff'"}
