"""A training curve as a picture that reads on light and dark pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

_WIDTH, _HEIGHT, _MARGIN = 640, 300, 48
_GREY = "#7a7f88"
_COLOURS = ("#8a8f98", "#2f71cb", "#c06a1c", "#3b8f5a")
_STEPS = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100)


def curve(
    title: str,
    series: Mapping[str, Sequence[tuple[float, float]]],
    x_label: str,
    *,
    low: float | None = None,
    high: float | None = None,
) -> str:
    """Return an SVG with one line per entry of ``series``, each a list of (x, y).

    ``x_label`` ends the horizontal axis and holds ``{}`` for its largest value: ``"{:.1f} million tokens"``.
    ``low`` and ``high`` cut the vertical axis; lines beyond them are clamped to its edge.
    """
    points = [point for line in series.values() for point in line]
    last = max(x for x, _ in points)
    bottom = min(y for _, y in points) if low is None else low
    top = max(y for _, y in points) if high is None else high

    def place(x: float, y: float) -> tuple[float, float]:
        clamped = min(max(y, bottom), top)
        return (
            _MARGIN + x / last * (_WIDTH - 2 * _MARGIN),
            _MARGIN / 2 + (top - clamped) / (top - bottom) * (_HEIGHT - 1.5 * _MARGIN),
        )

    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
        f"<title>{title}</title>",
    ]
    step = next((s for s in _STEPS if (top - bottom) / s <= 7), _STEPS[-1])
    for tick in range(int(bottom / step), int(top / step) + 1):
        if bottom <= (value := tick * step) <= top:
            y = place(0, value)[1]
            parts.append(f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y:.1f}" y2="{y:.1f}" stroke="{_GREY}44"/>')
            parts.append(_words(f"{value:g}", _MARGIN - 8, y + 4, _GREY, "end"))
    for order, (name, line) in enumerate(series.items()):
        placed = [place(x, y) for x, y in line]
        colour = _COLOURS[order % len(_COLOURS)]
        drawn = " ".join(f"{x:.1f},{y:.1f}" for x, y in placed)
        parts.append(f'<polyline points="{drawn}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(_words(name, _WIDTH - _MARGIN, _MARGIN / 2 + 8 + 16 * order, colour, "end"))
    parts += [
        _words(x_label.format(last), _WIDTH - _MARGIN, _HEIGHT - 12, _GREY, "end"),
        _words("0", _MARGIN, _HEIGHT - 12, _GREY, "start"),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _words(text: str, x: float, y: float, colour: str, anchor: str) -> str:
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-family="sans-serif" font-size="12" '
        f'fill="{colour}">{text}</text>'
    )
