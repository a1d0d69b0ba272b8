"""Elements of SVG as text, every attribute and text escaped."""

from __future__ import annotations

from html import escape

from lab.charts.base.axes import visible


def element(tag: str, *children: str, **attributes: str | float) -> str:
    """Return an element; ``children`` are elements or escaped text. An underscore in a name is written as a hyphen."""
    named = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_short(value))}"' for name, value in attributes.items()
    )
    return f"<{tag}{named}>{''.join(children)}</{tag}>"


def text(words: str, x: float, y: float, **attributes: str | float) -> str:
    """Return a line of text; ``words`` may be any text."""
    return element("text", escape(visible(words, None)), x=x, y=y, direction="ltr", **attributes)


def tooltip(told: str) -> str:
    """Return what a browser shows when somebody points at an element; ``told`` may be any text."""
    return element("title", escape("\n".join(visible(line, None) for line in told.split("\n"))))


def picture(width: float, height: float, alt: str, *children: str, least: int) -> str:
    """Return a picture of this size in pixels; a narrow page shows it smaller, or scrolls below ``least`` pixels."""
    drawn = element(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_short(width)} {_short(height)}",
        width=width,
        style=f"max-width: 100%; min-width: {least}px; height: auto",
        role="img",
        aria_label=visible(alt, None),
    )
    return f'<div class="picture" tabindex="0">{drawn}</div>'


def _short(value: str | float) -> str:
    return value if isinstance(value, str) else f"{value:.5g}"
