"""The parts drawn for every result: its verdict, the origin of its numbers, and the rule of the verdicts."""

from __future__ import annotations

import re

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.evidence.reasons import IN_SHORT, LABELS, RULE
from lab.evidence.shipped import Provenance


def show_verdict(told: str) -> None:
    """Draw the verdict, below the figure's meaning, and what each of its words means."""
    st.markdown(f":material/gavel: **Verdict.** {told}")
    st.caption(explained(told))


def explained(told: str) -> str:
    """Return a sentence for each verdict that ``told`` names: what this verdict means."""
    given = {label.lower() for label in re.findall(r"\*\*([^*]+)\*\*", told)}
    said = [f"*{label.capitalize()}* means {IN_SHORT[each]}." for each, label in LABELS.items() if label in given]
    return " ".join(said)


def origin(made: Provenance | None, data: str) -> DeltaGenerator:
    """Say, folded, whether a result ships with the lab or was measured here, and on which ``data``.

    Returns a place for a button.
    """
    with st.expander("Where these numbers come from", icon=":material/inventory_2:"):
        row = st.container(horizontal=True, vertical_alignment="center")
    if made is None:
        row.caption("This result was measured on this server, with the model on screen.", width="content")
    else:
        row.caption(
            f"This result ships with the lab. `{made.command}` computed it at commit {made.commit[:10]}, for these "
            f"very weights (SHA-256 {made.model[:10]}…) and {data} ({made.data[:10]}…).",
            width="content",
        )
    return row


def show_rule(effect: str) -> None:
    """Draw the rule of the verdicts, folded; ``effect`` names the quantity that it judges in this experiment."""
    with st.expander("The rule of the verdict", icon=":material/gavel:"):
        st.markdown(f"{effect}\n\n{RULE}")
