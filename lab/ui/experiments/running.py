"""An experiment that runs in the background: the button, how far it has come, the way out."""

from __future__ import annotations

from collections.abc import Callable, Hashable

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.experiments.shipped import Provenance
from lab.models import jobs
from lab.models.batches import Progress
from lab.models.cores import give_way, one_core, step_back
from lab.models.jobs import Job

_POLL = 1.0  # seconds
Work = Callable[[Progress], object]


def offer(key: Hashable, label: str, work: Work, help: str) -> None:
    """The button that begins ``work``; while it goes on, the share that is done, and Stop.

    ``work`` keeps its result itself. It is told a function to call with the share done; that raises where the learner
    has stopped it. The page runs again when it is over.
    """
    if jobs.running(key) is not None:
        _progress(key)
    else:
        st.button(
            label, key=f"_run.{hash(key)}", icon=":material/play_arrow:", help=help, on_click=begin, args=(key, work)
        )


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


def begin(key: Hashable, work: Work) -> None:
    """Run ``work`` in the background, or join it. When it tells how far it is, whoever waits for a core goes first."""

    def run(job: Job) -> None:
        def tell(done: float) -> None:
            job.tell(done, 1.0)
            give_way()

        step_back()
        with one_core():
            work(tell)

    jobs.start(key, run)


@st.fragment(run_every=_POLL)
def _progress(key: Hashable) -> None:
    found = jobs.running(key)
    if found is None:
        st.rerun()
    with st.container(border=True):
        st.progress(found.share, f"{found.share:.0%} is read.")
        st.markdown("You can go on, on this page or any other: the run goes on, too.")
        st.button("Stop", key=f"_stop.{hash(key)}", icon=":material/stop:", on_click=found.stop)
