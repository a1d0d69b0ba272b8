"""Attention by hand: the screen of the self-attention lesson that needs no model."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pandas as pd
import streamlit as st

from lab.analysis.layers.worked import WorkedExample, worked_example
from lab.ui.quiz.blanks import blanks
from lab.ui.terms import say

_HINTS = {
    "scores": "Multiply query and key dimension by dimension, and add up the products.",
    "weights": "Divide the scores by √2. Then take e to the power of each score, and divide by the sum of these "
    "numbers.",
    "context": "Weight 1 times value 1, plus weight 2 times value 2, plus weight 3 times value 3.",
}

# The labels of the fields of a row (from 1), one for each token or dimension.
_NAMES: dict[str, Callable[[int, Sequence[str]], list[str]]] = {
    "scores": lambda row, tokens: [f"q{row} · k{place} (before ÷ √2)" for place in range(1, len(tokens) + 1)],
    "weights": lambda _, tokens: [f"Weight of {token}" for token in tokens],
    "context": lambda *_: ["Context, dimension 1", "Context, dimension 2"],
}


def show(_view: object) -> None:
    """Show attention for three tokens of two dimensions: one row is given, one has blanks, one is free."""
    example = worked_example()
    say(
        "Here are three tokens with two dimensions each, in whole numbers. The first row is worked out. Fill in the "
        "second row. If it is right, the third row asks only for its sum. Use a calculator; two decimals are enough."
    )
    tensors = {"Query": example.query, "Key": example.key, "Value": example.value}
    for column, (name, tensor) in zip(st.columns(3), tensors.items(), strict=True):
        column.dataframe(pd.DataFrame(tensor.numpy(), index=example.tokens, columns=[f"{name} 1", f"{name} 2"]))
    _show_first_row(example)
    right = _show_blanks(example, 1, ("scores", "weights"))
    if right:
        say("In the last row, fill in only the sum of the weighted values.")
        if _show_blanks(example, 2, ("context",)):
            st.success(
                "Right. You have computed self-attention; the lab does this for every head.", icon=":material/check:"
            )


def _show_first_row(example: WorkedExample) -> None:
    s, z, w, c = (t[0].tolist() for t in (example.scores, example.scaled, example.weights, example.context))
    say(f"**Row 1, {example.tokens[0]}**")
    st.latex(
        rf"\begin{{aligned}} q_1 \cdot k &= [{s[0]:.0f},\ {s[1]:.0f},\ {s[2]:.0f}] \\"
        rf"\div \sqrt 2 &= [{z[0]:.3f},\ {z[1]:.3f},\ {z[2]:.3f}] \\"
        rf"\text{{softmax}} &= [{w[0]:.3f},\ {w[1]:.3f},\ {w[2]:.3f}] \\"
        rf"\times V &= [{c[0]:.3f},\ {c[1]:.3f}] \end{{aligned}}"
    )


def _show_blanks(example: WorkedExample, row: int, steps: tuple[str, ...]) -> bool:
    """Draw number fields for one row; return True if all are filled in right."""
    say(f"**Row {row + 1}, {example.tokens[row]}**")
    done = True
    for step in steps:
        names = _NAMES[step](row + 1, example.tokens)
        truths = dict(zip(names, getattr(example, step)[row].tolist(), strict=True))
        done = blanks(truths, _HINTS[step], f"_hand.{row}.{step}") and done
    return done
