"""The badge of a page, which says whether the page's run matches Hugging Face's run, and the table behind the badge.

The comparison runs when somebody opens the table. Hugging Face's library takes three seconds to load, and a quarter
of a small server's memory; most readers of a page never open the table.
"""

from __future__ import annotations

import pyarrow as pa
import streamlit as st

from lab.course.words import escaped
from lab.models.config import CheckpointError
from lab.models.proof import Proof, ProofRow
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.screen import show_table

_ASK = "Not compared yet. Open this to run the text with Hugging Face's library, too, and compare every step."


def show_proof(trace: Trace, key: str, name: str | None = None, on_purpose: bool = False) -> None:
    """Draw the badge: a check mark if every step matches, otherwise the first step that differs, in red. It opens the
    table.

    Until the comparison has run, the badge is an empty ring; opening the badge starts the comparison. ``name`` says
    which run the badge is for if there are several. A run changed ``on_purpose`` is not called broken.
    """
    if st.session_state.pop(asked := f"{key}.asked", False):
        st.session_state[key] = True  # open the badge again: Streamlit closes a badge whose words change
    proof = runs.proof(trace) if runs.is_proven(trace) else None
    label, icon = _face(proof, on_purpose)
    if name is not None:
        label = f"{escaped(name)}: {label}"
    told = _ASK if proof is None else "Open this to see each step."
    # The table is made only when the reader opens it, because the badge is part of every rerun of every page.
    with (
        st.container(key=f"{key}.badge", width="content"),
        st.popover(label, icon=icon, help=told, on_change="rerun", key=key) as badge,
    ):
        if badge.open and proof is None:
            try:
                with st.spinner("Checking every step against Hugging Face …"):
                    runs.proof(trace)
            except CheckpointError as error:
                st.warning(escaped(str(error)), icon=":material/error:")
                return
            st.session_state[asked] = True
            st.rerun()  # the rerun draws the badge again, and everything that depends on the comparison
        if badge.open and proof is not None:
            st.markdown(_said(proof, on_purpose))
            show_table(_proof_table(proof), formats={"max |difference|": "%.1e", "max |value|": "%.3g"}, scrolls=True)


def _face(proof: Proof | None, on_purpose: bool) -> tuple[str, str]:
    """Return the words and the icon of the badge."""
    if proof is None:
        return "Compare with Hugging Face", ":material/radio_button_unchecked:"
    broken = proof.first_failure
    if broken is None:
        return f":green[{len(proof.rows)} steps match Hugging Face]", ":material/verified:"
    if on_purpose:
        return f"changed from {escaped(broken.step)}{_where(broken)} on", ":material/tune:"
    return f":red[Differs from {escaped(broken.step)}{_where(broken)}]", ":material/error:"


def _said(proof: Proof, on_purpose: bool) -> str:
    """Name the compared runs, the result of the comparison, and the limits of that result."""
    broken = proof.first_failure
    if broken is None:
        return (
            "The lab runs the model with its own code. So we ran the model a second time, with the library "
            "*transformers* of Hugging Face, which many people use. Hugging Face ran the same checkpoint on the same "
            f"tokens. From the first vectors to the last, {len(proof.rows)} steps were compared number by number: the "
            f"largest difference is **{proof.largest_difference:.1e}**. The table lists the steps.\n\n"
            "This shows that the lab computes what the model computes, as exactly as 32-bit numbers allow. It does not "
            "show that the model is right about the sentence, nor that a sentence on this page interprets the numbers "
            "correctly."
        )
    where = _where(broken)
    if on_purpose:
        return (
            f"Hugging Face ran the same tokens without the intervention. **{escaped(broken.step)}**{where} is the "
            f"first step that differs, by up to {broken.difference:.3g}, because of the intervention. Later steps are "
            "not compared."
        )
    missed = (
        f" Hugging Face did not find {', '.join(f'`{name}`' for name in proof.not_found)} in the checkpoint and made "
        "these numbers itself."
        if proof.not_found
        else ""
    )
    return (
        f"The first step that differs from Hugging Face is **{escaped(broken.step)}**{where}: by up to "
        f"{broken.difference:.3g}. All later steps build on this one.{missed}"
    )


def _where(row: ProofRow) -> str:
    return "" if row.layer is None else f", layer {row.layer + 1}"


def _proof_table(proof: Proof) -> pa.Table:
    """Return the rows of the proof, in the form in which they are sent to the browser."""
    return pa.table(
        {
            "step": [row.step for row in proof.rows],
            "layer": ["" if row.layer is None else str(row.layer + 1) for row in proof.rows],
            "shape": [" × ".join(map(str, row.shape)) for row in proof.rows],
            "max |difference|": [row.difference for row in proof.rows],
            "max |value|": [row.largest for row in proof.rows],
            "passed": [row.passed for row in proof.rows],
        }
    )
