"""Join: what the heads collect is put side by side, multiplied by W_O, and added to the token's vector."""

from __future__ import annotations

from functools import partial

import numpy as np
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.comparing import head_sum
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.sentences.looks import is_story_blank
from lab.course.words import spoken
from lab.figures.attention import head_labels
from lab.lessons.multi_head_attention import LESSON
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, derivable
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.screen import meaning, say
from lab.ui.shared.one_head import OneHead, show_sentence

IDEA = """
Each of the {count} heads of this layer has collected {d_k} numbers for {query}, its **context** *h*. Side by side,
they are {count} × {d_k} = {d} numbers. A learned matrix, $W_O$, mixes these into one vector *o*{bias}, which is added
to the vector *x* that the token had before (lesson 8 says why)."""
BIAS = " (with a learned vector $b_O$)"
SPLIT = """
The numbers of a head meet only its own {d_k} rows of $W_O$, so *o* is a sum: each head adds one vector{bias}.
The bars show how long these vectors are."""
READING = """
{first} adds the longest vector to {query}: **{longest:.2f}**. The lengths of all {count} add up to {total:.2f}. But
the vectors point in different directions, so *o* is only {together:.2f} long."""
STORY = """
Next is head 6 with {second:.2f}. Both look at *france*, and yet they bring different things: the cosine of the two
vectors is {cosine:.2f}. Each head has values, and rows of $W_O$, of its own."""


def show(view: OneHead) -> None:
    """Show how the vectors of all heads become one, with the shapes, and how long each head's part is."""
    config, query = view.trace.model.config, spoken(view.trace, view.query)
    show_sentence(view, arcs=False)
    sizes = {"count": config.heads, "d_k": config.head_width, "d": config.width}
    say(IDEA.format(query=query, bias=BIAS * config.biases, **sizes))
    st.latex(shapes(view.trace))
    if not ask_beside(LESSON, another_cut()):
        return
    say(SPLIT.format(d_k=config.head_width, bias=", and $b_O$ is one more" * config.biases))
    draw(partial(lengths_of_heads, view.trace, view.layer.index, view.query), "lengths-of-heads")
    found = reading(view.spot)
    if is_story_blank(view.trace, view.query) and view.layer.index == view.trace.model.config.layers - 1:
        found += f" {at_france(view.spot)}"
    meaning(found)
    code(forward.merge_heads, forward.linear, comparing.head_parts)


def reading(spot: Spot) -> str:
    """Name the head that adds the longest vector to the query, and compare the sum's length with all lengths."""
    found = head_sum(spot.traced)
    lengths = found.norms[:, spot.query]
    return READING.format(
        first=f"Head {int(lengths.argmax()) + 1}",
        query=spoken(spot.trace, spot.query),
        longest=float(lengths.max()),
        count=len(lengths),
        total=float(lengths.sum()),
        together=float(spot.traced.attention_output[spot.query].norm()),
    )


def at_france(spot: Spot) -> str:
    """Compare what the two heads that look at *france* add to the blank: their lengths and the cosine."""
    found = head_sum(spot.traced)
    norms = found.norms[:, spot.query]
    second, first = np.argsort(norms)[-2:]
    one, other = (found.parts[head, spot.query] for head in (first, second))
    return STORY.format(second=float(norms[second]), cosine=float(one @ other / (norms[first] * norms[second]))).strip()


@asks(
    basis=derivable(LESSON, "join", "the shapes in the formula"),
    hint="If fewer heads share the same vector, how wide is each head?",
)
def another_cut() -> Question:
    """Ask how large W_O would be with another number of heads in the same width."""
    return Question(
        "another-cut",
        "A layer divides 384 numbers among 12 heads, and a matrix of 384 × 384 joins them. Suppose it divided them "
        "among 6. How large would this matrix be?",
        (
            Option(
                "384 × 384, as it is now",
                "6 × 64 = 384: with fewer heads, each head is wider. The learned matrices keep their sizes.",
                correct=True,
            ),
            Option(
                "192 × 384: half as many heads bring half as many numbers",
                "They would, if a head kept its 32 numbers. But 384 numbers among 6 heads are 64 for each.",
            ),
            Option(
                "384 × 192: half as many heads make a vector half as long",
                "The result is added to *x*, so it must have the 384 numbers of *x*.",
            ),
        ),
        mixed=True,
    )


def lengths_of_heads(traced: Trace, layer: int, token: int) -> Figure:
    """Draw the length of the vector that each head adds to a token, and of *o*, their sum with any bias."""
    inside = traced.layer(layer)
    values = [*head_sum(inside).norms[:, token], float(inside.attention_output[token].norm())]
    labels = [*(name.lower() for name in head_labels(traced)), "o"]
    title = f"Length of what each head adds to {traced.labels[token]}, layer {layer + 1}"
    return bars(labels, values, Scale("Length", format=".2f"), title=title, highlight=len(values) - 1)


def shapes(trace: Trace) -> str:
    """Write the product with W_O and the sum as a formula, with the shape of each term for one token."""
    config = trace.model.config
    d = config.width
    bias = rf" + \underbrace{{b_O}}_{{1 \times {d}}}" if config.biases else ""
    heads = rf"[h_1; \dots; h_{{{config.heads}}}]" if config.heads > 1 else "h"
    return (
        rf"\begin{{aligned}} o & = \underbrace{{{heads}}}_{{1 \times {d}}} \; \underbrace{{W_O}}_{{{d} \times {d}}}"
        rf"{bias} \\ x_{{\text{{new}}}} & = \underbrace{{x}}_{{1 \times {d}}} + \underbrace{{o}}_{{1 \times {d}}}"
        r" \end{aligned}"
    )
