"""The screens of the self-attention lesson, one function a step."""

from __future__ import annotations

from functools import partial
from typing import TypeVar

import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import heatmap
from lab.course.pages import step_name
from lab.figures import attention
from lab.figures.multi_head import unnamed_heads
from lab.lessons.self_attention import LESSON, checks, claims, meanings
from lab.models import forward
from lab.questions.question import MARGIN
from lab.toy.models import CONSTRUCTED, query_key_product
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import HEAD, STEP
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.predictions import predict
from lab.ui.shared import one_head
from lab.ui.shared.one_head import OneHead

F = TypeVar("F", bound=Figure)


def show_map(view: OneHead) -> None:
    """One row of a head, then the whole head: who attends to whom."""
    _explain(view)
    place = st.container()
    answered = predict(LESSON, checks.most_attended(view.trace, view.row, view.query))
    with place:
        one_head.show_sentence(view, covered=not answered)
    if not answered:
        return
    meaning(meanings.collected(view.trace, view.layer.index, view.head, view.query))
    st.markdown("**All rows together** are the map of this head: a row for each query, a column for each key.")
    one_head.show_map(view)
    if (other := _least_alike(view)) is not None:
        why = f"Head {other + 1} looks elsewhere: follow {view.token(view.query)} there."
        try_this(why, f"Head {other + 1}", {HEAD: other + 1})


def _least_alike(view: OneHead) -> int | None:
    """The head of the layer that gives the least to the token from which this head collects most."""
    best, heads = int(view.row.weights.argmax()), view.trace.model.config.heads
    given = [float(attention_map(view.layer, head)[view.query, best]) for head in range(heads)]
    least = min(range(heads), key=given.__getitem__)
    return None if least == view.head or given[view.head] - given[least] < MARGIN else least


def _explain(view: OneHead) -> None:
    """What attention is, before anything is asked about it."""
    config = view.trace.model.config
    window = view.layer.weights.window
    seen = "itself and the tokens before it" if config.causal else "all tokens, itself included"
    if window is not None:
        seen = f"the tokens up to {window} places away, itself included (this layer is **local**)"
    st.markdown(
        f"**Attention** lets each token collect from {seen}. It gives every one of them a **weight**; all weights of a "
        "token add up to 1. What is collected is mixed in these proportions. A token **attends** to another when it "
        "gives it much weight. A layer does this several times side by side, each time in a **head** of its own."
    )


def show_queries_and_keys(view: OneHead) -> None:
    """Where the numbers start: one vector per token becomes three."""
    config = view.trace.model.config
    st.markdown(
        f"Three matrices, $W_Q$, $W_K$ and $W_V$, make new vectors out of each token’s vector $x$ of {config.width} "
        f"numbers. Head {view.head + 1} gets {config.head_width} numbers of each: a **query** (what the token looks "
        "for), a **key** (what it offers) and a **value** (what it passes on)."
        + (" The learned vectors $b$ are added." if config.biases else "")
    )
    draw(view.figure(attention.query_key_value), "query-key-value")
    meaning(meanings.fits(view.trace, view.layer.index, view.head, view.query, view.key))
    st.latex(_projections(view))
    if view.layer.weights.rotary is not None:
        st.markdown(
            "$R$ **turns** the query and the key by the position of their token; the value stays as it is. Lesson 2 "
            "shows how, in its step **Rotary**."
        )
    if view.trace.model.id == CONSTRUCTED:
        _show_construction(view)
    code(forward.project_qkv, forward.split_heads)


def _projections(view: OneHead) -> str:
    """How x becomes query, key and value in this model."""
    turn = r"R\," if view.layer.weights.rotary is not None else ""
    biased = view.trace.model.config.biases
    rows = [
        rf"{name} & = {turn if name != 'V' else ''}xW_{name}" + (f" + b_{name}" if biased else "") for name in "QKV"
    ]
    return r"\begin{aligned} " + r" \\ ".join(rows) + r" \end{aligned}"


def _show_construction(view: OneHead) -> None:
    """Why a hand-written head does what it does: W_Q·W_Kᵀ, one number per pair of meanings."""
    product = query_key_product(view.trace.model, view.head)
    meant = [label for label in product.index if label.startswith(("token", "position"))]
    axes = Axis("In the query’s token", meant, 1), Axis("In the key’s token", meant, 1)
    title, values = f"What scores with what: W_Q·W_Kᵀ, {view.place}", product.loc[meant, meant].to_numpy()
    draw(heatmap(values, axes, Scale("Score", signed=True), title=title), "query-key-product")
    st.markdown(
        "Each dimension of this toy means one thing: which letter a token is, or at which position it stands (counted "
        "from 0). A strong colour is a large score: the query’s token has the meaning of the row, and the key’s token "
        "that of the column."
    )


