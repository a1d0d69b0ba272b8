"""Minimal pairs: a sentence with a blank, the form that fits and the form that does not.

After Linzen et al. 2016, Marvin & Linzen 2018 and Goldberg 2019, with templates of our own. Each template draws words
and makes a singular and a plural sentence, so a model that always prefers one form is right in half of the sentences.
The ``other`` sentence of a pair differs only in the deciding word, and the other form fits it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lab.analysis.words.masking import hide
from lab.evidence.lexicon import TEMPLATES, Forms, Template
from lab.models.encoding import Encoding, TextError, encode

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel

BLANK = "_"
_SHARED = ("noun", "verb")
# The most sentences to draw for each wanted pair; if few of the sentences fit the vocabulary, there are fewer pairs.
_DRAWS = 25


@dataclass(frozen=True)
class MinimalPair:
    """A sentence with a :data:`BLANK`, and two forms that could fill the blank.

    Attributes
    ----------
    template
        The id of the template.
    text, other
        The sentence, and the same sentence with the other number (singular or plural) of the deciding word.
    good, bad
        The form that fits ``text`` and the form that fits ``other``.
    half
        0 or 1: choices are made on one half and reported on the other. The halves share no noun except attractors.
    noun, verb
        The noun and the verb that the pair shares with other pairs, in the singular.
    """

    template: str
    text: str
    other: str
    good: str
    bad: str
    half: int
    noun: str = ""
    verb: str = ""


@dataclass(frozen=True)
class AskedPair:
    """A pair as a model reads it.

    Attributes
    ----------
    pair
        The pair.
    encoding, other
        ``text`` and ``other`` of the pair, of equal length: with a mask token in the blank, or, for a causal model,
        only the tokens before the blank.
    place
        The token (from 0) at which the model predicts: the mask, or the last token.
    deciding
        The token in which the two encodings differ.
    good, bad
        Ids of the two forms.
    """

    pair: MinimalPair
    encoding: Encoding
    other: Encoding
    place: int
    deciding: int
    good: int
    bad: int


@dataclass(frozen=True)
class PairSet:
    """The pairs on which a model can be tested.

    Attributes
    ----------
    pairs
        The pairs in the order of the templates.
    drawn, dropped
        By template: the number of sentences drawn, and the number of those dropped because one of their words is not a
        single piece of the model's vocabulary.
    refused
        By template: the reason why the model cannot be tested on it at all.
    """

    pairs: tuple[AskedPair, ...]
    drawn: dict[str, int]
    dropped: dict[str, int]
    refused: dict[str, str]

    def of(self, template: str) -> tuple[AskedPair, ...]:
        """Return the pairs of one template."""
        return tuple(each for each in self.pairs if each.pair.template == template)

    def half(self, half: int) -> tuple[AskedPair, ...]:
        """Return the pairs of one half, 0 or 1."""
        return tuple(each for each in self.pairs if each.pair.half == half)


def minimal_pairs(
    model: LoadedModel, each: int = 80, seed: int = 0, templates: Sequence[Template] = TEMPLATES
) -> PairSet:
    """Draw ``each`` pairs of every template (480 in all, 400 for a causal model), or fewer if the vocabulary lacks
    words.

    A template's pairs depend only on the seed and the vocabulary, not on the other templates.

    Raises
    ------
    ValueError
        If the model predicts no words.
    """
    can_be_asked(model)
    kept: list[AskedPair] = []
    drawn, dropped, refused = {}, {}, {}
    for template in templates:
        if model.config.causal and template.decided_after:
            refused[template.id] = (
                f"{model.id} reads from left to right, and the word that decides stands after the blank."
            )
            continue
        rng = np.random.default_rng((seed, TEMPLATES.index(template)))
        own, dropped[template.id] = _of_template(model, draw(template, rng), each)
        drawn[template.id] = len(own) + dropped[template.id]
        kept += own
    return PairSet(tuple(kept), drawn, dropped, refused)


def _of_template(model: LoadedModel, drawn: Iterable[Sequence[MinimalPair]], most: int) -> tuple[list[AskedPair], int]:
    """Return at most ``most`` pairs, and the number of dropped pairs.

    Of pairs that a causal model reads alike, one is kept.
    """
    own: dict[tuple[tuple[int, ...], int], AskedPair] = {}
    dropped = 0
    for both in islice(drawn, _DRAWS * most):
        if len(own) + len(both) > most:
            break
        asked = [found for pair in both if (found := ask(model, pair)) is not None]
        if len(asked) < len(both):
            dropped += len(both)
        else:
            own |= {(each.encoding.token_ids, each.good): each for each in asked}
    return list(own.values()), dropped


def can_be_asked(model: LoadedModel) -> None:
    """Raise ValueError, with the reason in a sentence, if the model cannot predict a word in a sentence."""
    if model.no_words:
        raise ValueError(model.no_words)


def draw(template: Template, rng: np.random.Generator) -> Iterator[tuple[MinimalPair, MinimalPair]]:
    """Yield every choice of words once, in random order, as a singular and a plural sentence."""
    names, options = zip(*template.slots.items(), strict=True)
    sizes = [len(each) for each in options]
    for number in rng.permutation(prod(sizes)):
        at = np.unravel_index(number, sizes)
        words = {name: option[place] for name, option, place in zip(names, options, at, strict=True)}
        if len(set(words.values())) < len(words):
            continue  # such as "the boy near the boys", where both nouns are the same word
        half = int(at[names.index("noun")]) % 2
        yield _pair(template, words, 0, half), _pair(template, words, 1, half)


def _pair(template: Template, words: Mapping[str, Forms], number: int, half: int) -> MinimalPair:
    slot, start = template.forms
    forms = words[slot][start : start + 2]
    others = {name: each[0] if len(each) == 1 else each[1 - number] for name, each in words.items()}

    def sentence(deciding: int) -> str:
        own = {template.deciding: words[template.deciding][deciding], "blank": BLANK, "tail": words["verb"][-1]}
        return template.frame.format_map(others | own)

    good, bad = forms[number], forms[1 - number]
    shared = words["noun"][0], words["verb"][0]
    return MinimalPair(template.id, sentence(number), sentence(1 - number), good, bad, half, *shared)


def shared_words(pairs: Sequence[MinimalPair]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The number of each pair's noun and of its verb, (pairs,) from 0; pairs with the same word have the same number.

    The two arrays are the factors of :func:`lab.evidence.intervals.crossed_draws`.
    """
    nouns, verbs = (np.unique([getattr(pair, name) for pair in pairs], return_inverse=True)[1] for name in _SHARED)
    return nouns, verbs


