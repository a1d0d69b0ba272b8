"""Join: what the heads collect is put side by side, multiplied by W_O, and added to the token's vector."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads import comparing
from lab.analysis.heads.comparing import head_sum
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.strips import strips
from lab.charts.marks.bars import bars
from lab.course.words import named, number_of
from lab.figures import multi_head
from lab.figures.multi_head import head_labels
from lab.lessons.multi_head_attention import LESSON
from lab.models import forward
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.basis import derivable
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.returning import Spot
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this
from lab.ui.parameters import TOKEN
from lab.ui.quiz.predictions import ask_beside
from lab.ui.shared.one_head import OneHead, show_sentence
from lab.ui.tables import show_table
from lab.ui.terms import say


def said(spot: Spot) -> str:
    """Say which head adds the longest vector to the token, and how long the sum is beside all lengths."""
    found, me = head_sum(spot.traced), named(spot.trace, spot.query)
    lengths = found.norms[:, spot.query]
    if len(lengths) < 2:
        return f"This layer has one head, which adds a vector of length {lengths[0]:.2f} to {me}."
    long, total = int(lengths.argmax()), float(lengths.sum())
    together = float(np.linalg.norm(found.parts[:, spot.query].sum(axis=0)))
    told = f"Head {long + 1} adds the longest vector to {me} ({lengths[long]:.2f})."
    if together > (1 - MARGIN) * total:
        return (
            f"{told} All heads push {me} in nearly the same direction: the lengths add up to {total:.2f}, and the sum "
            f"is {together:.2f} long."
        )
    return (
        f"{told} The lengths of the {len(lengths)} vectors add up to {total:.2f}, but their sum is only "
        f"{together:.2f} long, because they do not all point the same way."
    )


@asks(
    basis=derivable(LESSON, "join", "the shapes in the formula"),
    hint="If fewer heads share the same vector, how wide is each head?",
    returns=4,
)
def another_cut(spot: Spot) -> Question | None:
    """Ask how large W_O would be with another number of heads in the same width; None if there is no such number."""
    config = spot.trace.model.config
    d, now = config.width, config.heads
    heads = now // 2 if now > 1 and now % 2 == 0 else 2 * now
    if d % heads:
        return None
    same = (
        f"{heads} × {d // heads} = {d}: with {'fewer' if heads < now else 'more'} heads, each head is "
        f"{'wider' if heads < now else 'narrower'}. So all learned matrices of the layer keep their sizes."
    )
    factor, change = ("half", "half as many") if heads < now else ("twice", "twice as many")
    return shuffled(
        "another-cut",
        f"This layer divides {d} numbers among {number_of(now, 'head')}. Suppose it divided them among "
        f"{number_of(heads, 'head')}. How large would the matrix W_O be?",
        [
            Option(f"{d} × {d}, as it is now", same, correct=True),
            Option(f"{d * heads // now} × {d}: {change} heads bring {change} numbers", same),
            Option(f"{d} × {d * heads // now}: {change} heads make a vector {factor} as long", same),
        ],
    )


@asks(
    "layer",
    "token",
    basis=derivable(LESSON, "join", "the bars: all vectors, and their sum"),
    hint="Think of two arrows that point in different directions, laid end to end.",
    returns=2,
)
def together(spot: Spot) -> Question | None:
    """Ask why the sum of the heads' vectors is shorter than the sum of their lengths; None if it hardly is."""
    found = head_sum(spot.traced)
    parts, lengths = found.parts[:, spot.query], found.norms[:, spot.query]
    total, length = float(lengths.sum()), float(np.linalg.norm(parts.sum(axis=0)))
    right = float(np.linalg.norm(lengths))
    if len(parts) < 2 or total <= 0 or length > (1 - MARGIN) * total:
        return None
    return shuffled(
        "together",
        f"The lengths of the vectors that the heads add to {named(spot.trace, spot.query)} add up to {total:.2f}. But "
        f"the sum of these vectors is only {length:.2f} long. Why?",
        [
            Option(
                "The vectors do not all point the same way",
                f"{length / total:.0%} of the total length is left. If all vectors were at right angles, this "
                f"share would be {right / total:.0%}. If all of them pointed the same way, it would be 100%.",
                correct=True,
            ),
            Option(
                "W_O makes the vectors shorter",
                "These vectors are the output of W_O, so their lengths are measured after W_O.",
            ),
            Option(
                "Softmax makes the heads share a length of 1",
                "Softmax acts on one row of one head. It does not connect the heads.",
            ),
        ],
    )