def show_scale(view: OneHead) -> None:
    """÷ √d_k, and the mask."""
    row = view.row
    d_k = len(row.query)
    found = claims.sharper(view.trace, row, view.query)
    if not predict(LESSON, claims.without_scaling(found)):
        return
    st.markdown(
        f"A score adds up {d_k} products. Before training, these are like random numbers around 0, and their sum "
        f"spreads √{d_k} ≈ {d_k**0.5:.2f} times as wide as one of them. The wider the scores spread, the more softmax "
        f"gives to one key, and the harder it becomes for training to change the weights. That is what the authors "
        f"suspect (Vaswani et al. 2017, §3.2.1). So the scores are divided by √{d_k}."
    )
    st.markdown(_about_mask(view))
    draw(view.figure(attention.scaled_scores), "scaled-scores")
    if view.layer.weights.window is not None:
        draw(view.figure(attention.local_scores), "window")
    meaning(claims.what_it_means(found))
    there = step_name(LESSON, "break-it")
    try_this("Take the division away in every layer, and see how far the outputs move.", there, {STEP: there})
    code(forward.scale, forward.mask)


def _about_mask(view: OneHead) -> str:
    """What the mask hides in this layer from this query."""
    config, window, n = view.trace.model.config, view.layer.weights.window, len(view.trace)
    if config.causal:
        return (
            "Then comes the **attention mask**. It hides what comes after the query: the score becomes −∞ and the "
            "weight 0."
        )
    if window is not None:
        first, last = max(0, view.query - window), min(n - 1, view.query + window)
        hidden = n - 1 - last + first
        here = (
            f"From {view.token(view.query)}, token {view.query + 1}, it hides {hidden} of the {n} tokens: it sees "
            f"tokens {first + 1} to {last + 1}."
            if hidden
            else f"From {view.token(view.query)} it hides nothing: all {n} tokens are near enough."
        )
        return (
            f"Then comes the **attention mask**. This layer is **local**: a query sees only the {window} tokens "
            f"before it and the {window} after it. The score of any other becomes −∞ and its weight 0. {here}"
        )
    there = ""
    if config.window is not None:
        local = [str(i + 1) for i, w in enumerate(view.trace.model.weights.layers) if w.window is not None]
        there = (
            f" This layer is **global**; in the local layers of this model ({', '.join(local)}) the mask hides what is "
            f"more than {config.window} tokens away. Choose one in the sidebar."
        )
    return (
        "Then comes the **attention mask**, which is not the token [MASK]. It takes keys away: their score becomes −∞ "
        "and their weight 0. Here it takes none away: every token may see every other. It has work where a text is "
        f"filled up with padding; see **Break it**.{there}"
    )


def show_values(view: OneHead) -> None:
    """What the query collects: the weighted sum of the values."""
    st.markdown(
        f"Each value is multiplied by its weight, and the products are added up. The sum is what head "
        f"{view.head + 1} brings to {view.token(view.query)}: its **context**."
    )
    n = len(view.trace)
    if n > attention.ROWS:
        st.caption(f"The {attention.ROWS} heaviest of {n} rows are drawn; the context is the sum of all {n}.")
    draw(view.figure(attention.weighted_values), "weighted-values")
    meaning(meanings.brought(view.trace, view.layer.index, view.head, view.query))
    st.latex(r"\text{context}_i = \sum_j \text{weight}_{ij}\, v_j")
    config = view.trace.model.config
    st.markdown(
        f"On the way to the next layer, the contexts of all {config.heads} heads are laid side by side ({config.heads} "
        f"× {config.head_width} = {config.width} numbers), multiplied by a fourth matrix, $W_O$, which mixes "
        "the heads, and added to the token’s own vector."
    )
    code(forward.mix_values, forward.self_attention)


def show_checks(view: OneHead) -> None:
    """Questions graded on this text, this layer, this head."""
    trace, layer, head = view.trace, view.layer, view.head
    candidates = (
        checks.second_weight(trace, view.row, view.query),
        checks.most_attended_overall(trace, layer, head),
        checks.previous_token_head(trace, layer),
        checks.other_direction(trace, layer, head, view.query, view.key),
        checks.most_even(trace, layer, head),
    )
    map_of_head = partial(attention.attention_map, trace, layer.index, head)
    draw_checks(
        LESSON,
        candidates,
        of=view.place,
        figures={
            "most-attended-overall": map_of_head,
            "previous-token-head": partial(unnamed_heads, trace, layer.index),
            "other-direction": partial(map_of_head, view.query, view.key),
            "most-even": map_of_head,
        },
    )
