"""A toy's runs."""

from __future__ import annotations

from lab.models.loading import LoadedModel
from lab.models.memo import once
from lab.models.trace import Trace, trace


@once
def number_run(toy: LoadedModel, sentence: str, pair: str | None = None) -> Trace:
    """One number sentence through a toy, or two as a pair, by the same pass as any other text.

    It keeps the toy, which is small, until it has to make room.
    """
    return trace(toy, sentence, pair)