def ask(model: LoadedModel, pair: MinimalPair) -> AskedPair | None:
    """Return the pair as ``model`` reads it; None unless each of its words is one piece of the vocabulary.

    For a causal model, also return None if the deciding word comes after the blank.
    """
    found = []
    for text, form in ((pair.text, pair.good), (pair.text, pair.bad), (pair.other, pair.good)):
        whole = _in_pieces(model, text.replace(BLANK, form))
        if whole is None:
            return None
        found.append(whole)
    good, bad, other = found
    blanks, decides = _differences(good, bad), _differences(good, other)
    if len(blanks) != 1 or len(decides) != 1:
        return None
    place, deciding = blanks[0], decides[0]
    if model.config.causal:
        if deciding > place:
            return None
        asked, encoding, counterpart = place - 1, before(good, place), before(other, place)
    else:
        mask = model.mask
        assert mask is not None  # can_be_asked saw to it
        asked, encoding, counterpart = place, hide(good, [place], mask), hide(other, [place], mask)
    return AskedPair(pair, encoding, counterpart, asked, deciding, good.token_ids[place], bad.token_ids[place])


def _in_pieces(model: LoadedModel, text: str) -> Encoding | None:
    """Return the text as the model reads it; None unless each word of it is one known piece."""
    try:
        found = encode(model.tokenizer, model.config, text)
    except TextError:
        return None
    words = [word for word, special in zip(found.word_ids, found.special, strict=True) if not special]
    unknown = model.unknown
    whole = len(set(words)) == len(words) and not found.cut
    return found if whole and (unknown is None or unknown not in found.token_ids) else None


def _differences(one: Encoding, two: Encoding) -> list[int]:
    """Return the places at which two encodings of equal length differ; none if their lengths differ."""
    if len(one) != len(two):
        return []
    return [at for at, (a, b) in enumerate(zip(one.token_ids, two.token_ids, strict=True)) if a != b]


def before(encoding: Encoding, place: int) -> Encoding:
    """Return the tokens before ``place``."""
    return replace(
        encoding,
        tokens=encoding.tokens[:place],
        token_ids=encoding.token_ids[:place],
        segment_ids=encoding.segment_ids[:place],
        offsets=encoding.offsets[:place],
        word_ids=encoding.word_ids[:place],
        in_pair=encoding.in_pair[:place],
        special=encoding.special[:place],
    )


def encodings(pairs: Sequence[AskedPair]) -> list[Encoding]:
    """Return the encoding of each pair."""
    return [each.encoding for each in pairs]
