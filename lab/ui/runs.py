"""Models and runs, shared by all sessions: the one module that wraps Streamlit's caches.

Values computed from a run are kept with the run (:mod:`lab.models.memo`). torch, transformers and tokenizers are
imported inside the functions: the glossary and the cards do not need these libraries.
"""

from __future__ import annotations

import gc
import logging
import os
import sys
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING
from weakref import WeakSet

import streamlit as st

from lab.models.catalogue import (
    CATALOGUE,
    DEFAULT_MODEL,
    EMBEDDED,
    ModelCard,
    ModelUnavailable,
    by_name,
    card,
    is_sound,
    listed,
    ships,
    twin_of,
)
from lab.text.tags.pipeline import PipelineUnavailable, pipeline
from lab.ui import guard

if TYPE_CHECKING:
    from pathlib import Path

    from lab.evidence.notable import Notable
    from lab.models.batches import ProgressFunction
    from lab.models.interventions import Interventions
    from lab.models.loading import LoadedModel
    from lab.models.proof import Proof
    from lab.models.trace import Trace
    from lab.text.tokenizers.explained import TokenizationSteps
    from lab.toy.data import ToyData
    from lab.toy.training import Plan

_LOG = logging.getLogger("lab.models")
_SMALL_TEXT = 200  # characters
_LONG = 128  # after a run of more tokens, memory is given back to the system
_proven: WeakSet[Trace] = WeakSet()
# The jobs of the heads, by model: a minute of work but few numbers, so the jobs of every model are kept.
_head_jobs: dict[str, tuple[Notable, ...]] = {}


def local_models() -> dict[str, Path]:
    """Return the checkpoint folders that the operator offers, by their names."""
    return by_name(listed())


def downloads_allowed() -> bool:
    """Return whether the operator allows downloads of models: ``LAB_ALLOW_DOWNLOADS=1`` (``make run`` sets it)."""
    return os.environ.get("LAB_ALLOW_DOWNLOADS") == "1"


# Nobody can change a tuple; st.cache_data, which copies what it keeps, would warn in Python without a server.
@st.cache_resource(ttl=30, show_spinner=False)
def model_ids() -> tuple[str, ...]:
    """The models that a visitor may choose: embedded models, models on disk, and the Hub's if downloads are allowed."""
    from lab.models import hub

    def offered(entry: ModelCard) -> bool:
        return ships(entry) or bool(entry.repository and (downloads_allowed() or hub.cached(entry) is not None))

    return tuple(dict.fromkeys((*(entry.id for entry in CATALOGUE if offered(entry)), *local_models())))


def needs_download(model_id: str) -> int | None:
    """Return the megabytes to download before ``model_id`` can run; None if the model is already on this server."""
    from lab.models import hub

    entry = card(model_id)
    if entry is None or entry.repository is None or model_id in local_models() or hub.cached(entry) is not None:
        return None
    return entry.megabytes


def model(model_id: str) -> LoadedModel:
    """Return the model of this id, which may name a twin with random weights (:func:`lab.models.catalogue.twin_id`)."""
    of = twin_of(model_id)
    if of is None:
        return trained(model_id)
    from lab.models.twin import twin

    return twin(trained(of[0]), of[1])


def trained(model_id: str) -> LoadedModel:
    """Load a model once. All models that ship stay in memory, and two other models."""
    return _small_model(model_id) if _ships(model_id) else _large_model(model_id)


def layers(model_id: str) -> int | None:
    """Return how many layers a model has that ships and can be read; None for any other, which may be slow to load."""
    from lab.models.config import CheckpointError

    try:
        return trained(model_id).config.layers if _ships(model_id) else None
    except (ModelUnavailable, CheckpointError):
        return None


