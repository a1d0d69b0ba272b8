"""The colours of all charts, for a light and a dark page.

Vega knows the colour of its page as its `background` signal, so one specification serves both themes:
`DARK` is a parameter that every specification carries, and `themed(light, dark)` picks in the browser.
The ramps take even steps of lightness (OKLCH) from the page's own colour to full strength: one hue for
[0, 1]; for signed values blue and orange, which also differ in grey and for colour-blind readers.
"""

DARK = {"name": "dark", "expr": "luminance(background) < 0.4"}

_SEQUENTIAL = (
    ("#f3f9ff", "#c6e0f9", "#98c5f6", "#6daaef", "#498de2", "#2f71cb", "#2357aa", "#1b3f85", "#13295f"),
    ("#1c222c", "#243756", "#2c4f7f", "#3268a7", "#3d84cb", "#52a0e7", "#7bbdf5", "#aad8fd", "#e0f1fe"),
)
_DIVERGING = (
    ("#9e4500", "#bd6e43", "#d39b7e", "#e6c7b8", "#f7f4f3", "#b7cae3", "#7c9fce", "#4175b6", "#004b96"),
    ("#feb079", "#cf854f", "#946341", "#5d4332", "#2a2522", "#364c5f", "#497599", "#5ca0d7", "#8ecbff"),
)
_LINES = (  # the colours of Okabe and Ito, darkened or lightened to be visible on the page
    ("#0060a0", "#56b4e9"),
    ("#c04f00", "#ff9e4a"),
    ("#00785a", "#2bc79c"),
    ("#a8477f", "#e79cc6"),
    ("#7a6400", "#e5cf3c"),
    ("#4c505e", "#c3c6cf"),
)


def themed(light: str, dark: str) -> dict[str, str]:
    """Return an expression for a colour: `light` on a light page, `dark` on a dark page."""
    return {"expr": f"dark ? '{dark}' : '{light}'"}


INK = themed("#16181d", "#ffffff")
SOFT_INK = themed("#4c505e", "#d5d7dd")
PAPER = themed("#ffffff", "#0e1117")
POSITIVE = themed("#2f71cb", "#52a0e7")
NEGATIVE = themed("#bd5a1c", "#e8925a")
# For drawings in HTML: the colour of a chosen part.
CHOSEN = "light-dark(#225fb3, #7fb0f5)"
# The colour of cells that do not exist. It is a flat colour, because Vega names a gradient by the page's address and
# loses the gradient when the address changes.
MASKED = "rgba(128, 132, 149, 0.3)"


def ramp(signed: bool) -> list[dict[str, str]]:
    """Return the nine themed colours of a scale, from the lowest value to the highest."""
    light, dark = _DIVERGING if signed else _SEQUENTIAL
    return [themed(*pair) for pair in zip(light, dark, strict=True)]


def lines() -> list[dict[str, str]]:
    """Return six colours, to tell series with names apart."""
    return [themed(*pair) for pair in _LINES]


def on_cell(value: str) -> dict[str, str]:
    """Return an expression for a readable text colour on a cell that is coloured by the expression `value`."""
    return {"expr": f"luminance(scale('color', {value})) > 0.2 ? '#111318' : '#ffffff'"}