def joined(traced: Trace, layer: int, token: int) -> Heatmap:
    """Draw one token's way through the end of attention: the heads side by side, W_O's output, and the sum."""
    at, d = traced.layer(layer), traced.model.config.width
    vectors = at.context_concat, at.attention_output, at.input, at.attention_residual
    first = "side by side" if traced.model.config.heads > 1 else "context"
    names = (first, "o: times W_O", "x: before", "added up")
    title = f"“{traced.labels[token]}” in layer {layer + 1}: four vectors of {d} numbers"
    return strips([each[token].numpy() for each in vectors], names, title=title)


def lengths_of_heads(traced: Trace, layer: int, token: int) -> Figure:
    """Draw the length of the vector that each head adds to a token, and of their sum, before any bias."""
    found = head_sum(traced.layer(layer))
    values = [*found.norms[:, token], float(np.linalg.norm(found.parts[:, token].sum(axis=0)))]
    labels = [*(name.lower() for name in head_labels(traced)), "their sum"]
    title = f"Length of what each head adds to {traced.labels[token]}"
    return bars(labels, values, Scale("Length", format=".2f"), title=title, highlight=len(values) - 1)


def show(view: OneHead) -> None:
    """Show how the vectors of all heads become one, with the shapes, and how long each head's part is."""
    config, token = view.trace.model.config, view.query
    d, d_k, count = config.width, config.head_width, config.heads
    say(
        f"Each head has collected a vector of {d_k} numbers for {view.token(token)}, its **context**. The next part "
        f"of the model reads one vector of {d} numbers. So the {count} contexts, $h_1$ to $h_{{{count}}}$, are put "
        f"side by side (**concatenation**): {count} × {d_k} = {d}. A learned matrix, $W_O$, mixes these numbers into "
        f"the output $o$. The numbers of a head meet only {d_k} rows of $W_O$, so each head adds its own vector to "
        "$o$. Then $o$ is added to the vector $x$ that the token had before."
        if count > 1
        else f"The head has collected a vector of {d_k} numbers for {view.token(token)}, its **context**. A learned "
        "matrix, $W_O$, mixes these numbers into the output $o$. It is added to the vector $x$ that the token had "
        "before."
    )
    show_sentence(view)
    st.latex(shapes(view.trace))
    draw(partial(joined, view.trace, view.layer.index, token), "joined")
    draw(partial(lengths_of_heads, view.trace, view.layer.index, token), "lengths-of-heads")
    meaning(said(view.spot))
    ask_beside(LESSON, another_cut(view.spot))
    _show_another(view)
    label = "Each head alone, and one number by hand"
    with st.expander(label, icon=":material/function:", on_change="rerun", key="_joined") as folded:
        if folded.open:
            _show_each_head(view)
            _show_one_number(view)
    code(forward.merge_heads, forward.linear, comparing.head_parts, comparing.head_sum)


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


def _show_each_head(view: OneHead) -> None:
    """Draw each head in its own place of the concatenation, and what it adds; write the product as a sum over heads."""
    config, at = view.trace.model.config, (view.trace, view.layer.index, view.query)
    d, d_k = config.width, config.head_width
    say("Each head has its own place in the row of numbers:")
    draw(partial(multi_head.concatenation, *at), "concatenation")
    bias = " + b_O" if config.biases else ""
    st.latex(
        r"\begin{aligned} & [h_1; \dots; h_H]\,W_O"
        rf"{bias} \\ & = \sum_{{i=1}}^{{H}} h_i\,W_O^{{(i)}}{bias} \end{{aligned}}"
    )
    added = head_sum(view.layer)
    say(
        f"So the numbers of head i meet only their own {d_k} rows of $W_O$, which are $W_O^{{(i)}}$ ({d_k} × {d}). The "
        "product is a sum with one vector for each head, and the heads meet only in this sum:"
    )
    draw(partial(multi_head.heads_add_up, *at), "heads-add-up")
    st.caption(
        f"The sum of the heads equals the layer’s own output: the numbers are as large as {added.largest:.3g} and "
        f"differ by at most {added.difference:.1e}."
    )


def _show_one_number(view: OneHead) -> None:
    """Work out one dimension of the attention output, head by head."""
    added, token = head_sum(view.layer), view.query
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


def _show_another(view: OneHead) -> None:
    """Offer the word to which this layer's heads add the longest sum."""
    lengths = np.linalg.norm(head_sum(view.layer).output, axis=-1)
    words = [place for place, label in enumerate(view.trace.labels) if any(map(str.isalnum, label))]
    special = view.trace.encoding.special
    most = max((place for place in words if not special[place]), key=lengths.__getitem__, default=view.query)
    if most != view.query:
        try_this(
            f"of all words, {named(view.trace, most)} gets the longest sum. Which head adds most to it?",
            f"Choose token {most + 1}",
            {TOKEN: most + 1},
        )
