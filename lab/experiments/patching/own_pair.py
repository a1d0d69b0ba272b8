"""Patch two sentences and two words that the learner typed; pairs that cannot be patched are refused with a reason."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass
from threading import Lock
from typing import TYPE_CHECKING

from lab.analysis.words.masking import hide
from lab.evidence.pairs import BLANK, before
from lab.evidence.shipped import model_hash
from lab.experiments.patching.patches import Contrast, NotPatchable, Patching, patching
from lab.models.batches import ProgressFunction, unwatched
from lab.models.encoding import Encoding, encode

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

# The most tokens of a sentence; the time of a pair grows with the square of its tokens.
MOST = 32
_KEPT = 64  # the most results that are kept, of some 40 kB each
_FOUND: OrderedDict[tuple[object, ...], Patching] = OrderedDict()
_LOCK = Lock()


@dataclass(frozen=True)
class OwnPair:
    """Two sentences with a :data:`lab.evidence.pairs.BLANK` each, and the words that compete in it, as typed."""

    clean: str
    corrupt: str
    good: str
    bad: str


def own_contrast(model: LoadedModel, own: OwnPair) -> Contrast:
    """Return the pair as a contrast of two runs of ``model``.

    Raises
    ------
    NotPatchable
        With a sentence for the learner, if ``model`` cannot run this pair.
    """
    good, bad = _word(own.good, "first"), _word(own.bad, "second")
    if good == bad:
        raise NotPatchable("Both words are the same. Type two that compete.")
    encoding, place = _read(model, own.clean, good, "first")
    other, there = _read(model, own.corrupt, good, "second")
    rival, _ = _read(model, own.clean, bad, "first")
    ids = encoding.token_ids[place], rival.token_ids[place]
    if ids[0] == ids[1]:
        raise NotPatchable(f"{model.id} reads “{good}” and “{bad}” alike, so they cannot compete.")
    if model.config.causal:
        if place == 0:
            raise NotPatchable(f"{model.id} reads from left to right, and nothing is before the blank.")
        asked, two = place - 1, (before(encoding, place), before(other, there))
    else:
        mask = model.mask
        if mask is None:
            raise NotPatchable(model.no_words)
        asked, two = place, (hide(encoding, [place], mask), hide(other, [there], mask))
    _alike(model, two, place == there)
    return Contrast(*two, asked, *ids)


def _word(word: str, which: str) -> str:
    word = word.strip()
    if not word:
        raise NotPatchable(f"The {which} word is missing. Two words compete in the blank.")
    if len(word.split()) > 1:
        raise NotPatchable(f"“{word}” is more than one word. One word competes with one.")
    return word


def _read(model: LoadedModel, sentence: str, word: str, which: str) -> tuple[Encoding, int]:
    """Return a sentence with a word in its blank, and the place (from 0) of that word's token."""
    blanks = sentence.count(BLANK)
    if blanks != 1:
        has = f"it has {blanks}" if blanks else "it has none"
        raise NotPatchable(f"The {which} sentence needs one blank, written {BLANK}; {has}.")
    start = sentence.index(BLANK)
    found = encode(model.tokenizer, model.config, sentence.replace(BLANK, word))
    most = min(MOST, model.config.max_tokens)
    if len(found) > most or found.cut:
        raise NotPatchable(f"The {which} sentence has more than {most} tokens. Shorten it.")
    end = start + len(word)
    inside = [
        at for at, (low, high) in enumerate(found.offsets) if not found.special[at] and low < end and high > start
    ]
    (low, high) = found.offsets[inside[0]] if inside else (0, 0)
    # The word must be one token; a byte-level token may begin with the space before its word.
    if len(inside) != 1 or low < start - 1 or high > end:
        pieces = f"{len(inside)} tokens" if len(inside) != 1 else "part of a longer token"
        raise NotPatchable(
            f"“{word}” is {pieces} in the {which} sentence for {model.id}. Each of the two competing words must be one "
            "token."
        )
    if found.token_ids[inside[0]] == model.unknown:
        raise NotPatchable(f"“{word}” is not in the vocabulary of {model.id}.")
    return found, inside[0]


def _alike(model: LoadedModel, two: tuple[Encoding, Encoding], in_place: bool) -> None:
    """Raise NotPatchable unless both sentences have equally many tokens, the blank in one place, and a difference."""
    lengths = len(two[0]), len(two[1])
    where = " before the blank" if model.config.causal else ""
    if lengths[0] != lengths[1]:
        raise NotPatchable(
            f"The first sentence has {lengths[0]} tokens{where} and the second {lengths[1]}. A patch puts a token’s "
            "vector in the place of another’s, so both need the same number of tokens."
        )
    if not in_place:
        raise NotPatchable("The blank is another token in the second sentence. It must be in the same place.")
    if two[0].token_ids == two[1].token_ids:
        raise NotPatchable(f"{model.id} reads the same{where} in both sentences. Change a word of one of them.")


def differing(two: Contrast) -> tuple[int, ...]:
    """Return the tokens (from 0) in which the two sentences differ."""
    both = zip(two.clean.token_ids, two.corrupt.token_ids, strict=True)
    return tuple(at for at, (one, other) in enumerate(both) if one != other)


def own_known(model: LoadedModel, two: Contrast) -> Patching | None:
    """Return the result for these two sentences, if this process has it; the last 64 results are kept."""
    return _FOUND.get(_key(model, two))


def own_patching(model: LoadedModel, two: Contrast, progress: ProgressFunction = unwatched) -> Patching:
    """Call :func:`lab.experiments.patching.patches.patching`, once for the same sentences and weights."""
    found = own_known(model, two)
    if found is None:
        found = patching(model, two, progress)
        with _LOCK:
            _FOUND[_key(model, two)] = found
            while len(_FOUND) > _KEPT:
                _FOUND.popitem(last=False)
    return found


def _key(model: LoadedModel, two: Contrast) -> tuple[object, ...]:
    return model_hash(model), two.clean.token_ids, two.corrupt.token_ids, two.place, two.good, two.bad
