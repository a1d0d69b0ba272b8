"""The screens of the multi-head lesson about one layer: its heads side by side, and what they add up to."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.comparing import HeadSum
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.words.masking import asked_run
from lab.course.heads import resting_place
from lab.course.parking import most_parked_layer
from lab.course.words import named
from lab.figures import multi_head
from lab.figures.multi_head import head_labels
from lab.lessons.multi_head_attention import LESSON, checks, meanings, what_if
from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.interventions import Interventions
from lab.questions.question import Question
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this
from lab.ui.parameters import LAYER, MODE, TOKEN, TOY
from lab.ui.quiz.asking import draw_checks
from lab.ui.shared.one_head import OneHead, show_map
from lab.ui.shared.prediction import cannot_predict
from lab.ui.tables import show_table

MAPS = "head-maps"


def _added(view: OneHead) -> HeadSum:
    return comparing.head_sum(view.layer)


def show_all(view: OneHead) -> None:
    """Every head of the layer on one scale; a click enlarges one."""
    config = view.trace.model.config
    st.markdown(
        "A layer attends several times side by side. Each time is a **head**, with its own queries, keys and values of "
        f"{config.head_width} numbers. This layer has {config.heads}."
        if config.heads > 1
        else "This layer attends once: it has a single **head**."
    )
    draw_all(view)
    meaning(meanings.side_by_side(view.trace, view.layer.index, view.query))
    _try_a_layer(view)
    st.header(f"Head {view.head + 1}, enlarged")
    show_map(view)
    code(forward.split_heads, forward.project_qkv)


def _try_a_layer(view: OneHead) -> None:
    """The layer whose heads park most."""
    most = most_parked_layer(view.trace)
    if most != view.layer.index:
        try_this(
            f"In layer {most + 1}, the words give most attention to {resting_place(view.trace)}. What do its maps look "
            "like?",
            f"Open layer {most + 1}",
            {LAYER: most + 1},
        )


def draw_all(view: OneHead) -> None:
    n, shown = len(view.trace), (view.trace, view.layer.index, view.head, view.query)
    draw(partial(multi_head.all_heads, *shown), MAPS, clickable=True)
    block = comparing.block_size(n, multi_head.CELLS)
    if block > 1:
        st.caption(f"{n} tokens: each cell is the largest weight of a block of {block} × {block}.")
    st.markdown(
        f"Queries down, keys across; the row of {view.token(view.query)} is framed. The words below a head’s number "
        "say what it does in this text, and “mixed” where that is not clear. Click a map, or choose the head in the "
        "sidebar."
    )
    with st.expander("What the names mean", icon=":material/label:"):
        st.markdown(
            "A head is named after what it does in this text alone, and only where that is clear: it must do it much "
            "more than a head that gives all tokens the same weight, and more than any head of such a model before "
            "training. All others are called **mixed**. The rule and the scores come in lesson 6, “Named patterns”."
        )
        st.markdown("\n".join(f"- **{p.name}**: {p.reading}" for p in PATTERNS if p.id != "broad"))


def show_concat(view: OneHead) -> None:
    """What the heads bring, side by side: none has met another yet."""
    config, token = view.trace.model.config, view.query
    d, d_k = config.width, config.head_width
    st.markdown(
        f"Each head brings {d_k} numbers to {view.token(token)}. Laid side by side, {config.heads} × {d_k} = {d} "
        f"numbers are the **concatenation**: head 1 fills dimensions 1 to {d_k}"
        + (f", head {config.heads} dimensions {d - d_k + 1} to {d}." if config.heads > 1 else ".")
    )
    draw(partial(multi_head.concatenation, view.trace, view.layer.index, token), "concatenation")
    st.markdown("Below the concatenation, each strip keeps one head alone, in its place.")
    meaning(meanings.put_together(view.trace, view.layer.index, token))
    code(forward.merge_heads)


def _show_formula(config: ModelConfig) -> None:
    """The product with W_O as a sum over heads."""
    d, d_k = config.width, config.head_width
    bias = " + b_O" if config.biases else ""
    st.latex(
        rf"\text{{Concat}}(\text{{head}}_1, \dots, \text{{head}}_H)\,W_O{bias} = "
        rf"\sum_{{h=1}}^{{H}} \text{{head}}_h\,W_O^{{(h)}}{bias}"
    )
    st.markdown(
        f"$W_O$ is {d} × {d}. Head h meets only its own {d_k} rows, $W_O^{{(h)}}$ ({d_k} × {d}): a concatenation "
        "times a matrix is a sum with one term for each head. So the heads meet in this sum, and only there."
        + (f" $b_O$ is a vector of {d} numbers that training has set, the same for every token." if bias else "")
    )


def _show_one_number(view: OneHead) -> None:
    """One dimension of the attention output, head by head."""
    added, token = _added(view), view.query
    dimension = int(np.abs(added.parts[view.head, token]).argmax())
    shares = added.parts[:, token, dimension]
    biases = {"bias b_O": float(added.bias[dimension])} if view.trace.model.config.biases else {}
    output = float(added.output[token, dimension])
    context = view.layer.context[view.head, token]
    column = view.layer.weights.w_o.unflatten(0, (len(shares), -1))[view.head, :, dimension]
    # Not the first products: in a toy's sparse matrix they are zeros.
    largest = np.argsort(-np.abs((context * column).numpy()), kind="stable")[:2]
    terms = " + ".join(f"({float(context[i]):.3f})({float(column[i]):.3f})" for i in largest)
    more = r" + \dots" if len(context) > 2 else ""
    st.markdown(
        f"**By hand.** Look at dimension {dimension + 1} of the attention output of {view.token(token)}: of all "
        f"dimensions, head {view.head + 1} changes this one most. Each product is a number that the head brings times "
        "one of $W_O$. The two largest come first:"
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


def show_sum(view: OneHead) -> None:
    """Through W_O: one number worked out, then the proof for all of them."""
    config, added, token = view.trace.model.config, _added(view), view.query
    _show_formula(config)
    _show_one_number(view)
    st.markdown(
        f"The same for all {added.parts.shape[-1]} dimensions of {view.token(token)}: each head through its slice of "
        f"$W_O$,{' the bias,' if config.biases else ''} their sum, and the layer’s own attention "
        "output."
    )
    draw(partial(multi_head.heads_add_up, view.trace, view.layer.index, token), "heads-add-up")
    left, right = st.columns(2)
    over = "Over all tokens and dimensions of this layer."
    told = f"{over} Both are computed in float32, in a different order, and rounded differently."
    left.metric("Largest difference, sum − layer", f"{added.difference:.1e}", border=True, help=told)
    right.metric(
        "Largest value, all tokens", f"{added.largest:.3g}", border=True, help=f"{over} Its size, without sign."
    )
    meaning(meanings.added(view.trace, view.layer.index, token))
    _try_a_token(view)
    _show_on_the_way(view)
    code(forward.linear, comparing.head_parts, comparing.head_sum)


def _try_a_token(view: OneHead) -> None:
    """The token to which this layer's heads add the longest sum."""
    added = _added(view)
    most = int(np.linalg.norm(added.output, axis=-1).argmax())
    if most != view.query:
        try_this(
            f"This layer’s attention adds most to {named(view.trace, most)}. Which head does it?",
            f"Choose token {most + 1}",
            {TOKEN: most + 1},
        )


