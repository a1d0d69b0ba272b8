"""By hand: attention for three made-up tokens with two whole numbers each; one row is worked out, one is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import streamlit as st

from lab.analysis.layers.worked import WorkedExample, worked_example
from lab.charts.base.figure import Figure
from lab.charts.marks.arrows import Arrow, arrows
from lab.course.pages import step_name
from lab.lessons.self_attention import LESSON
from lab.ui.drawing import draw
from lab.ui.frame.closing import meaning
from lab.ui.frame.header import idea
from lab.ui.quiz.blanks import blanks, fill
from lab.ui.quiz.done import awaits_answer
from lab.ui.terms import say

IDEA = """
How does a token find out which other tokens matter to it? Here are three made-up tokens with two whole numbers in each
vector, so you can check everything yourself. Each token has a **query** (what it looks for), a **key** (what it
offers) and a **value** (what it passes on). **Build a row** shows how a model makes them; here, they are given."""

_HINTS = {
    "scores": "The score is the dot product of query and key: multiply them number by number, and add up the products.",
    "weights": (
        "Divide each score by √2 ≈ 1.414. Raise e to the power of each result. Divide each power by the sum of all "
        "three."
    ),
}
# The row that the learner fills in. Row 0 is worked out, and row 1 has the same numbers in another order.
_FILLED = 2


def query_and_keys(row: int) -> Figure:
    """Draw the query of a row and the three keys; rows count from 0."""
    found = worked_example()
    of = found.tokens[row]
    keys = [Arrow(f"key of {name}", x, y) for name, (x, y) in zip(found.tokens, found.key.tolist(), strict=True)]
    x, y = found.query[row].tolist()
    query = Arrow(f"query of {of}", x, y, marked=True)
    return arrows([query, *keys], title=f"Query of {of}, and all keys")


def said(found: WorkedExample, row: int) -> str:
    """State where the token of a row looks: at the tokens with the largest weight, and at the others."""
    weights = found.weights[row].tolist()
    most = max(weights)
    first = [f"*{name}*" for name, weight in zip(found.tokens, weights, strict=True) if most - weight < 0.005]
    rest = [
        f"*{name}* gets {weight:.2f}"
        for name, weight in zip(found.tokens, weights, strict=True)
        if most - weight >= 0.005
    ]
    several = len(first) > 1
    fits, each = ("keys fit its query", " each") if several else ("key fits its query best", "")
    return (
        f"*{found.tokens[row]}* looks most at {' and '.join(first)}, whose {fits}: **{most:.2f}**{each}. "
        f"{' and '.join(rest)}. The values arrive in these shares."
    )


def sums(found: WorkedExample, row: int) -> str:
    """Write a row as four lines of LaTeX: each dot product, the division, softmax, and the sum of the values."""
    q = found.query[row].tolist()
    scores, scaled, weights, context = (
        of[row].tolist() for of in (found.scores, found.scaled, found.weights, found.context)
    )
    lines = [
        rf"q_{row + 1} \cdot k_{place} &= {q[0]:.0f} \cdot {k[0]:.0f} + {q[1]:.0f} \cdot {k[1]:.0f} = {score:.0f}"
        for place, (k, score) in enumerate(zip(found.key.tolist(), scores, strict=True), start=1)
    ]
    # The last part begins a new line, so that the sum fits a phone.
    *mixed, last = (
        rf"{weight:.2f}\,({v[0]:.0f}, {v[1]:.0f})" for weight, v in zip(weights, found.value.tolist(), strict=True)
    )
    lines += [
        r"\div \sqrt 2:\quad & " + r",\ ".join(f"{each:.2f}" for each in scaled),
        r"\text{softmax}:\quad & " + r",\ ".join(f"{each:.2f}" for each in weights),
        rf"\text{{sum}}:\quad & {' + '.join(mixed)}",
        rf"& + {last}",
        rf"&\approx ({context[0]:.1f}, {context[1]:.1f})",
    ]
    return r"\begin{aligned} " + r" \\ ".join(lines) + r" \end{aligned}"


def asked(found: WorkedExample, row: int) -> Mapping[str, Mapping[str, float]]:
    """The numbers to fill in for a row, by the label of their fields: its three scores, then its three weights."""
    scores = {f"q{row + 1} · k{place}": score for place, score in enumerate(found.scores[row].tolist(), start=1)}
    weights = {f"Weight of {name}": each for name, each in zip(found.tokens, found.weights[row].tolist(), strict=True)}
    return {"scores": scores, "weights": weights}


def show(_view: object) -> None:
    """Show attention for three tokens: the vectors, one row worked out, and one row to fill in."""
    found = worked_example()
    idea(IDEA)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        draw(partial(query_and_keys, 0), "by-hand")
    with right:
        st.markdown(_vectors(found))
    say(
        f"**Row 1: *{found.tokens[0]}* looks.** The **dot product** of its query with a key is a **score**: multiply "
        "the two vectors number by number, and add up the products. The score is large if the vectors are long and "
        "point the same way, and 0 if they are at right angles. Each score is divided by √d; d is how many numbers "
        f"a vector has, here 2 (“{step_name(LESSON, 'scale')}” shows the reason). Then **softmax** turns the "
        "three results into shares, the **weights**: it raises e to the power of each result, and divides by the sum "
        "of these powers. Finally, the values are added up in these shares. In the lines below, q₁ is the query of "
        "row 1, and k₁, k₂ and k₃ are the three keys."
    )
    st.latex(sums(found, 0))
    meaning(said(found, 0))
    _show_blanks(found)


def _vectors(found: WorkedExample) -> str:
    """Write the vectors as a table."""
    rows = zip(found.tokens, *(each.int().tolist() for each in (found.query, found.key, found.value)), strict=True)
    cells = (f"| **{name}** | " + " | ".join(f"({x}, {y})" for x, y in vectors) + " |" for name, *vectors in rows)
    return "\n".join(["| | query | key | value |", "|---|---|---|---|", *cells])


def _show_blanks(found: WorkedExample) -> None:
    """Let the learner fill in a row: its scores, then its weights; each right number gets a tick."""
    say(
        f"**Row {_FILLED + 1}: now *{found.tokens[_FILLED]}* looks.** Fill in its scores and then its weights. Two "
        "decimals are enough."
    )
    wanted = asked(found, _FILLED)
    keys = {part: f"_hand.{_FILLED}.{part}" for part in wanted}
    if not all(blanks(truths, _HINTS[part], keys[part]) for part, truths in wanted.items()):
        awaits_answer()
        st.button("Show me", key="_hand.show", type="tertiary", on_click=_show_answers, args=(wanted, keys))
        return
    there = step_name(LESSON, "map")
    st.success(
        f"You have computed the attention of one token: {said(found, _FILLED)} In the step “{there}”, a trained "
        "model does the same with your sentence.",
        icon=":material/check:",
    )


def _show_answers(wanted: Mapping[str, Mapping[str, float]], keys: Mapping[str, str]) -> None:
    for part, truths in wanted.items():
        fill(truths, keys[part])
