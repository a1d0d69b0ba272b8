"""What is said of every result: where it comes from, and the rule behind its verdicts."""

from __future__ import annotations

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.evidence.shipped import Provenance
from lab.evidence.verdicts import RULE


def origin(made: Provenance | None, data: str) -> DeltaGenerator:
    """Whether a result ships or was measured here; ``data`` says of what. Returns a place for the button beside it."""
    row = st.container(horizontal=True, vertical_alignment="center")
    if made is None:
        row.caption("Measured on this server, with the model on screen.", width="content")
    else:
        row.caption(
            f"Ships with the lab: `{made.command}` at commit {made.commit[:10]}, for these very weights (SHA-256 "
            f"{made.model[:10]}…) and {data} ({made.data[:10]}…).",
            width="content",
        )
    return row


def show_rule(effect: str) -> None:
    """The rule of the verdicts, one for every experiment, behind a fold; ``effect`` says what it is applied to here."""
    with st.expander("The rule of the verdict", icon=":material/gavel:"):
        st.markdown(f"{effect}\n\n{RULE}")
