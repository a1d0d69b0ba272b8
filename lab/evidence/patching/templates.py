"""Patch many minimal pairs, aligned by token, for means and intervals over pairs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

import numpy as np

from lab.evidence.pairs import AskedPair
from lab.evidence.patching.patches import SMALL, Maps, NotPatchable, Patching, contrast, patching
from lab.models.batches import Progress, unwatched

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True)
class TemplatePatching:
    """The patched pairs, their patches in the same order, and the refused pairs with the reason."""

    pairs: tuple[AskedPair, ...]
    patchings: tuple[Patching, ...]
    refused: tuple[tuple[AskedPair, str], ...]


def patch_template(
    model: LoadedModel, pairs: Sequence[AskedPair], progress: Progress = unwatched, least: float = SMALL
) -> TemplatePatching:
    """Patch every pair of a template. ``progress`` receives the share done, 0 to 1, after each pair.

    A pair whose sentences differ by less than ``least`` logits is refused.

    Raises
    ------
    NotPatchable
        If the pairs have different lengths, so that their tokens do not correspond, or if no pair can be patched.
    """
    lengths = sorted({len(each.encoding) for each in pairs})
    if len(lengths) > 1:
        listed = " and ".join(map(str, lengths))
        raise NotPatchable(f"These sentences have {listed} tokens. A mean by token needs sentences of one length.")
    done: list[tuple[AskedPair, Patching]] = []
    refused: list[tuple[AskedPair, str]] = []
    for number, each in enumerate(pairs, start=1):
        try:
            done.append((each, patching(model, contrast(each), least=least)))
        except NotPatchable as reason:
            refused.append((each, str(reason)))
        progress(number / len(pairs))
    if not done:
        raise NotPatchable("In none of these pairs do the two sentences differ enough to be patched.")
    kept, found = zip(*done, strict=True)
    return TemplatePatching(kept, found, tuple(refused))


def stacked(maps: Sequence[Maps]) -> Maps:
    """Stack the maps of several pairs, with the pairs as the first dimension."""
    return Maps(*(np.stack([getattr(each, f.name) for each in maps]) for f in fields(Maps)))
