"""Everything expensive, computed once for all sessions. The only module that wraps Streamlit's caches."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import streamlit as st

from lab.models.catalogue import CATALOGUE, LoadedModel, ModelUnavailable, card, load_model
from lab.models.interventions import Interventions
from lab.models.proof import Proof, prove
from lab.models.trace import Trace, trace

# As many computations at once as there are cores; the others wait instead of slowing each other down.
_TURNS = threading.BoundedSemaphore(os.cpu_count() or 1)


def local_models() -> dict[str, Path]:
    """Checkpoint folders the operator offers, by folder name: ``LAB_MODELS=/a/folder:/another``."""
    paths = [Path(p).expanduser() for p in os.environ.get("LAB_MODELS", "").split(os.pathsep) if p]
    return {path.name: path for path in paths}


def downloads_allowed() -> bool:
    """Only who runs the server may let it download: ``LAB_ALLOW_DOWNLOADS=1`` (``make run`` sets it)."""
    return os.environ.get("LAB_ALLOW_DOWNLOADS") == "1"


@st.cache_data(ttl=30, show_spinner=False)
def model_ids() -> tuple[str, ...]:
    """The models a visitor may choose: embedded ones, those on disk, and the Hub's if downloads are allowed."""
    from lab.models import hub

    listed = [
        entry.id for entry in CATALOGUE
        if entry.repository is None or downloads_allowed() or hub.cached(entry) is not None
    ]  # fmt: skip
    return (*listed, *local_models())


def needs_download(model_id: str) -> int | None:
    """Megabytes to download before ``model_id`` can run, or None when it is here."""
    from lab.models import hub

    entry = card(model_id)
    if entry is None or entry.repository is None or hub.cached(entry) is not None:
        return None
    return entry.megabytes


@st.cache_resource(max_entries=2, show_spinner="Loading the model …")
def model(model_id: str) -> LoadedModel:
    """Load a model once; two stay in memory."""
    import torch

    if model_id not in model_ids():
        raise ModelUnavailable(f"This server offers no model called {model_id!r}.")
    torch.set_num_threads(1)
    loaded = load_model(local_models().get(model_id, model_id))
    # Streamlit collects garbage after every run; frozen, the libraries' half a million objects cost nothing.
    gc.collect()
    gc.freeze()
    return loaded


@st.cache_resource(max_entries=16, show_spinner=False)
def run(model_id: str, text: str, pair: str, changes: Interventions) -> Trace:
    """One text through one model. Raises TextError when there is nothing to read."""
    loaded = model(model_id)
    with _TURNS:
        return trace(loaded, text, pair or None, changes)


@st.cache_resource(max_entries=64, show_spinner=False)
def proof(model_id: str, text: str, pair: str, changes: Interventions) -> Proof:
    """The proof of :func:`run`'s trace."""
    traced = run(model_id, text, pair, changes)
    with _TURNS:
        proven = prove(traced.model, traced)
    gc.collect()
    gc.freeze()
    return proven
