"""By hand: attention for three made-up tokens with two whole numbers each; one row is worked out, one is filled in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import streamlit as st
import torch
from torch import Tensor

from lab.charts.base.figure import Figure
from lab.charts.marks.arrows import Arrow, arrows
from lab.course.pages import step_name
from lab.lessons.self_attention import LESSON
from lab.models.forward import attend, attention_scores, mask, mix_values, scale
from lab.ui.drawing import draw
from lab.ui.quiz.done import awaits_answer
from lab.ui.screen import meaning, say

IDEA = """
What fits a blank depends on the other tokens, so something has to come from them. Here are three made-up tokens, so
small that you can check every number. Each token has a **query** (what it looks for), a **key** (what it offers) and a
**value** (what it passes on)."""
FINDING = """
*sun* looks most at *sun* and *light*, whose keys fit its query: **0.446** each. The values arrive in these shares."""
DONE = """
You have computed the attention of one token: *light* looks most at *light* (0.50), and *sun* and *cold* get 0.25
each. In “{there}”, a trained model does the same with a sentence."""
_HINTS = {
    "scores": "The score is the dot product of query and key: multiply them number by number, and add up the products.",
    "weights": (
        "Divide each score by √2 ≈ 1.414. Raise e to the power of each result. Divide each power by the sum of all "
        "three."
    ),
}
# The row that is worked out, and the row that the learner fills in; row 1 has the numbers of row 0 in another order.
_WORKED, _FILLED = 0, 2
_TOLERANCE = 0.01  # of a number that is filled in


def show(_view: object) -> None:
    """Show attention for three tokens: the vectors, one row worked out, and one row to fill in."""
    found = worked_example()
    say(IDEA)
    left, right = st.columns([3, 2], vertical_alignment="center")
    with left:
        draw(partial(query_and_keys, _WORKED), "by-hand")
    with right:
        st.markdown(_vectors(found))
    say(f"**Now *{found.tokens[_WORKED]}* looks.** Its query meets each key:")
    st.markdown(worked(found, _WORKED))
    meaning(FINDING)
    _show_blanks(found)


def _show_blanks(found: WorkedExample) -> None:
    """Let the learner fill in a row: its scores, then its weights; each right number gets a tick."""
    say(f"**Now *{found.tokens[_FILLED]}* looks.** Fill in its scores and then its weights. Two decimals are enough.")
    wanted = asked(found, _FILLED)
    keys = {part: f"_hand.{_FILLED}.{part}" for part in wanted}
    if not all(choose_numbers(truths, _HINTS[part], keys[part]) for part, truths in wanted.items()):
        awaits_answer()
        st.button("Show me", key="_hand.show", type="tertiary", on_click=_show_answers, args=(wanted, keys))
        return
    st.success(DONE.format(there=step_name(LESSON, "map")), icon=":material/check:")


def _show_answers(wanted: Mapping[str, Mapping[str, float]], keys: Mapping[str, str]) -> None:
    for part, truths in wanted.items():
        choose_right_numbers(truths, keys[part])


def query_and_keys(row: int) -> Figure:
    """Draw the query of a row and the three keys; rows count from 0."""
    found = worked_example()
    of = found.tokens[row]
    keys = [Arrow(f"key of {name}", x, y) for name, (x, y) in zip(found.tokens, found.key.tolist(), strict=True)]
    x, y = found.query[row].tolist()
    query = Arrow(f"query of {of}", x, y, marked=True)
    return arrows([query, *keys], title=f"Query of {of}, and all keys")


def worked(found: WorkedExample, row: int) -> str:
    """Write a row as a table in Markdown: each step with its rule, and its numbers for the three keys."""
    q = found.query[row].tolist()
    products = [
        f"{q[0]:.0f}·{k[0]:.0f} + {q[1]:.0f}·{k[1]:.0f} = **{score:.0f}**"
        for k, score in zip(found.key.tolist(), found.scores[row].tolist(), strict=True)
    ]
    scaled, weights = ([f"{each:.{digits}f}" for each in of] for of, digits in _rows(found, row))
    mixed = " + ".join(
        f"{weight}·({v[0]:.0f}, {v[1]:.0f})" for weight, v in zip(weights, found.value.tolist(), strict=True)
    )
    x, y = found.context[row].tolist()
    heads = " | ".join(f"key of {name}" for name in found.tokens)
    rows = (
        ("**Score**: query times key, number by number, added up", *products),
        ("**÷ √d**: d is how many numbers a query has, here 2 (more numbers would make larger scores)", *scaled),
        (
            "**Weights**, by softmax: e to the power of each, divided by the sum of all three",
            *(f"**{each}**" for each in weights),
        ),
    )
    table = "\n".join(f"| {' | '.join(cells)} |" for cells in rows)
    return f"| | {heads} |\n|---|---|---|---|\n{table}\n\nThe values, in these shares: {mixed} ≈ **({x:.1f}, {y:.1f})**"


def _rows(found: WorkedExample, row: int) -> tuple[tuple[list[float], int], tuple[list[float], int]]:
    """Return the divided scores and the weights of a row, each with its number of decimals."""
    return (found.scaled[row].tolist(), 2), (found.weights[row].tolist(), 3)


def asked(found: WorkedExample, row: int) -> Mapping[str, Mapping[str, float]]:
    """Return the numbers to fill in for a row, by the label of their fields: its three scores, its three weights."""
    scores = {f"Score of {name}": each for name, each in zip(found.tokens, found.scores[row].tolist(), strict=True)}
    weights = {f"Weight of {name}": each for name, each in zip(found.tokens, found.weights[row].tolist(), strict=True)}
    return {"scores": scores, "weights": weights}


def _vectors(found: WorkedExample) -> str:
    """Write the vectors as a table."""
    rows = zip(found.tokens, *(each.int().tolist() for each in (found.query, found.key, found.value)), strict=True)
    cells = (f"| **{name}** | " + " | ".join(f"({x}, {y})" for x, y in vectors) + " |" for name, *vectors in rows)
    return "\n".join(["| | query | key | value |", "|---|---|---|---|", *cells])


def choose_numbers(truths: Mapping[str, float], hint: str, key: str) -> bool:
    """Draw a row of number fields (label -> right answer); return True if all values are right to two decimals.

    Each right value gets a tick below its field. If all fields are filled in, the wrong values are named, with
    ``hint``. The values are still there after a visit to another page.
    """
    wrong, empty = [], False
    for i, (field, (label, truth)) in enumerate(zip(st.columns(len(truths)), truths.items(), strict=True)):
        with field:
            given = st.number_input(label, value=None, step=0.01, key=f"{key}.{i}", persist_state="session")
            if given is None:
                empty = True
            elif abs(given - truth) > _TOLERANCE:
                wrong.append(label)
            else:
                st.markdown(":green[:material/check: right]")
    if wrong and not empty:
        st.error(f"{', '.join(wrong)}: not yet. {hint}", icon=":material/close:")
    return not wrong and not empty


def choose_right_numbers(truths: Mapping[str, float], key: str) -> None:
    """Fill in the right values, rounded to two decimals. For a button's callback."""
    for i, truth in enumerate(truths.values()):
        st.session_state[f"{key}.{i}"] = round(truth, 2)


@dataclass(frozen=True, eq=False)
class WorkedExample:
    """Whole-number queries, keys and values, (3, 2), and the results of the engine's own functions for them."""

    tokens: tuple[str, ...]
    query: Tensor
    key: Tensor
    value: Tensor
    scores: Tensor
    scaled: Tensor
    weights: Tensor
    context: Tensor


def worked_example() -> WorkedExample:
    """Return the example of the lesson, in which "sun" and "light" point the same way and "cold" points elsewhere."""
    query = torch.tensor([[2.0, 0.0], [0.0, 2.0], [1.0, 1.0]])
    key = torch.tensor([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    value = torch.tensor([[4.0, 0.0], [0.0, 4.0], [2.0, 2.0]])
    scores = attention_scores(query, key)
    scaled = mask(scale(scores, 2), causal=False)
    weights = attend(scaled)
    context = mix_values(weights, value)
    return WorkedExample(("sun", "cold", "light"), query, key, value, scores, scaled, weights, context)
