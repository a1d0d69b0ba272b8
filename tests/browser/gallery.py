"""A Streamlit script for the browser tests: the charts as a page would show them.

?n= tokens, &hostile=1 tokens that attack, &causal=1 a mask, &only=heatmap, bars …
"""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.charts.base.axes import Axis
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.tokens.token_chips import token_chips
from lab.figures.trace_axes import KEY, QUERY, WEIGHT
from tests.charts.samples import HOSTILE, every_figure, matrix, words

count = int(st.query_params.get("n", "6"))
labels = (HOSTILE * count)[:count] if "hostile" in st.query_params else words(count)
seed = st.number_input("Seed", value=0, key="seed")


@st.fragment
def clickable() -> None:
    """A heatmap whose chosen cell comes back as its outline, as the lessons do it."""
    axes, chosen = (Axis(QUERY, labels, 1), Axis(KEY, labels, 1)), st.session_state.get("chosen", (None, None))
    values, causal = matrix(count, seed=int(seed)), "causal" in st.query_params
    figure = heatmap(values, axes, WEIGHT, title="Attention weights", highlight=chosen, causal=causal).clickable()
    event = st.vega_lite_chart(
        figure.data,
        figure.spec,
        width=figure.width,
        alt=figure.alt,
        key="map",
        on_select="rerun",
        selection_mode="cell",
    )
    clicked = figure.clicked(event)
    st.text(f"clicked {clicked}")
    if clicked is not None and clicked != st.session_state.get("chosen"):
        st.session_state["chosen"] = clicked
        st.rerun(scope="fragment")


if st.query_params.get("only", "heatmap") == "heatmap":
    clickable()
else:
    for name, figure in every_figure(labels).items():
        st.vega_lite_chart(
            figure.data,
            figure.spec,
            width=figure.width,
            alt=figure.alt,
            key=name,
            on_select="rerun" if isinstance(figure, Heatmap) and "params" in figure.spec["layer"][0] else "ignore",
        )
    st.html(token_chips([(label, (place,), label) for place, label in enumerate(labels)]))