def that_ships(but: str = "") -> str | None:
    """Return the default model or, if it is damaged, the first model that ships and can be read.

    Never return the model ``but``.
    """
    from lab.models.config import CheckpointError

    for entry in sorted(filter(ships, CATALOGUE), key=lambda entry: entry.id != DEFAULT_MODEL):
        if entry.id != but:
            with suppress(ModelUnavailable, CheckpointError):
                trained(entry.id)
                return entry.id
    return None


# All models that ship are kept: otherwise a second model would push out the first, although runs still hold it.
@st.cache_resource(show_spinner="Loading the model …")
def _small_model(model_id: str) -> LoadedModel:
    return _loaded(model_id)


@st.cache_resource(max_entries=2, show_spinner="Loading the model …")
def _large_model(model_id: str) -> LoadedModel:
    return _loaded(model_id)


def _loaded(model_id: str) -> LoadedModel:
    import torch

    from lab.models.loading import load_model

    if model_id not in model_ids():
        raise ModelUnavailable(f"This server offers no model called {model_id!r}.")
    if _ships(model_id) and not is_sound(EMBEDDED, model_id):
        reason = f"The weights of {model_id} on this server are damaged; whoever runs it has to install them again."
        _LOG.error(reason)
        raise ModelUnavailable(reason)
    torch.set_num_threads(1)
    folder = local_models().get(model_id)
    loaded = load_model(folder or model_id)
    if loaded.id != model_id:  # the name that a folder shares with others is longer here
        loaded = replace(loaded, id=model_id, made=partial(load_model, model_id))
    settle()
    return loaded


def readable(wanted: str) -> str | None:
    """Return the model ``wanted`` if this server offers and can read it, else another model that ships, or None."""
    from lab.models.config import CheckpointError

    try:
        model(wanted)
    except (ModelUnavailable, CheckpointError):
        return that_ships(wanted)
    return wanted


def head_jobs(loaded: LoadedModel) -> tuple[Notable, ...] | None:
    """The jobs of a model's heads, which ship with the model or come from :func:`measure_heads`; None if unknown."""
    from lab.evidence.notable import shipped

    return shipped(loaded) or _head_jobs.get(loaded.id)


def measure_heads(loaded: LoadedModel, progress: ProgressFunction) -> None:
    """Measure the jobs of a model's heads, for all visits.

    ``progress`` receives the share done, 0 to 1; an exception it raises ends the measuring.
    """
    from lab.evidence.notable import measured

    _head_jobs[loaded.id] = measured(loaded, progress=progress)


def run(model_id: str, text: str, pair: str, changes: Interventions) -> Trace:
    """Run one text through one model. Raises TextError when there is nothing to read."""
    of, kept = twin_of(model_id), _large_run
    if of is not None and not _ships(of[0]):
        kept = _large_twin_run
    elif _ships(model_id) and len(text) + len(pair) <= _SMALL_TEXT:
        # Enough runs for the sentences of a class: a run of 32 tokens through a model that ships keeps 0.3 MB.
        kept = _small_run
    return kept(model_id, text, pair, _as_text(changes), changes)


def _ships(model_id: str) -> bool:
    entry = card(model_id)
    return entry is not None and ships(entry)


@st.cache_resource(max_entries=48, show_spinner=False)
def _small_run(model_id: str, text: str, pair: str, changed: str, _changes: Interventions) -> Trace:
    return _run(model_id, text, pair, _changes)


# A run of 512 tokens keeps 5.5 MB through a model that ships, 20 MB through bert-base; its layers are kept elsewhere.
@st.cache_resource(max_entries=8, show_spinner=False)
def _large_run(model_id: str, text: str, pair: str, changed: str, _changes: Interventions) -> Trace:
    return _run(model_id, text, pair, _changes)


# Only one run is kept, because it keeps its twin, which is as large as the model.
@st.cache_resource(max_entries=1, show_spinner="Drawing random weights …")
def _large_twin_run(model_id: str, text: str, pair: str, changed: str, _changes: Interventions) -> Trace:
    return _run(model_id, text, pair, _changes)


