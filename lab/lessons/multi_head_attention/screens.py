"""The screens of the multi-head lesson about one layer: its heads side by side, and their sum."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.ablation import head_off
from lab.analysis.heads.comparing import HeadSum
from lab.course.words import head_name, named
from lab.figures import multi_head
from lab.figures.multi_head import head_labels
from lab.lessons.multi_head_attention import LESSON, checks, meanings, what_if
from lab.models import forward
from lab.models.config import ModelConfig
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import HEAD, LAYER, TOKEN
from lab.ui.quiz.asking import draw_checks
from lab.ui.quiz.predictions import predict
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

MAPS = "head-maps"
_MUCH = 0.2  # a weight that is worth a look


def _added(view: OneHead) -> HeadSum:
    return comparing.head_sum(view.layer)


def show_all(view: OneHead) -> None:
    """Draw every head of the layer on one scale; a click chooses a head."""
    count = view.trace.model.config.heads
    say(
        f"Lesson 3 followed one head. This layer has {count}, each with queries, keys and values of its own. Do they "
        "all look at the same word?"
        if count > 1
        else "This layer has only one head."
    )
    if not predict(LESSON, checks.who_agrees(view.trace, view.layer, view.head, view.query)):
        return
    draw_all(view)
    meaning(meanings.side_by_side(view.trace, view.layer.index, view.head, view.query))
    _try_elsewhere(view)
    code(forward.split_heads, forward.project_qkv)


def _try_elsewhere(view: OneHead) -> None:
    """Offer the head of another layer that gives the largest weight to the same word."""
    layer, head, weight = comparing.strongest_elsewhere(view.trace, view.layer.index, view.head, view.query)
    if weight < _MUCH:
        return
    key = view.token(comparing.favourite(view.layer, view.head, view.query))
    why = (
        f"{head_name((layer, head))} also looks from {view.token(view.query)} at {key} ({weight:.2f}). See that layer."
    )
    try_this(why, head_name((layer, head)).capitalize(), {LAYER: layer + 1, HEAD: head + 1})


def draw_all(view: OneHead) -> None:
    n, shown = len(view.trace), (view.trace, view.layer.index, view.head, view.query)
    draw(partial(multi_head.all_heads, *shown), MAPS, clickable=True)
    block = comparing.block_size(n, multi_head.CELLS)
    if block > 1:
        st.caption(f"{n} tokens: each cell is the largest weight of a block of {block} × {block}.")
    st.caption(
        f"Each map is a head. The row of {view.token(view.query)} is framed, and the arrow names the token at which it "
        "looks most. Click a map to choose its head, or a word to look from."
    )


def show_sum(view: OneHead) -> None:
    """Draw the vector that each head adds to a token, and their sum."""
    config, added, token = view.trace.model.config, _added(view), view.query
    say(
        f"Lesson 3 ended with the context of one head for {view.token(token)}. The layer makes a vector of "
        f"{config.width} numbers out of the context of each head, with a table of learned numbers, the matrix $W_O$. "
        f"Then it adds these vectors up{', with one more learned vector, the bias' if config.biases else ''}. Their "
        f"sum "
        "is added to the vector that the token had before."
    )
    draw(partial(multi_head.heads_add_up, view.trace, view.layer.index, token), "heads-add-up")
    st.caption(
        f"The sum of the heads equals the layer’s own output: the numbers are as large as {added.largest:.3g} and "
        f"differ by at most {added.difference:.1e}."
    )
    meaning(meanings.added(view.trace, view.layer.index, token))
    _try_a_token(view)
    with st.expander("Where do these vectors come from?", on_change="rerun", key="_joined") as joined:
        if joined.open:
            _show_concat(view)
            _show_formula(config)
            _show_one_number(view)
    code(forward.merge_heads, forward.linear, comparing.head_parts, comparing.head_sum)


def _show_concat(view: OneHead) -> None:
    """Draw the contexts of the heads side by side, before they are mixed."""
    config, token = view.trace.model.config, view.query
    d, d_k = config.width, config.head_width
    say(
        f"Each head brings {d_k} numbers to {view.token(token)}. Laid side by side, these {config.heads} × {d_k} = {d} "
        "numbers are the **concatenation**. Each head has its own place in this row of numbers."
    )
    draw(partial(multi_head.concatenation, view.trace, view.layer.index, token), "concatenation")


def _show_formula(config: ModelConfig) -> None:
    """Show the product with W_O as a sum over heads."""
    d, d_k = config.width, config.head_width
    bias = " + b_O" if config.biases else ""
    st.latex(
        r"\begin{aligned} & \text{head}_h = \text{Attention}(Q_h, K_h, V_h) \\ "
        rf"& \text{{Concat}}(\text{{head}}_1, \dots, \text{{head}}_H)\,W_O{bias} \\ "
        rf"& = \sum_{{h=1}}^{{H}} \text{{head}}_h\,W_O^{{(h)}}{bias} \end{{aligned}}"
    )
    say(
        f"$W_O$ is {d} × {d}. The numbers of head h meet only their own {d_k} rows of it, $W_O^{{(h)}}$. So the "
        "product is a sum with one term for each head, and the heads meet only in this sum."
    )


def _show_one_number(view: OneHead) -> None:
    """Work out one dimension of the attention output, head by head."""
    added, token = _added(view), view.query
    dimension = int(np.abs(added.parts[view.head, token]).argmax())
    shares = added.parts[:, token, dimension]
    biases = {"bias b_O": float(added.bias[dimension])} if view.trace.model.config.biases else {}
    output = float(added.output[token, dimension])
    context = view.layer.context[view.head, token]
    column = view.layer.weights.w_o.unflatten(0, (len(shares), -1))[view.head, :, dimension]
    # The largest products are listed, not the first, which are zeros in a toy's sparse matrix.
    largest = np.argsort(-np.abs((context * column).numpy()), kind="stable")[:2]
    terms = " + ".join(f"({float(context[i]):.3f})({float(column[i]):.3f})" for i in largest)
    more = r" + \dots" if len(context) > 2 else ""
    say(
        f"**One number by hand.** Head {view.head + 1} changes dimension {dimension + 1} of {view.token(token)} most. "
        "Each of its numbers is multiplied by one number of $W_O$. These are the two largest products:"
    )
    st.latex(rf"{terms}{more} = {shares[view.head]:.4f} \qquad \text{{({len(context)} products)}}")
    table = pd.DataFrame(
        {
            "part": [*head_labels(view.trace), *biases, "sum", "attention output of the layer"],
            f"dimension {dimension + 1}": [
                *shares.tolist(),
                *biases.values(),
                float(shares.sum()) + sum(biases.values()),
                output,
            ],
        }
    )
    show_table(table, formats={table.columns[1]: "%.4f"})


def _try_a_token(view: OneHead) -> None:
    """Offer the token to which this layer's heads add the longest sum."""
    added = _added(view)
    most = int(np.linalg.norm(added.output, axis=-1).argmax())
    if most != view.query:
        try_this(
            f"attention adds the longest vector to {named(view.trace, most)}. Which head gives it?",
            f"Choose token {most + 1}",
            {TOKEN: most + 1},
        )


def show_checks(view: OneHead) -> None:
    """Questions on this text and this layer."""
    moved = head_off(view.trace, view.layer.index, view.head, None).moved.mean(axis=1)
    candidates = (
        checks.first_moved(view.layer.index, view.head, moved),
        what_if.why_several(view.trace.model.config),
        what_if.together(view.trace, _added(view), view.query),
    )
    draw_checks(LESSON, candidates)
