"""The learner's own pair: two sentences with a blank, two words that compete in it, and the recovery by a patch.

Pairs that cannot be patched are refused with a reason.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.words.masking import hide
from lab.analysis.words.predictions import word_of
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.course.words import escaped, head_name, quoted, signed
from lab.evidence.pairs import BLANK, before
from lab.evidence.shipped import model_hash
from lab.experiments.patching.claims import NEEDED, SUFFICES, carried
from lab.experiments.patching.measure import MEASUREMENT
from lab.experiments.patching.patches import Contrast, Maps, NotPatchable, Patching, patching, plain_parts
from lab.figures import choices
from lab.models.batches import ProgressFunction, unwatched
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.cores import one_core
from lab.models.encoding import Encoding, encode
from lab.models.loading import LoadedModel
from lab.ui.drawing import draw
from lab.ui.long_work import offer
from lab.ui.parameters import BAD_WORD, CLEAN_TEXT, CORRUPT_TEXT, GOOD_WORD, PATCH, PATCH_WAY

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


DIRECTION = {choices.SUFFICES: SUFFICES, choices.NEEDED: NEEDED}
_HEADS = (choices.HEADS_WHERE_ASKED, choices.HEADS_WHERE_DIFFERENT)
_SITE = {choices.RESIDUAL_STREAM: "residual", choices.ATTENTION_OUTPUT: "attention", choices.FFN_OUTPUT: "ffn"}
_PALE = 0.5  # the end of the colours of a map of heads, if no head carries more
_FIELDS = (CLEAN_TEXT, CORRUPT_TEXT, GOOD_WORD, BAD_WORD)
# The course's pair, which a visitor need not ask for; only the default model patches it in two seconds.
COURSE = OwnPair(*(field.default for field in _FIELDS))


def show_own(model: LoadedModel) -> None:
    """Draw the fields of a pair, and the map of the sentences, or the reason why they cannot be patched."""
    st.markdown(
        "**Patch a pair of your own.** Write two sentences that differ in the deciding word, each with one blank `_`, "
        "and two words for the blank. Both must have the same number of tokens."
    )
    left, right = st.columns([3, 1])
    with left:
        CLEAN_TEXT.line("Clean: the first word fits")
        CORRUPT_TEXT.line("Corrupt: the second word fits")
    with right:
        GOOD_WORD.line("First word")
        BAD_WORD.line("Second word")
    asked = OwnPair(*(field.chosen() for field in _FIELDS))
    try:
        two = own_contrast(model, asked)
        with one_core():
            _, _, (clean, corrupt) = plain_parts(model, two)
    except NotPatchable as reason:
        st.info(escaped(str(reason)), icon=":material/edit:")
        return
    if own_known(model, two) is None and asked == COURSE and model.id == DEFAULT_MODEL:
        with st.spinner("Patching France and Russia …"), one_core():
            own_patching(model, two)
    elif own_known(model, two) is None:
        key = (
            MEASUREMENT.id,
            model_hash(model),
            two.clean.token_ids,
            two.corrupt.token_ids,
            two.place,
            two.good,
            two.bad,
        )
        help = "The lab patches every part of every layer at every token, in both directions. This takes a few seconds."
        offer(key, "Patch these two sentences", partial(own_patching, model, two), help, brief=True)
    if (found := own_known(model, two)) is not None:
        _show_patched(model, asked, two, found, (clean, corrupt))


def _show_patched(
    model: LoadedModel, asked: OwnPair, two: Contrast, found: Patching, both: tuple[float, float]
) -> None:
    good, bad = (quoted(word.strip()) for word in (asked.good, asked.bad))
    with st.container(horizontal=True, vertical_alignment="bottom"):
        part, way = PATCH.choose("What is patched", width=320), PATCH_WAY.choose("Which way")
    draw(partial(own_map, model, asked, part, way), "own-patches")
    other = _surprise(good, bad, both)
    st.markdown(
        f"{own_meaning(found, labels(model, two), two.place, way)} The logit of {good} minus that of {bad} is "
        f"{signed(both[0])} in the clean run and {signed(both[1])} in the corrupt one; 1 is the whole "
        f"difference.{other}"
    )


def own_map(model: LoadedModel, own: OwnPair, part: str, way: str) -> Heatmap:
    """Draw the share that patching recovers for two sentences with a blank (_) in which two words compete.

    Raises NotPatchable for a pair that cannot be patched.
    """
    two = own_contrast(model, own)
    maps = carried(own_patching(model, two))[DIRECTION[way]]
    return share_map(maps, part, way, labels(model, two), (differing(two)[0], two.place))


def labels(model: LoadedModel, two: Contrast) -> tuple[str, ...]:
    """The tokens of the clean sentence; where the corrupt sentence differs, both tokens."""
    both = zip(two.clean.token_ids, two.corrupt.token_ids, strict=True)
    words = ((word_of(model.tokenizer, one), word_of(model.tokenizer, other)) for one, other in both)
    return tuple(one if one == other else f"{one}/{other}" for one, other in words)


def share_map(maps: Maps, part: str, way: str, tokens: Sequence[str], places: tuple[int, int]) -> Heatmap:
    title = f"{part}: {way.lower()}"
    if part in _HEADS:
        at = places[1] if part == choices.HEADS_WHERE_ASKED else places[0]
        values, columns = maps.heads[..., at], Axis(f"Head at {tokens[at]}", _numbers(maps.heads.shape[1]))
    else:
        values, columns = getattr(maps, _SITE[part]), Axis("Token", list(tokens))
    # A single head carries less, but an effect near 0 is pale in any map.
    most = min(1.0, max(_PALE, float(np.abs(values).max()))) if part in _HEADS else 1.0
    rows = _numbers(len(values)) if part != choices.RESIDUAL_STREAM else ["embeddings", *_numbers(len(values) - 1)]
    return heatmap(
        values, (Axis("Layer", rows), columns), Scale("Carried", (-most, most), ".2f", signed=True), title=title
    )


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def own_meaning(found: Patching, labels: tuple[str, ...], asked: int, way: str) -> str:
    """Name the token of one pair that carries most after layer 1, and the layer from which the asked one does."""
    maps: Maps = carried(found)[DIRECTION[way]]
    stream, does = maps.residual, "recovers" if DIRECTION[way] == SUFFICES else "costs"
    first, there = int(stream[1].argmax()), stream[1:].argmax(axis=1) == asked
    layer, head, token = (int(at) for at in np.unravel_index(int(maps.heads.argmax()), maps.heads.shape))
    return (
        f"After layer 1, {quoted(labels[first])} alone {does} the most, {stream[1, first]:.0%} of the difference. "
        f"{_taken_over(there, does)} Among the single heads, {head_name((layer, head))} at {quoted(labels[token])} "
        f"{does} the most, {maps.heads[layer, head, token]:.0%}."
    )


def _surprise(good: str, bad: str, both: tuple[float, float]) -> str:
    """Say if a word does not fit where the learner says it does, by the logit differences of the two runs."""
    if both[0] < both[1]:
        return f" For this model, {good} is more likely in the corrupt sentence."
    if both[0] < 0:
        return f" For this model, {bad} is more likely than {good} in both sentences."
    return f" For this model, {good} is more likely than {bad} in both sentences." if both[1] > 0 else ""


def _taken_over(there: NDArray[np.bool_], does: str) -> str:
    """Say from which layer on the asked token carries most; ``there`` is True for each layer after which it does."""
    since = len(there) - int(np.cumprod(there[::-1]).sum()) + 1
    if since >= len(there):
        return f"The asked token {does} the most only after the last layer, where it must do so by construction."
    return f"From layer {since} on, the asked token {does} the most."


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
