"""Order: the plan of a layer, with its matrices, and the two vectors that its halves add to a token."""

from __future__ import annotations

from functools import partial

import streamlit as st

from lab.analysis.heads.comparing import counted_parameters
from lab.analysis.layers.feed_forward import reached_tokens
from lab.analysis.layers.sublayers import stages
from lab.charts.base.figure import Figure
from lab.charts.marks.plan import Box, plan
from lab.course.words import named, told_apart
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.view import FeedForwardView, show_sentence
from lab.models import forward
from lab.models.config import ModelConfig
from lab.models.layer_trace import LayerTrace
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.kinds import which_holds
from lab.questions.question import Question
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.frame.header import idea
from lab.ui.parameters import LAYER
from lab.ui.terms import say

IDEA = """
Attention has brought something from the other tokens to each token. The second half of a layer, the **feed-forward
network**, then works on each token alone. Each half is called a **sublayer**, and its result is added to the token’s
vector. In which order does all this happen?"""


def matrices(layer: LayerTrace, config: ModelConfig) -> list[tuple[str, str, int]]:
    """List the parts of a layer: the name, its matrices or vectors with their shapes, and how many numbers they have.

    Letters are in LaTeX. A bias is counted with its matrix.
    """
    w = layer.weights
    width, inner = w.w_1.shape
    gate = () if w.w_gate is None else (w.w_gate,)
    first = "$W_1$, $W_g$" if gate else "$W_1$"
    biases = (w.b_1, w.b_2) if config.biases else ()
    attention, network = counted_parameters(layer, config), sum(each.numel() for each in (w.w_1, *gate, w.w_2, *biases))
    norm = (f"γ, β: {width:,} each", 2 * width) if biases else (f"γ: {width:,}", width)
    one = [("LayerNorm 1", *norm)] if w.norm_1 is not None else []
    half = "Self-attention", f"$W_Q$, $W_K$, $W_V$, $W_O$: {width:,} × {width:,} each", attention
    shapes = f"{first}: {width:,} × {inner:,}{' each' * bool(gate)}, $W_2$: {inner:,} × {width:,}"
    other, two = ("Feed-forward", shapes, network), ("LayerNorm 2", *norm)
    return [half, *one, other, two] if layer.attention_norm is not None else [*one, half, two, other]


def said(trace: Trace, layer: int, token: int) -> str:
    """Compare the lengths of the vectors that the two halves of a layer add to a token; say where its numbers are."""
    inside = trace.layer(layer)
    attention, network = (float(each[token].norm()) for each in (inside.attention_output, inside.ffn_output))
    alike = round(attention, 2) == round(network, 2)
    longer = "an equally long one" if alike else "a longer one" if network > attention else "a shorter one"
    counts = {name: count for name, _, count in matrices(inside, trace.model.config)}
    share = counts["Feed-forward"] / sum(counts.values())
    return (
        f"In layer {layer + 1}, attention adds a vector of length {attention:.2f} to {told_apart(trace, token)}, and "
        f"the feed-forward network adds {longer} ({network:.2f}). The network has {share:.0%} of the numbers that "
        "this layer has learned."
    )


@asks(
    "layer",
    "token",
    basis=derivable(LESSON, "order", "the network works on each token alone"),
    hint="Does a feed-forward network read one token or several?",
    returns=2,
)
def another_word(spot: Spot) -> Question | None:
    """Ask at which tokens activations change when the network reads another vector at one token.

    None for a text of fewer than three tokens, or if no activation changes, as in a silent layer.
    """
    trace, layer, token = spot.trace, spot.layer, spot.query
    reached, n = reached_tokens(trace, layer, token), len(trace)
    if n < 3 or not reached:
        return None
    why = (
        f"The lab has tried it: activations change at {len(reached)} of {n} tokens. The network reads each token "
        "alone. Only attention, which comes earlier, brings in other tokens."
    )
    outcomes = {
        "At this token alone": reached == (token,),
        "At all tokens": len(reached) == n,
        "At this token and at some others": token in reached and 1 < len(reached) < n,
    }
    prompt = (
        f"The feed-forward network of layer {layer + 1} gets a different input vector at {named(trace, token)}, while "
        "all other vectors stay the same. At which tokens do its activations change?"
    )
    return which_holds("another-word", prompt, why, outcomes)


def layer_plan(traced: Trace, layer: int, token: int) -> Figure:
    """Draw the order of a layer, and how long the vector of ``token`` is after each step."""
    boxes = [
        Box(stage.name, float(stage.vectors[token].norm()), stage.residual) for stage in stages(traced.layer(layer))
    ]
    return plan(boxes, title=f"The steps of layer {layer + 1}", value_title="Length of the vector", value_format=".2f")


def show(view: FeedForwardView) -> None:
    """Show the order of the parts of this layer, their matrices, and how long the token's vector is after each part."""
    idea(IDEA)
    show_sentence(view)
    picture, numbers = st.columns(2, gap="large")
    with picture:
        draw(partial(layer_plan, view.trace, view.layer.index, view.token), "plan")
    with numbers:
        _show_matrices(view)
    st.caption(
        f"The number beside each part is the length of the vector of {view.name} after this part. The lengths do not "
        "add up, because the vectors point in different directions."
    )
    meaning(said(view.trace, view.layer.index, view.token))
    where = "before each half (**pre-norm**)" if view.config.pre_norm else "after each sum (**post-norm**)"
    say(f"In this model, LayerNorm comes {where}: see **Residual and LayerNorm**.{_no_first_norm(view.layer)}")
    _show_another_layer(view)
    code(forward.pre_norm_layer if view.config.pre_norm else forward.post_norm_layer)


def _show_matrices(view: FeedForwardView) -> None:
    """List the matrices of the layer with their shapes."""
    say("The matrices of the layer, with their shapes:")
    rows = matrices(view.layer, view.config)
    head = "| part | matrices and shapes | numbers |\n|---|---|---:|\n"
    st.markdown(head + "\n".join(f"| {name} | {shapes} | {count:,} |" for name, shapes, count in rows))
    biases = " The biases are counted with their matrix." if view.config.biases else ""
    biases += " “Residual and LayerNorm” explains γ" + (" and β." if view.config.biases else ".")
    st.caption(f"You met the matrices of attention in lessons 3 and 4.{biases}")


def _no_first_norm(layer: LayerTrace) -> str:
    if layer.weights.norm_1 is not None:
        return ""
    return (
        " This first layer has no LayerNorm before attention, because its input comes from the LayerNorm of the "
        "embeddings."
    )


def _show_another_layer(view: FeedForwardView) -> None:
    """Offer the last layer; from there, the first layer."""
    layers = view.config.layers
    if layers > 1:
        other = 1 if view.layer.index + 1 == layers else layers
        why = f"layer {other}. Is the vector that its network adds to {view.name} longer than attention’s, or shorter?"
        try_this(why, f"Take layer {other}", {LAYER: other})