def _run(model_id: str, text: str, pair: str, changes: Interventions) -> Trace:
    from lab.models.cores import one_core
    from lab.models.trace import trace

    loaded = model(model_id)
    with one_core():
        return trace(loaded, text, pair or None, changes)


def _as_text(changes: Interventions) -> str:
    """Return the changes of a run as a key: Streamlit would hash the object field by field, at every rerun."""
    patches = [(each.layer, each.token, each.vector.tolist()) for each in changes.patches]
    return f"{replace(changes, patches=())} {patches}"


def proof(traced: Trace) -> Proof:
    """Return the proof of ``traced``, made once for all visits."""
    from lab.models.proof import proof_of

    before, first = len(sys.modules), traced not in _proven
    proven = proof_of(traced)
    if first and len(traced) > _LONG:
        guard.trim()
    if len(sys.modules) > before:  # a family's first proof imports its classes
        settle()
    _proven.add(traced)
    return proven


def is_proven(traced: Trace) -> bool:
    """Return whether :func:`proof` has already been called for this run, so that it returns at once."""
    return traced in _proven


def settle() -> None:
    """Hide everything imported so far from the garbage collector.

    From time to time, Python looks through all objects that it tracks while everybody waits; Python need not look
    through the half a million objects of the libraries. Call this function only after a large import, because cycles
    that are frozen with the import stay for ever.
    """
    gc.collect()
    gc.freeze()


@st.cache_resource(max_entries=32, show_spinner=False)
def token_steps(model_id: str, text: str) -> TokenizationSteps:
    """One text through a model's tokenizer, step by step.

    Raises ValueError for a tokenizer that the lab cannot explain.
    """
    from lab.models.cores import one_core
    from lab.text.tokenizers.explained import tokenization_steps

    loaded = model(model_id)
    with one_core():
        return tokenization_steps(loaded.tokenizer, text)


def load_tagger() -> None:
    """Load the spaCy pipeline, with a spinner, if it is not loaded yet. Raises PipelineUnavailable."""
    _load_tagger()
    pipeline()


@st.cache_resource(max_entries=1, show_spinner="Loading the tagger …")
def _load_tagger() -> None:
    with suppress(PipelineUnavailable):
        pipeline()
    settle()


@st.cache_resource(max_entries=16, show_spinner=False)
def toy_data(vocabulary: int, length: int, count: int, seed: int) -> ToyData:
    """Return the synthetic sentences of these settings."""
    from lab.toy.data import generate

    return generate(vocabulary, length, count, seed)


@st.cache_resource(max_entries=16, show_spinner=False)
def ruled_data(rule: str, seed: int) -> ToyData:
    """Return the synthetic sentences that follow the rule of this name."""
    from lab.toy.rules import SENTENCES, rule_named, ruled

    return ruled(rule_named(rule), SENTENCES, seed)


@st.cache_resource(max_entries=16, show_spinner=False)
def toy(weights: str, vocabulary: int, length: int, seed: int, heads: int | None = None) -> LoadedModel:
    """Return the random toy, cut into ``heads`` heads if given, or the toy with three heads written by hand."""
    from lab.toy.models import constructed_toy, random_toy, recut

    if weights != "Random":
        return constructed_toy(vocabulary, length)
    drawn = random_toy(vocabulary, length, seed=seed)
    return drawn if heads is None else recut(drawn, heads)


@st.cache_resource(max_entries=16, show_spinner=False)
def pair_toy(vocabulary: int, length: int) -> LoadedModel:
    """Return the toy that was written for two sentences."""
    from lab.toy.letter_pairs import pair_toy as written

    return written(vocabulary, length)


@st.cache_resource(max_entries=16, show_spinner=False)
def untrained_toy(plan: Plan) -> LoadedModel:
    """Return the toy of a plan before its training."""
    from lab.toy.training import untrained

    return untrained(plan)
