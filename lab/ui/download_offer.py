"""The offer of a download, its progress, and another model to use instead; the page stays usable meanwhile."""

from __future__ import annotations

import streamlit as st

from lab.course.words import escaped
from lab.models import hub
from lab.models.catalogue import ModelUnavailable, card
from lab.models.config import CheckpointError
from lab.ui import runs
from lab.ui.long_work import has_left, join, leave, this_visit

_POLL = 1.0  # seconds


def available(wanted: str) -> str:
    """Return the model ``wanted`` once it is on this server; if that is impossible, say why and return another model.

    Stops the page with a sentence if no model can be read.
    """
    try:
        size = runs.needs_download(wanted)
        if size is not None and wanted in runs.model_ids():
            instead = _that_works(wanted)
            offer(wanted, size, instead)
            return instead
        runs.model(wanted)
    except (ModelUnavailable, CheckpointError) as error:
        instead = _that_works(wanted)
        st.warning(f"{escaped(str(error))} You see {instead} instead.", icon=":material/cloud_off:")
        return instead
    return wanted


def _that_works(but: str) -> str:
    """Return another model that ships, or end the page."""
    found = runs.that_ships(but)
    if found is not None:
        return found
    st.error(
        "This server cannot read any of its models. Whoever runs the server should restore the folder "
        "lab/models/embedded from the repository.",
        icon=":material/folder_off:",
    )
    st.stop()


def offer(model_id: str, megabytes: int, instead: str) -> None:
    """Draw the offer on a page whose model is not on this server yet.

    Until it is, the page shows the model ``instead``.
    """
    found = hub.running(model_id)
    error = None if found is None else found.error
    failed = error is not None and _asked(model_id) in st.session_state
    left = has_left(hub.key_of(model_id))
    if found is not None and error is None and not left:
        _progress(model_id)
    else:
        if failed:
            st.warning(f"{escaped(str(error))} You see {instead} instead.", icon=":material/cloud_off:")
        elif left and error is None:
            going_on = "Others wait for this download, so it goes on."
            st.caption("You have stopped this download." if found is None else going_on)
        with st.container(border=True):
            st.markdown(
                f"**{escaped(model_id)}** is not on this machine yet: about {megabytes} MB from the Hugging Face Hub."
            )
            st.button(
                f"Download {megabytes} MB",
                key=f"_download.{model_id}",
                icon=":material/download:",
                on_click=_start,
                args=(model_id,),
            )
    if not failed:
        st.caption(f"Until then you see {instead}.")


def _start(model_id: str) -> None:
    """Begin the download. Only models that this server offers are ever fetched, whatever a link asks for."""
    entry = card(model_id)
    if entry is not None and model_id in runs.model_ids() and runs.downloads_allowed():
        st.session_state[_asked(model_id)] = True
        join(hub.start(entry, this_visit()))


def _asked(model_id: str) -> str:
    """The key under which a session notes that it wanted this download: only this session is told of a failure."""
    return f"_asked.{model_id}"


@st.fragment(run_every=_POLL)
def _progress(model_id: str) -> None:
    """Draw the number of megabytes downloaded so far.

    When the download is over or has failed, the whole page runs again.
    """
    found = hub.running(model_id)
    if found is None or found.error is not None:
        st.rerun()
    found.watch(this_visit())
    with st.container(border=True):
        so_far = (
            f"{found.done:.0f} of {found.planned:.0f} MB" if found.planned else "asking the Hub for the download’s size"
        )
        st.progress(found.share, f"**{escaped(model_id)}**: {so_far}")
        st.markdown("You can keep working, on this page or any other: the download continues.")
        st.button("Stop", key=f"_stop.{model_id}", icon=":material/stop:", on_click=leave, args=(found,))
