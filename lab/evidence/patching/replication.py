"""Where is the deciding information kept? The claims of Meng et al. 2022 about facts, tested on a subject's number.

Minimal pairs of one template ("The boys near the house are old.") are patched part by part
(:mod:`lab.evidence.patching.patches`).

Layers are chosen on half A of the pairs, and all results are reported on half B, which has other nouns.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.heads.named import untrained_twin
from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.intervals import drawn_means, spread
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.needed_heads.heads import differences
from lab.evidence.pairs import AskedPair, can_be_asked, minimal_pairs, shared_words
from lab.evidence.patching.claims import (
    DIRECTIONS,
    NEEDED,
    Chosen,
    carried,
    choose,
    compared,
    early,
    mean,
)
from lab.evidence.patching.patches import SMALL, Maps, NotPatchable, contrast
from lab.evidence.patching.path import Relay, relayed
from lab.evidence.patching.result import Carried, PairRow, PatchingTest
from lab.evidence.patching.tables import from_tables
from lab.evidence.patching.templates import TemplatePatching, patch_template, stacked
from lab.evidence.verdicts import FEW
from lab.models.batches import Progress, unwatched
from lab.models.memo import once

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

EXPERIMENT = "patching"
# This template has tokens between the deciding noun and the blank, among them another noun. Without that noun, each
# pair would be another pair with its sentences exchanged, and both directions of patching would give the same numbers.
TEMPLATE = next(each for each in TEMPLATES if each.id == "prepositional")
PAIRS = 160
# The names of the tokens in the template's slots.
_SLOTS = {"noun": "subject", "preposition": "preposition", "attractor": "other noun", "tail": "last word"}
_TINY = 1e-6  # the size, in logits, below which a difference is only rounding


@once
def untestable(model: LoadedModel) -> str:
    """Return a sentence that says why a model cannot be tested; "" if the model can be tested."""
    try:
        can_be_asked(model)
        early(model.config.layers)
        asked = minimal_pairs(model, PAIRS, templates=[TEMPLATE])
    except ValueError as reason:
        return str(reason)
    if not asked.half(0) or len(asked.half(1)) < FEW:
        return f"Its vocabulary has too few of the words as one piece: {len(asked.pairs)} pairs can be made of them."
    return ""


def replicate(model: LoadedModel, progress: Progress = unwatched) -> PatchingTest:
    """Run the experiment on ``model`` and its untrained twin: a minute or two for a small model.

    ``progress`` receives the share done, 0 to 1; an exception it raises ends the run. Raises ValueError if
    :func:`untestable` has a reason, and NotPatchable if no pair of a half can be patched.
    """
    asked = minimal_pairs(model, PAIRS, templates=[TEMPLATE]).pairs
    own = patch_template(model, asked, lambda done: progress(0.45 * done))
    twin = _twin(model, asked, lambda done: progress(0.45 * (1 + done)))
    return measured(model, own, twin, lambda done: progress(0.9 + 0.1 * done))


def measured(
    model: LoadedModel, own: TemplatePatching, twin: tuple[PairRow, ...], progress: Progress = unwatched
) -> PatchingTest:
    """Build the result from patched pairs; this patches only the paths, in the pairs of half B."""
    subject, asked = own.pairs[0].deciding, own.pairs[0].place
    halves = np.array([each.pair.half for each in own.pairs])
    if len(set(halves.tolist())) < 2:
        raise NotPatchable("In one half of these pairs no two sentences differ enough to be patched.")
    b = [each for each in own.pairs if each.pair.half]
    words = shared_words([each.pair for each in b])
    shares = [carried(each) for each in own.patchings]
    by_direction = {
        direction: _carried([each[direction] for each in shares], halves, words) for direction in DIRECTIONS
    }
    chosen = {direction: choose(each.on_a, subject, asked) for direction, each in by_direction.items()}
    relays = {}
    for number, (direction, layers) in enumerate(chosen.items(), start=1):
        relays[direction] = _relay(model, b, layers.asked.attention, direction, words)
        progress(number / len(chosen))
    estimated = mean([found.estimated_into_corrupt for found, b in zip(own.patchings, halves, strict=True) if b])
    refused = tuple((each.pair, why) for each, why in own.refused)
    return PatchingTest(
        _rows(own, chosen), refused, names_of(own.pairs[0]), subject, asked, by_direction, estimated, relays, twin
    )


def _rows(own: TemplatePatching, chosen: Mapping[str, Chosen]) -> tuple[PairRow, ...]:
    """Return the pairs with the numbers of their claims."""
    at = own.pairs[0].deciding, own.pairs[0].place
    return tuple(
        PairRow(each.pair, found.clean, found.corrupt, compared(found, chosen, *at))
        for each, found in zip(own.pairs, own.patchings, strict=True)
    )


def _carried(shares: Sequence[Maps], halves: Values, words: Sequence[NDArray[np.int64]]) -> Carried:
    """The means over both halves, and the intervals for B by a bootstrap over the ``words`` that its pairs share."""
    every = stacked(shares)
    a, b = (Maps(*(getattr(every, f.name)[halves == half] for f in fields(Maps))) for half in (0, 1))
    ends = [spread(drawn_means(getattr(b, f.name), *words)) for f in fields(Maps)]
    on_a, on_b = (Maps(*(getattr(each, f.name).mean(0) for f in fields(Maps))) for each in (a, b))
    return Carried(on_a, on_b, Maps(*(each[0] for each in ends)), Maps(*(each[1] for each in ends)))


def _relay(
    model: LoadedModel, pairs: Sequence[AskedPair], layer: int, direction: str, words: Sequence[NDArray[np.int64]]
) -> Relay:
    """Measure the relay of the attention of ``layer`` at the asked token, with networks held, over all pairs."""
    each = np.stack([relayed(model, contrast(pair), layer, direction == NEEDED, SMALL) for pair in pairs])
    low, high = spread(drawn_means(each, *words))
    return Relay(layer, each.mean(axis=0), low, high)


def _twin(model: LoadedModel, asked: Sequence[AskedPair], progress: Progress) -> tuple[PairRow, ...]:
    """Patch the pairs of half B in the untrained twin, with layers chosen on half A; no pairs if one half has none.

    The twin's two runs differ little, so only the half of all pairs with the largest differences is patched.
    """
    twin = untrained_twin(model)
    turned = [AskedPair(p.pair, p.other, p.encoding, p.place, p.deciding, p.good, p.bad) for p in asked]
    gaps = np.abs(differences(twin, asked) - differences(twin, turned))
    found = patch_template(twin, asked, progress, least=max(float(np.median(gaps)), _TINY))
    halves = [each.pair.half for each in found.pairs]
    if not (0 in halves and 1 in halves):
        return ()
    at = asked[0].deciding, asked[0].place
    a = [carried(each) for each, half in zip(found.patchings, halves, strict=True) if half == 0]
    chosen = {direction: choose(mean([each[direction] for each in a]), *at) for direction in DIRECTIONS}
    return tuple(row for row in _rows(found, chosen) if row.pair.half == 1)


def names_of(asked: AskedPair) -> tuple[str, ...]:
    """Return a name for each token that fits all pairs: its slot in the template, or its word.

    Each word is one token.
    """
    words = iter(re.findall(r"\w+|\.", TEMPLATE.frame))
    both = zip(asked.encoding.tokens, asked.encoding.special, strict=True)
    names = ((token, None if special else next(words)) for token, special in both)
    return tuple(token if word in (None, "blank") else _SLOTS.get(word, word) for token, word in names)


def data_hash() -> str:
    """Hash of everything but the model's vocabulary that decides the pairs: template, words and number of pairs."""
    return hashlib.sha256(repr((TEMPLATE, PAIRS)).encode()).hexdigest()


RESULTS = shipped.Results(EXPERIMENT, replicate, from_tables, data_hash)
known, result, again = RESULTS.known, RESULTS.result, RESULTS.again
