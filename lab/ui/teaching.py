"""The lab in front of a class, ``?teach=1``: larger type, answers behind buttons, steps by keyboard."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.ui.parameters import TEACH

if TYPE_CHECKING:
    from plotly.graph_objects import Figure as PlotlyFigure

# The factor by which type is larger for a class.
LARGER = 1.25

# Each row of steps and badges stays in one line and scrolls, as more lines would push the step itself down. The row has
# a relative position: otherwise the hidden label of a button, which is absolute, would make the whole page scroll
# sideways.
IN_ONE_LINE = """
.st-key-page_header .stHorizontalBlock { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: none; }
.st-key-page_header .stHorizontalBlock { position: relative; }
.st-key-page_header .stHorizontalBlock > * { flex: none; }
.st-key-step, .st-key-step .stButtonGroup { max-width: 100%; }
.st-key-step [role="radiogroup"] { flex-wrap: nowrap; overflow-x: auto; scrollbar-width: thin; }
.st-key-step [role="radio"] { flex: none; }
"""
# Streamlit measures in rem, that is, in the size of the page's own type (16 px by default). The page begins right below
# the bar of menus.
_STYLE = f"""<style>
html:root {{ font-size: {LARGER * 16:g}px; }}
.stAppHeader, [data-testid="stSidebarHeader"] {{ height: 2.25rem; min-height: 2.25rem; margin-bottom: 0; }}
.stMainBlockContainer {{ padding: 2.4rem 3rem 3rem; }}
@media (max-width: 40rem) {{ .stMainBlockContainer {{ padding-inline: 1rem; }} }}
.stMainBlockContainer > .stVerticalBlock {{ gap: 0.75rem; }}
.st-key-page_header h1 {{ font-size: 1.3rem; padding: 0.35rem 0; }}
.st-key-page_header {{ flex-wrap: nowrap; row-gap: 0.25rem; }}
.st-key-page_header > .stHorizontalBlock, .st-key-page_header > [data-testid="stLayoutWrapper"] {{ min-width: 0; }}
.st-key-page_header button {{ min-height: 2rem; padding-block: 0; }}
{IN_ONE_LINE}
</style>"""
# Sizes in pixels that a chart's specification states; all others follow the page's own type.
_SIZES = (
    "fontSize",
    "labelFontSize",
    "titleFontSize",
    "subtitleFontSize",
    "labelLimit",
    "minExtent",
    "maxExtent",
    "titlePadding",
)
# The keys that a presenter's remote control sends.
_BACK, _FORWARD = "PageUp", "PageDown"


def keys() -> tuple[str | None, str | None]:
    """Return the keys for the previous and the next step; no keys for a learner, who scrolls with them."""
    return (_BACK, _FORWARD) if TEACH.chosen() else (None, None)


def larger() -> None:
    """Draw the style sheet for a class; draw nothing for a learner."""
    if TEACH.chosen():
        st.html(_STYLE)


def larger_chart(spec: Any) -> Any:
    """Return a Vega-Lite specification with larger type for a class; unchanged for a learner."""
    return with_larger_type(spec, LARGER) if TEACH.chosen() else spec


def with_larger_type(part: Any, factor: float) -> Any:
    """Return a part of a Vega-Lite specification with its type ``factor`` times as large."""
    if isinstance(part, list):
        return [with_larger_type(each, factor) for each in part]
    if not isinstance(part, Mapping):
        return part
    return {
        name: value * factor if name in _SIZES and isinstance(value, int | float) else with_larger_type(value, factor)
        for name, value in part.items()
    }


def larger_plotly(figure: PlotlyFigure) -> PlotlyFigure:
    """Return a figure of Plotly's with its type enlarged for a class; words without a stated size have 12 pixels."""
    if not TEACH.chosen():
        return figure
    larger = type(figure)(figure)
    larger.update_layout(font_size=(figure.layout.font.size or 12) * LARGER)
    for axis in larger.select_polars():
        for each in (axis.angularaxis, axis.radialaxis):
            if each.tickfont.size:
                each.tickfont.size *= LARGER
    return larger


def show() -> None:
    """Say in the sidebar that a class is taught, and offer to end teaching; draw nothing for a learner."""
    if not TEACH.chosen():
        return
    with st.container(border=True):
        st.markdown(
            f":material/co_present: **Teaching.** Answers wait for Reveal. {_BACK} and {_FORWARD} go from step to step."
        )
        st.button("Leave", key="_leave_teaching", type="tertiary", on_click=turn, args=(0,))


def turn(on: int) -> None:
    """Begin (1) or end (0) teaching; the link of every page follows."""
    TEACH.set(on)
