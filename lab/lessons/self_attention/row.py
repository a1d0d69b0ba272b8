"""The step of the self-attention lesson in which one row is built from its parts, stage by stage."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import get_args

import streamlit as st

from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import heatmap
from lab.course.pages import bench_of
from lab.course.words import unmarked
from lab.figures import attention
from lab.lessons.self_attention import meanings
from lab.models import forward
from lab.toy.models import CONSTRUCTED, query_key_product
from lab.ui.components import mount
from lab.ui.drawing import code, draw
from lab.ui.frame.script import try_this, way_to
from lab.ui.parameters import TOKEN
from lab.ui.shared.one_head import OneHead


def show_built(view: OneHead) -> None:
    """Show the whole row, stage by stage."""
    st.markdown(
        f"How does {view.token(view.query)} decide? It makes a **query** from its vector: what it looks for. Every "
        "word makes a **key**, what it offers, and a **value**, what it passes on. To get one of their numbers, each "
        "number of the vector is multiplied by a learned number, and the products are added up. Four short "
        "computations follow. Go through these steps one by one, or press Play."
    )
    row = attention.row_built(view.trace, view.layer.index, view.head, view.query, view.key)
    said = meanings.of_stages(view.trace, view.layer.index, view.head, view.query)
    mount("row_built", replace(row, means=tuple(map(unmarked, said))).payload(), "row-built")
    sharpest = meanings.sharpest_word(view.trace, view.layer.index, view.head)
    if sharpest not in (None, view.query):
        why = f"{view.token(sharpest)} looks at one token more than any other word does. Build its row."
        try_this(why, f"Look from {view.trace.labels[sharpest]}", {TOKEN: sharpest + 1})
    _show_projections(view)
    way_to("On the bench", bench_of("neuron-view"))
    code(forward.project_qkv, forward.mix_values, forward.self_attention)


def _show_projections(view: OneHead) -> None:
    """Draw, folded, how queries, keys and values are made, and the maps of all tokens' vectors."""
    label = "Where do query, key and value come from?"
    with st.expander(label, icon=":material/grid_on:", on_change="rerun", key="_projections") as folded:
        if folded.open:
            _explain_projections(view)
            _draw_projections(view)
            _write_attention(view)


def _explain_projections(view: OneHead) -> None:
    """Show how the vector of each token becomes three vectors."""
    config = view.trace.model.config
    st.markdown(
        f"Three learned matrices, $W_Q$, $W_K$ and $W_V$, make three new vectors of each token’s vector $x$. Head "
        f"{view.head + 1} gets {config.head_width} of their {config.width} numbers."
        + (" The learned vectors $b$ are added." if config.biases else "")
    )
    st.latex(_projections(view))
    if view.layer.weights.rotary is not None:
        st.markdown(
            "$R$ **turns** the query and the key by the position of their token; the value stays as it is. Lesson 2 "
            "shows how, in its step **Rotary**."
        )
    if view.trace.model.id == CONSTRUCTED:
        _show_construction(view)


def _projections(view: OneHead) -> str:
    """Write the formulas that make query, key and value from x in this model."""
    turn = r"R\," if view.layer.weights.rotary is not None else ""
    biased = view.trace.model.config.biases
    rows = [
        rf"{name} & = {turn if name != 'V' else ''}xW_{name}" + (f" + b_{name}" if biased else "") for name in "QKV"
    ]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _write_attention(view: OneHead) -> None:
    """Write the head as one formula, with the mask if this layer has one."""
    masked = view.trace.model.config.causal or view.layer.weights.window is not None
    scores = r"\frac{QK^\top}{\sqrt{d_k}}" + r" + M" * masked
    st.markdown("The four computations of a head, for all tokens at once (Vaswani et al. 2017, eq. 1):")
    attended = rf"\text{{softmax}}\left({scores}\right) V"
    st.latex(rf"\begin{{aligned}} & \text{{Attention}}(Q, K, V) \\ & = {attended} \end{{aligned}}")  # fits a phone
    st.caption(
        "M is the mask: −∞ where a query must not look, otherwise 0. "
        * masked
        + "Without the division by √d_k, the scores could be so large that softmax hardly reacts to them (its gradient "
        "is nearly 0), and the model would learn slowly (§3.2.1)."
    )


def _show_construction(view: OneHead) -> None:
    """Explain a hand-written head by W_Q·W_Kᵀ, which has one number per pair of meanings."""
    product = query_key_product(view.trace.model, view.head)
    meant = [label for label in product.index if label.startswith(("token", "position"))]
    axes = Axis("In the query’s token", meant, 1), Axis("In the key’s token", meant, 1)
    title, values = f"Scores of meanings: W_Q·W_Kᵀ, {view.place}", product.loc[meant, meant].to_numpy()
    draw(heatmap(values, axes, Scale("Score", signed=True), title=title), "query-key-product")
    st.markdown(
        "Each dimension of this toy means one thing: a letter, or a position (counted from 0). A strong colour is a "
        "large score: the query’s token has the meaning of the row, and the key’s token has the meaning of the column."
    )


def _draw_projections(view: OneHead) -> None:
    """Draw the queries, keys and values of all tokens in this head."""
    width = view.trace.model.config.head_width
    count = attention.PROJECTED
    if width > count and st.toggle(f"All {width} dimensions of this head", key="_all_dimensions"):
        count = width
    for of in get_args(attention.Projection):
        where = (view.trace, view.layer.index, view.head, of, view.query, count)
        draw(partial(attention.projections, *where), f"projections-{of}")
    n, rows = len(view.trace), attention.PROJECTED_TOKENS
    if n > rows:
        st.caption(f"The maps show {rows} of {n} tokens, around the query.")
    st.markdown(f"Each row belongs to one token. A score is the query of {view.token(view.query)} times one key.")
