"""By hand, and broken on purpose: two screens of the self-attention lesson that need no chosen cell."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from lab.analysis.attention import attention_map
from lab.analysis.worked import WorkedExample, worked_example
from lab.models.interventions import Interventions
from lab.models.trace import Trace, trace_encoding
from lab.ui.attention_steps import View, draw_map
from lab.ui.blanks import blanks

_HINTS = {
    "scores": "A score is query times key, dimension by dimension, added up.",
    "weights": "Divide the scores by √2 first, then e to each, then each over their sum.",
    "context": "Weight 1 times value 1, plus weight 2 times value 2, plus weight 3 times value 3.",
}
_MISTAKES = {
    "no_scaling": "No ÷ √d_k",
    "softmax_over_queries": "Softmax over the queries",
    "no_causal_mask": "No mask",
    "no_output_projection": "Forget W_O",
    "other_gelu": "The other GELU",
}


def by_hand() -> None:
    """Three tokens, two dimensions: one row shown, one with blanks, one free."""
    example = worked_example()
    st.markdown(
        "Three tokens, two dimensions, whole numbers. The first row is worked out; fill in the others. "
        "A calculator is fine, and two decimals are enough."
    )
    columns = st.columns(3)
    for column, name, tensor in zip(columns, ("Query", "Key", "Value"), (example.query, example.key, example.value),
                                    strict=True):  # fmt: skip
        column.dataframe(pd.DataFrame(tensor.numpy(), index=example.tokens, columns=[f"{name} 1", f"{name} 2"]))
    _shown_row(example)
    right = _blanks(example, 1, ("scores", "weights"))
    if right:
        st.markdown("The last row is yours: only its context is asked.")
        if _blanks(example, 2, ("context",)):
            st.success("That is self-attention, whole. The lab does the same for every head.", icon=":material/check:")


def _shown_row(example: WorkedExample) -> None:
    s, z, w, c = (t[0].tolist() for t in (example.scores, example.scaled, example.weights, example.context))
    st.markdown(f"**Row 1, {example.tokens[0]}**")
    st.latex(
        rf"\begin{{aligned}} q_1 K^\top &= [{s[0]:.0f},\ {s[1]:.0f},\ {s[2]:.0f}] \\"
        rf"\div \sqrt 2 &= [{z[0]:.3f},\ {z[1]:.3f},\ {z[2]:.3f}] \\"
        rf"\text{{softmax}} &= [{w[0]:.3f},\ {w[1]:.3f},\ {w[2]:.3f}] \\"
        rf"\times V &= [{c[0]:.3f},\ {c[1]:.3f}] \end{{aligned}}"
    )


def _blanks(example: WorkedExample, row: int, steps: tuple[str, ...]) -> bool:
    """Number fields for one row; True when all are filled in right."""
    st.markdown(f"**Row {row + 1}, {example.tokens[row]}**")
    done = True
    for step in steps:
        truths = {f"{step.capitalize()} {i + 1}": v for i, v in enumerate(getattr(example, step)[row].tolist())}
        done = blanks(truths, _HINTS[step], f"_hand.{row}.{step}") and done
    return done


def break_it(view: View) -> Trace:
    """Wrong formulas on purpose; returns the broken run, for the badge."""
    config = view.trace.model.config
    st.markdown(
        "Each switch puts a classic mistake into the forward pass. The badge at the top then turns red and names the "
        "first step that no longer agrees with Hugging Face."
    )
    offered = {name: label for name, label in _MISTAKES.items() if name != "no_causal_mask" or config.causal}
    if not config.activation.startswith("gelu"):
        offered.pop("other_gelu")
    with st.container(horizontal=True):
        chosen = {name for name, label in offered.items() if st.toggle(label, key=f"_break.{name}")}
    changes = Interventions(
        no_scaling="no_scaling" in chosen,
        softmax_over_queries="softmax_over_queries" in chosen,
        no_causal_mask="no_causal_mask" in chosen,
        no_output_projection="no_output_projection" in chosen,
        other_gelu="other_gelu" in chosen,
    )
    if changes.changes_nothing:
        st.info("Switch one on.", icon=":material/toggle_on:")
        return view.trace
    broken = trace_encoding(view.trace.model, view.trace.encoding, changes)
    left, right = st.columns(2)
    for column, traced, title in ((left, view.trace, "Right"), (right, broken, "Broken")):
        with column:
            draw_map(view, traced, f"{title}, {view.place}", f"map-{title.lower()}")
    sums = attention_map(broken.layer(view.layer.index), view.head).sum(axis=1)
    st.markdown(f"The broken rows add up to between {sums.min():.2f} and {sums.max():.2f}.")
    return broken