def _show_on_the_way(view: OneHead) -> None:
    config = view.trace.model.config
    d, d_ff = config.width, config.ffn_width
    shape = f"{len(view.trace)} × {d}"
    middle = (
        "is added to the residual stream; a copy goes through LayerNorm"
        if config.pre_norm
        else "is added to the vectors that came in, and the sum goes through LayerNorm"
    )
    st.markdown(
        f":material/arrow_downward: **On the way to the feed-forward network.** The attention output, {shape} numbers, "
        f"{middle} and on to the feed-forward network, which takes each token’s {d} numbers to {d_ff:,} and back."
    )


def show_checks(view: OneHead) -> None:
    """Questions on this text and this layer."""
    added, token = _added(view), view.query
    config, done = view.trace.model.config, _by_doing(view)
    draw_checks(
        LESSON,
        (
            *done[:2],
            what_if.why_several(config),
            checks.missing_share(view.trace, added, view.head, token),
            what_if.together(view.trace, added, token),
            *done[2:],
            what_if.after_w_o(config, view.head),
            checks.whose_dimension(view.trace),
            checks.parameters(config, checks.other_cut(config)),
        ),
        most=4,
    )


def _by_doing(view: OneHead) -> tuple[Question | None, ...]:
    """What would happen if, and another sentence: not for letters, and only where the model predicts words."""
    trace, layer, head = view.trace, view.layer.index, view.head
    if view.page.selection[MODE] == TOY:
        return ()
    run = partial(runs.run, trace.model.id, pair="", changes=Interventions())
    other = what_if.elsewhere(trace, run, layer, head)
    asked = None if cannot_predict(trace.model) else asked_run(trace)
    if asked is None:
        return (other,)
    return (what_if.change_of_log(*asked, layer, head), other, what_if.both_off(*asked, layer, head))
