"""Models and runs, computed once for all sessions; beside it the caches of what is read off a run.

This module and its siblings cached_… are the only ones that wrap Streamlit's
caches. torch, transformers and tokenizers are imported inside the functions: the course map needs
none of them.
"""

from __future__ import annotations

import gc
import hashlib
import os
import sys
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from weakref import WeakKeyDictionary

import streamlit as st

from lab.models.catalogue import CATALOGUE, ModelUnavailable, card, ships, twin_of
from lab.ui import memory

if TYPE_CHECKING:
    from lab.analysis.words.predictions import Restored
    from lab.models.interventions import Interventions
    from lab.models.loading import LoadedModel
    from lab.models.proof import Proof
    from lab.models.trace import Trace
    from lab.text.tokenizers.steps import TokenizationSteps

# As many computations at once as there are cores; the others wait instead of slowing each other down.
TURNS = threading.BoundedSemaphore(os.cpu_count() or 1)
_SMALL_TEXT = 200  # characters
# What weights_of and identity have found out, for as long as the model or the trace lives.
_weights: WeakKeyDictionary[LoadedModel, str] = WeakKeyDictionary()
_identities: WeakKeyDictionary[Trace, str] = WeakKeyDictionary()


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
        if ships(entry) or (entry.repository and (downloads_allowed() or hub.cached(entry) is not None))
    ]  # fmt: skip
    return (*listed, *local_models())


def needs_download(model_id: str) -> int | None:
    """Megabytes to download before ``model_id`` can run, or None when it is here."""
    from lab.models import hub

    entry = card(model_id)
    if entry is None or entry.repository is None or hub.cached(entry) is not None:
        return None
    return entry.megabytes


def model(model_id: str) -> LoadedModel:
    """The model of this id, which may be that of a twin with random weights (:func:`lab.models.catalogue.twin_id`)."""
    of = twin_of(model_id)
    return twin(*of) if of else trained(model_id)


@st.cache_resource(max_entries=2, show_spinner="Loading the model …")
def trained(model_id: str) -> LoadedModel:
    """Load a model once; two stay in memory."""
    import torch

    from lab.models.loading import load_model

    if model_id not in model_ids():
        raise ModelUnavailable(f"This server offers no model called {model_id!r}.")
    torch.set_num_threads(1)
    memory.give_back()
    loaded = load_model(local_models().get(model_id, model_id))
    settle()
    return loaded


def run(model_id: str, text: str, pair: str, changes: Interventions) -> Trace:
    """One text through one model. Raises TextError when there is nothing to read."""
    entry = card(model_id)
    # A class's own sentences: one of 32 tokens through a model that ships takes 1.6 MB.
    small = entry is not None and ships(entry) and len(text) + len(pair) <= _SMALL_TEXT
    return (_small_run if small else _large_run)(model_id, text, pair, _as_text(changes), changes)


@st.cache_resource(max_entries=48, show_spinner=False)
def _small_run(model_id: str, text: str, pair: str, changed: str, _changes: Interventions) -> Trace:
    return _run(model_id, text, pair, _changes)


@st.cache_resource(max_entries=16, show_spinner=False)
def _large_run(model_id: str, text: str, pair: str, changed: str, _changes: Interventions) -> Trace:
    return _run(model_id, text, pair, _changes)


def _run(model_id: str, text: str, pair: str, changes: Interventions) -> Trace:
    from lab.models.trace import trace

    loaded = model(model_id)
    with TURNS:
        return trace(loaded, text, pair or None, changes)


def other_run(loaded: LoadedModel, text: str) -> Trace:
    """Another text through a model at hand, random weights or not. Not kept, as a trace keeps its model."""
    from lab.models.trace import trace

    with TURNS:
        return trace(loaded, text)


@st.cache_resource(max_entries=8, show_spinner=False)
def masked_run(model_id: str, text: str, pair: str, places: tuple[int, ...]) -> Trace:
    """The same text with the tokens at ``places`` (from 0) hidden. Raises ValueError without a mask token."""
    from lab.analysis.words.masking import hide, mask_of
    from lab.models.interventions import Interventions
    from lab.models.trace import trace_encoding

    traced = run(model_id, text, pair, Interventions())
    mask = mask_of(traced.model.tokenizer)
    if mask is None:
        raise ValueError(f"{model_id} has no token that hides another.")
    with TURNS:
        return trace_encoding(traced.model, hide(traced.encoding, places, mask))


