"""Runs of a toy."""

from __future__ import annotations

from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, trace


@once
def number_run(toy: LoadedModel, sentence: str, pair: str | None = None) -> Trace:
    """Run a toy on one sentence, or on two as a pair, by the same forward pass as for any other text.

    The cached run keeps the toy, which is small, in memory until the run is dropped.
    """
    return trace(toy, sentence, pair)
