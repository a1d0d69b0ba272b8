"""The screens of the self-attention lesson, one function a step."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeVar

import pandas as pd
import streamlit as st

from lab.analysis.attention import AttentionRow, attention_map, attention_row
from lab.charts.figure import Figure
from lab.charts.heatmap import heatmap
from lab.course import attention_checks as ask
from lab.course.checks import Question
from lab.course.words import in_tex, quoted
from lab.figures import attention as figures
from lab.figures.multi_head import unnamed_heads
from lab.models import forward
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.toy.models import CONSTRUCTED, HEAD_RULES, query_key_product
from lab.ui.figures import code, draw
from lab.ui.lesson import LessonPage
from lab.ui.parameters import DEFAULTS, TOY
from lab.ui.quiz import checks, predict

_LESSON = "self-attention"
_SHARED_OUT = 5  # of lab-bert
F = TypeVar("F", bound=Figure)


@dataclass(frozen=True)
class View:
    """What the learner looks at: one head of one layer, one query, one key. All counted from 0."""

    page: LessonPage
    trace: Trace
    layer: LayerTrace
    head: int
    query: int
    key: int

    @property
    def row(self) -> AttentionRow:
        return attention_row(self.layer, self.head, self.query)

    @property
    def place(self) -> str:
        """Where we are, for chart titles; with the index a notebook would use."""
        return figures.place(self.layer.index, self.head)

    def choose(self, question: Question | None = None) -> bool:
        """The selectors of query and key, and between them a question; False while it waits."""
        return choose_tokens(self.trace, self.query, self.key, question)

    def figure(self, of: Callable[[Trace, int, int, int, int], F]) -> partial[F]:
        """The figure ``of`` what the learner looks at."""
        return partial(of, self.trace, self.layer.index, self.head, self.query, self.key)

    def token(self, position: int) -> str:
        return quoted(self.trace.labels[position])


def first_head(page: LessonPage) -> int:
    """The head to begin with, from 1: in the default model one whose rows are shared out, so there is much to weigh."""
    chosen = page.selection
    return _SHARED_OUT if chosen.mode != TOY and chosen.model == DEFAULTS.model else 1


def choose_tokens(trace: Trace, query: int, key: int, question: Question | None = None) -> bool:
    """Two selectors for query and key; the keyboard's way to what a click on the map does.

    A ``question`` about the query is asked between them: the chosen key could be its answer. Returns whether it is
    answered.
    """
    left, right = st.columns(2)
    with left:
        choose_token(trace, "token", "Query: the token that attends", query)
    if question is not None and not predict(_LESSON, question):
        return False
    with right:
        choose_token(trace, "key_token", "Key: the token attended to", key)
    return True


def choose_token(trace: Trace, name: str, label: str, chosen: int) -> None:
    """A selector of one token; ``name`` is the field of the selection that it sets."""

    def take() -> None:
        st.session_state[name] = st.session_state[f"_{name}"] + 1

    st.session_state[f"_{name}"] = chosen
    st.selectbox(
        label, range(len(trace)), key=f"_{name}", on_change=take, format_func=lambda i: f"{i + 1} · {trace.labels[i]}"
    )


def draw_map(view: View, traced: Trace, title: str, key: str, *, clickable: bool = False) -> tuple[int, int] | None:
    """One head's map, or the part of it around the chosen pair; returns the pair clicked."""
    call = partial(
        figures.attention_map, traced, view.layer.index, view.head, view.query, view.key, title, clickable=clickable
    )
    rows, columns = figures.shown(traced, view.query, view.key)
    figure = call()
    clicked = figure.clicked(draw(figure, key, clickable=clickable, call=call))
    n = len(traced)
    if rows != slice(0, n):
        st.caption(
            f"The map is {n} × {n}. Drawn are queries {rows.start + 1} to {rows.stop} and keys {columns.start + 1} to "
            f"{columns.stop}, around the chosen pair."
        )
    return None if clicked is None else (clicked[0] + rows.start, clicked[1] + columns.start)