@st.cache_resource(max_entries=1, show_spinner="Drawing random weights …")
def twin(model_id: str, seed: int) -> LoadedModel:
    """The model's architecture with random weights. One at a time: it is as large as the model."""
    from lab.models.twin import random_twin

    loaded = trained(model_id)
    with TURNS:
        return random_twin(loaded, seed)


def twin_run(traced: Trace, seed: int) -> Trace:
    """The same tokens through the twin with random weights. Not kept, as a trace would keep its model."""
    from lab.models.trace import trace_encoding

    untrained = twin(traced.model.id, seed)
    with TURNS:
        return trace_encoding(untrained, traced.encoding)


@st.cache_data(max_entries=256, show_spinner="Hiding one word at a time …")
def restored_words(model_id: str, text: str, pair: str, places: tuple[int, ...]) -> tuple[Restored, ...]:
    """How probable each of these words is when it alone is hidden: one run a word."""
    from lab.analysis.words.predictions import masked_prediction, restored
    from lab.models.interventions import Interventions

    plain = run(model_id, text, pair, Interventions())
    found = []
    for place in places:
        traced = masked_run(model_id, text, pair, (place,))
        found.append(restored(masked_prediction(traced, plain.encoding, place), plain.model.tokenizer))
    return tuple(found)


def untrained_twin(loaded: LoadedModel) -> LoadedModel:
    """The twin that the heads of ``loaded`` are compared with; see :mod:`lab.analysis.heads.named`."""
    from lab.analysis.heads import named as named_heads

    base, seed = named_heads.untrained_seed(loaded.id)
    return twin(base, seed) if base in model_ids() else _untrained_toy(loaded, weights_of(loaded))


@st.cache_resource(max_entries=4, show_spinner=False)
def _untrained_toy(_loaded: LoadedModel, weights: str) -> LoadedModel:
    from lab.analysis.heads.named import untrained_twin

    with TURNS:
        return untrained_twin(_loaded)


def untrained_run(traced: Trace) -> Trace:
    """The same tokens through it. Not kept, as a trace would keep its model."""
    from lab.models.trace import trace_encoding

    untrained = untrained_twin(traced.model)
    with TURNS:
        return trace_encoding(untrained, traced.encoding)


def weights_of(loaded: LoadedModel) -> str:
    """What tells models apart: toys share an id but not their weights; two sums do."""
    known = _weights.get(loaded)
    if known is None:
        w = loaded.weights
        sums = w.embeddings.token.sum().item(), w.layers[0].w_q.sum().item()
        known = _weights.setdefault(loaded, f"{loaded.id} {sums}")
    return known


def identity(traced: Trace) -> str:
    """What tells runs apart: the weights, the tokens, the changes.

    A digest, made once a trace: every cache on a page is asked by it, and Streamlit takes a tuple of
    tokens apart one by one each time.
    """
    known = _identities.get(traced)
    if known is None:
        encoding = traced.encoding
        parts = encoding.token_ids, encoding.segment_ids, encoding.padding, _as_text(traced.interventions)
        digest = hashlib.sha256(repr(parts).encode()).hexdigest()
        known = _identities.setdefault(traced, f"{weights_of(traced.model)} {digest}")
    return known


def _as_text(changes: Interventions) -> str:
    """Changes of a run as a key: Streamlit would take the object apart, field by field, at every rerun."""
    patches = [(each.layer, each.token, each.vector.tolist()) for each in changes.patches]
    return f"{replace(changes, patches=())} {patches}"


def proof(traced: Trace) -> Proof:
    """The proof of ``traced``, made once for all sessions that look at the same tokens."""
    return _proof(traced, identity(traced))


@st.cache_resource(max_entries=64, show_spinner=False)
def _proof(_traced: Trace, run_id: str) -> Proof:
    from lab.models.proof import prove

    before = len(sys.modules)
    with TURNS:
        proven = prove(_traced.model, _traced)
    if len(sys.modules) > before:  # a family's first proof imports its classes
        settle()
    return proven


def settle() -> None:
    """Take what has been imported out of the garbage collector's sight.

    Python looks through all it can see every now and then, and everybody waits; the libraries' half a million
    objects are not worth that look.
    To be called when something large has been imported, not more often: cycles frozen with it stay for ever.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(max_entries=32, show_spinner=False)
def token_steps(model_id: str, text: str) -> TokenizationSteps:
    """One text through a model's tokenizer, step by step.

    Raises ValueError for a tokenizer that the lab cannot explain.
    """
    from lab.text.tokenizers.steps import tokenization_steps

    loaded = model(model_id)
    with TURNS:
        return tokenization_steps(loaded.tokenizer, text)
