"""Hide words: find the tokens that can be hidden, and make encodings with hidden tokens."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from lab.models.encoding import Encoding
from lab.models.memo import once
from lab.models.trace import Trace, trace_encoding


def is_hidden(trace: Trace, place: int) -> bool:
    """Return whether the token at ``place`` is a mask that hides a word."""
    mask = trace.model.mask
    return mask is not None and trace.token_ids[place] == mask[1]


def maskable(encoding: Encoding, mask_id: int) -> tuple[int, ...]:
    """Return the places that can be hidden: all tokens that are neither special nor already hidden."""
    return tuple(i for i, token_id in enumerate(encoding.token_ids) if not encoding.special[i] and token_id != mask_id)


def typed_masks(encoding: Encoding, mask_id: int) -> tuple[int, ...]:
    """Return the places where the learner typed the mask token."""
    return tuple(i for i, token_id in enumerate(encoding.token_ids) if token_id == mask_id)


def whole_words(encoding: Encoding, places: Iterable[int]) -> tuple[int, ...]:
    """Return the places in ``places`` whose token is a whole word of letters, not a piece of a longer word."""
    pieces: dict[tuple[bool, int | None], int] = {}
    keys = list(zip(encoding.in_pair, encoding.word_ids, strict=True))
    for key in keys:
        pieces[key] = pieces.get(key, 0) + 1
    return tuple(
        i for i in places if keys[i][1] is not None and pieces[keys[i]] == 1 and _spelling(encoding, i).isalpha()
    )


def _spelling(encoding: Encoding, place: int) -> str:
    start, end = encoding.offsets[place]
    text = encoding.pair if encoding.in_pair[place] and encoding.pair else encoding.text
    return text[start:end].strip()


def place_to_start(encoding: Encoding, mask_id: int) -> tuple[int, ...]:
    """Return the place to hide by default: the last whole word, or no place if the learner typed a mask."""
    if typed_masks(encoding, mask_id):
        return ()
    offered = maskable(encoding, mask_id)
    return (whole_words(encoding, offered) or offered)[-1:]


def asked_next(encoding: Encoding) -> int:
    """Return the token (from 0) after which to predict the next token by default: the last token.

    After a final full stop, the next token tells little about the model. So if a text ends without a letter or digit,
    the prediction is for its last whole word, with which it can be compared.
    """
    last = len(encoding) - 1
    if any(map(str.isalnum, _spelling(encoding, last))) or encoding.special[last]:
        return last
    words = [place for place in whole_words(encoding, range(1, last)) if not encoding.special[place - 1]]
    return words[-1] - 1 if words else last


def hide(encoding: Encoding, places: Iterable[int], mask: tuple[str, int]) -> Encoding:
    """``encoding`` with the tokens at ``places`` replaced by the mask token.

    Raises IndexError for a place that the encoding does not have.
    """
    tokens, token_ids = list(encoding.tokens), list(encoding.token_ids)
    for place in places:
        if not 0 <= place < len(tokens):
            raise IndexError(f"place {place}: the text has tokens 0 to {len(tokens) - 1}.")
        tokens[place], token_ids[place] = mask
    return replace(encoding, tokens=tuple(tokens), token_ids=tuple(token_ids))


@once
def masked_run(trace: Trace, places: tuple[int, ...]) -> Trace:
    """Return the text of ``trace`` with the tokens at ``places`` hidden. Raises ValueError without a mask token."""
    mask = trace.model.mask
    if mask is None:
        raise ValueError(f"{trace.model.id} has no token that hides another.")
    return trace_encoding(trace.model, hide(trace.encoding, places, mask), trace.interventions)


def asked_run(trace: Trace) -> tuple[Trace, int] | None:
    """Return the default run for a prediction, and the place of the prediction.

    The last word of the text is hidden unless a word is hidden already; a causal model reads the text unchanged. None
    if the model has no mask token or the text has no word.
    """
    if trace.model.config.causal:
        return trace, asked_next(trace.encoding)
    mask = trace.model.mask
    if mask is None:
        return None
    hidden = place_to_start(trace.encoding, mask[1])
    places = (*typed_masks(trace.encoding, mask[1]), *hidden)
    return (masked_run(trace, hidden) if hidden else trace, places[0]) if places else None


def spread(places: Sequence[int], count: int) -> tuple[int, ...]:
    """Return at most ``count`` of ``places``, evenly spread."""
    if len(places) <= count:
        return tuple(places)
    return tuple(places[round(i * (len(places) - 1) / (count - 1))] for i in range(count))
