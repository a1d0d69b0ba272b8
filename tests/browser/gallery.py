"""A Streamlit script for the browser tests: the charts as a page would show them.

?n= tokens, &hostile=1 tokens that attack, &causal=1 a mask, &only=heatmap, bars …
"""

import sys
from pathlib import Path

import streamlit as st

sys.path.insert(0, str(Path(__file__).parents[2]))

from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.tokens.chips import token_chips
from tests.charts.samples import HOSTILE, every_figure, matrix, words

count = int(st.query_params.get("n", "6"))
labels = (HOSTILE * count)[:count] if "hostile" in st.query_params else words(count)
seed = st.number_input("Seed", value=0, key="seed")


@st.fragment
def clickable() -> None:
    """A heatmap whose chosen cell comes back as its outline, as the lessons do it."""
    figure = heatmap(
        matrix(count, seed=int(seed)), labels, labels, title="Attention weights", row_title="Query (attends)",
        column_title="Key (attended to)", value_title="Weight", domain=(0, 1), select="cell",
        highlight=st.session_state.get("chosen"), causal="causal" in st.query_params,
    )  # fmt: skip
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
            figure.data, figure.spec, width=figure.width, alt=figure.alt, key=name,
            on_select="rerun" if isinstance(figure, Heatmap) and "params" in figure.spec["layer"][0] else "ignore",
        )  # fmt: skip
    st.html(token_chips([(label, (place,), label) for place, label in enumerate(labels)], chosen=0))