def show_map(view: View, question_first: bool = True) -> None:
    """The whole head: who attends to whom."""
    if question_first:
        _explain(view)
    question = ask.most_attended(view.trace, view.row, view.query)
    if question_first and not view.choose(question):
        return
    clicked = draw_map(view, view.trace, f"Attention weights, {view.place}", "attention-map", clickable=True)
    if clicked is not None and clicked != st.session_state.get("_clicked"):
        st.session_state["_clicked"] = clicked
        st.session_state["token"], st.session_state["key_token"] = clicked[0] + 1, clicked[1] + 1
        st.rerun()
    weight = view.row.weights[view.key]
    if view.trace.model.id == CONSTRUCTED:
        st.markdown(f"Head {view.head + 1} was written by hand, to {HEAD_RULES[view.head]}.")
    st.markdown(
        f"{view.token(view.query)} gives {view.token(view.key)} the weight **{weight:.3f}**. Every row adds up to 1. "
        f"Click a cell to choose another pair. In Python this map is "
        f"`trace.layer({view.layer.index}).attention[{view.head}]`."
    )


def _explain(view: View) -> None:
    """What attention is, before anything is asked about it."""
    config = view.trace.model.config
    seen = "itself and the tokens before it" if config.causal else "all tokens, itself included"
    st.markdown(
        f"**Attention** lets each token collect from {seen}. It gives every one of them a **weight**; all weights of a "
        "token add up to 1. What is collected is mixed in these proportions. A token **attends** to another when it "
        "gives "
        "it much weight. A layer does this several times side by side, each time in a **head** of its own."
    )


def show_queries_and_keys(view: View) -> None:
    """Where the numbers start: one vector per token becomes three."""
    view.choose()
    config = view.trace.model.config
    st.markdown(
        f"Each token’s vector of {config.width} numbers is multiplied by three matrices. Head {view.head + 1} "
        f"gets {config.head_width} of the results each time: a **query**, what the token looks for, a **key**, what "
        f"it offers, and a **value**, what it passes on."
    )
    draw(view.figure(figures.query_key_value), "query-key-value")
    st.latex(r"\begin{aligned} Q & = xW_Q + b_Q \\ K & = xW_K + b_K \\ V & = xW_V + b_V \end{aligned}")
    if view.trace.model.id == CONSTRUCTED:
        _show_construction(view)
    code(forward.project_qkv, forward.split_heads)


def _show_construction(view: View) -> None:
    """Why a hand-written head does what it does: W_Q·W_Kᵀ, one number per pair of meanings."""
    product = query_key_product(view.trace.model, view.head)
    meant = [label for label in product.index if label.startswith(("token", "position"))]
    draw(
        heatmap(
            product.loc[meant, meant].to_numpy(), meant, meant, title=f"What scores with what: W_Q·W_Kᵀ, {view.place}",
            row_title="In the query’s token", column_title="In the key’s token", value_title="Score", scale="diverging",
        ),
        "query-key-product",
    )  # fmt: skip
    st.markdown(
        "Each dimension of this toy means one thing: which letter a token is, or at which position it stands (counted "
        "from 0). A strong colour is a large score: the query’s token has the meaning of the row, and the key’s token "
        "that "
        "of the column."
    )


def show_scores(view: View) -> None:
    """A score is a dot product: multiply dimension by dimension, add up."""
    view.choose()
    row, key = view.row, view.key
    st.markdown(
        f"Does the key of {view.token(key)} answer the query of {view.token(view.query)}? Multiply the two vectors "
        f"dimension by dimension and add up: the score is **{row.scores[key]:.3f}**."
    )
    draw(view.figure(figures.products), "products")
    draw(view.figure(figures.scores), "scores")
    st.latex(r"\text{score}_{ij} = q_i \cdot k_j = \sum_{m=1}^{d_k} q_{im}\,k_{jm}")
    code(forward.attention_scores)


def show_scale(view: View) -> None:
    """÷ √d_k, and the mask."""
    row = view.row
    d_k = len(row.query)
    question = ask.without_scaling(view.trace, row, view.query)
    if not view.choose(question):
        return
    st.markdown(
        f"A score adds up {d_k} products, and a sum of many products spreads widely. {d_k} independent products add "
        "up to "
        f"a sum that spreads √{d_k} ≈ {d_k**0.5:.2f} times as wide as one of them. Dividing by √{d_k} brings that "
        "back. "
        + (
            "This model then masks what comes after the query: the score becomes −∞ and the weight 0."
            if view.trace.model.config.causal
            else "Then comes the mask. It hides nothing here: every token may see every other. It has work where a "
            "text "
            "is filled up with padding; see **Break it**."
        )
    )
    draw(partial(view.figure(figures.scores), scaled=True), "scaled-scores")
    code(forward.scale, forward.mask)


def show_softmax(view: View) -> None:
    """The weights, written out."""
    view.choose()
    row, key = view.row, view.key
    table = pd.DataFrame(
        {
            "key": view.trace.labels,
            "scaled score s": row.scaled,
            "e^s": row.exponentials,
            "weight": row.weights,
            "weight on the map": attention_map(view.layer, view.head)[view.query],
        },
        index=range(1, len(view.trace) + 1),
    )
    st.markdown(f"The softmax turns the scaled scores of {view.token(view.query)} into shares of 1.")
    st.latex(
        rf"\text{{weight}} = \frac{{e^{{{row.scaled[key]:.3f}}}}}{{\sum_j e^{{s_j}}}} = "
        rf"\frac{{{in_tex(row.exponentials[key], 4)}}}{{{in_tex(row.total, 4)}}} = {row.weights[key]:.4f}"
    )
    st.dataframe(table, column_config={c: st.column_config.NumberColumn(format="%.4f") for c in table.columns[1:]})
    st.markdown(
        f"The weights add up to {row.weights.sum():.4f}. The last column has the weights of the map: they are what "
        "this "
        "table computes."
    )
    code(forward.attend)


def show_values(view: View) -> None:
    """What the query takes home: the weighted sum of the values."""
    view.choose()
    st.markdown(
        f"Each value is multiplied by its weight, and the products are added up. The sum is what head "
        f"{view.head + 1} brings to {view.token(view.query)}: its **context**."
    )
    n = len(view.trace)
    if n > figures.ROWS:
        st.caption(f"The {figures.ROWS} heaviest of {n} rows are drawn; the context is the sum of all {n}.")
    draw(view.figure(figures.weighted_values), "weighted-values")
    st.latex(r"\text{context}_i = \sum_j \text{weight}_{ij}\, v_j")
    config = view.trace.model.config
    st.markdown(
        f"On the way to the next layer, the contexts of all {config.heads} heads are laid side by side "
        f"({config.heads} × {config.head_width} = {config.width} numbers), multiplied by $W_O$, and added to the "
        "token’s own vector."
    )
    code(forward.mix_values, forward.self_attention)


def show_checks(view: View) -> None:
    """Questions graded on this text, this layer, this head."""
    trace, layer, head = view.trace, view.layer, view.head
    candidates = (
        ask.second_weight(trace, view.row, view.query),
        ask.most_attended_overall(trace, layer, head),
        ask.previous_token_head(trace, layer),
        ask.other_direction(trace, layer, head, view.query, view.key),
        ask.most_even(trace, layer, head),
    )
    map_of_head = partial(figures.attention_map, trace, layer.index, head)
    checks(
        _LESSON,
        candidates,
        of=view.place,
        figures={
            "most-attended-overall": map_of_head,
            "previous-token-head": partial(unnamed_heads, trace, layer.index),
            "other-direction": partial(map_of_head, view.query, view.key),
            "most-even": map_of_head,
        },
    )
