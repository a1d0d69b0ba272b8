"""Learn a vocabulary from a small corpus of made-up words, one merge at a time.

Byte-pair encoding (Sennrich et al. 2016, §3.2), on letters and without the paper's sign for the end of a word.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from tokenizers import Tokenizer

Pair = tuple[str, str]
Pieces = tuple[str, ...]

BPE, WORDPIECE = "BPE", "WordPiece"
UNKNOWN = "[UNK]"
# The number of merges to learn, enough to find every stem and ending and the first whole words.
MERGES = 16
_CONSONANTS, _VOWELS = "bdfgklmnprst", "aeiou"
_STEMS, _ENDINGS, _UNSEEN = 4, 3, 3


@dataclass(frozen=True)
class Corpus:
    """Words with their numbers of occurrences, and the parts of which the words are made.

    Every word is one of ``stems`` and one of ``endings``; ``unseen`` are words of this form that do not occur.
    """

    times: Mapping[str, int]
    stems: tuple[str, ...]
    endings: tuple[str, ...]
    unseen: tuple[str, ...]


def made_up(seed: int) -> Corpus:
    """Combine four stems of three letters with three endings of two letters; a seed always gives the same words.

    Three of the twelve words, all with different stems and endings, are left out. The other words occur 2 to 9 times.
    """
    # PCG64 is named, because numpy may change the generator of default_rng, and a shared link must keep its words.
    generator = np.random.Generator(np.random.PCG64(seed))
    heads, tails = (generator.permutation(list(_CONSONANTS))[:_STEMS] for _ in range(2))
    vowels = generator.choice(list(_VOWELS), _STEMS)
    stems = tuple(map("".join, zip(heads, vowels, tails, strict=True)))
    starts = generator.permutation(list(_VOWELS))[:_ENDINGS]
    endings = tuple(map("".join, zip(starts, generator.permutation(list(_CONSONANTS))[:_ENDINGS], strict=True)))
    stem_of = generator.permutation(_STEMS)[:_UNSEEN]
    unseen = tuple(stems[stem] + ending for stem, ending in zip(stem_of, endings, strict=True))
    words = [stem + ending for stem in stems for ending in endings if stem + ending not in unseen]
    return Corpus(dict(zip(words, generator.integers(2, 10, len(words)).tolist(), strict=True)), stems, endings, unseen)


def merged(pieces: Pieces, pair: Pair) -> Pieces:
    """Join every occurrence of ``pair`` in ``pieces``, from the left."""
    found: list[str] = []
    rest = list(pieces)
    while rest:
        if tuple(rest[:2]) == pair:
            found.append("".join(pair))
            del rest[:2]
        else:
            found.append(rest.pop(0))
    return tuple(found)


def pair_counts(splits: Mapping[Pieces, int]) -> Counter[Pair]:
    """Count how often each pair of neighbours occurs in words with the given numbers of occurrences."""
    counts: Counter[Pair] = Counter()
    for pieces, times in splits.items():
        for pair in pairwise(pieces):
            counts[pair] += times
    return counts


def piece_counts(splits: Mapping[Pieces, int]) -> Counter[str]:
    """Count how often each piece occurs in words with the given numbers of occurrences."""
    counts: Counter[str] = Counter()
    for pieces, times in splits.items():
        for piece in pieces:
            counts[piece] += times
    return counts


@dataclass(frozen=True)
class MergeCandidate:
    """Two neighbours, which occur side by side ``count`` times, and in all ``left`` and ``right`` times."""

    pair: Pair
    count: int
    left: int
    right: int

    @property
    def score(self) -> float:
        """The score by which WordPiece probably chooses (Hugging Face NLP course, ch. 6)."""
        return self.count / (self.left * self.right)

    def worth(self, trainer: str) -> float:
        """Return the criterion of ``trainer``: the pair with the largest value is merged next."""
        return self.count if trainer == BPE else self.score


def candidates(splits: Mapping[Pieces, int], trainer: str, ids: Mapping[str, int]) -> tuple[MergeCandidate, ...]:
    """Return neighbours that occur at least twice, the pair to merge next first.

    Ties are sorted by id, as in *tokenizers*.
    """
    pieces, found = piece_counts(splits), pair_counts(splits).items()
    every = [MergeCandidate(pair, times, pieces[pair[0]], pieces[pair[1]]) for pair, times in found if times > 1]
    return tuple(sorted(every, key=lambda each: (-each.worth(trainer), *map(ids.__getitem__, each.pair))))


@dataclass(frozen=True, eq=False)
class Learned:
    """A vocabulary learned from a corpus: the merges, and the corpus after every merge."""

    corpus: Mapping[str, int]
    trainer: str
    merges: tuple[Pair, ...]
    states: tuple[Mapping[Pieces, int], ...]  # after 0, 1, 2 … merges, in the order of the corpus

    @cached_property
    def letters(self) -> tuple[str, ...]:
        """The letters of the corpus in alphabetical order, with which the vocabulary begins."""
        return alphabet(self.corpus)

    def vocabulary(self, made: int) -> dict[str, int]:
        """Token -> id after ``made`` merges: the unknown token, the letters, then the merged tokens in their order."""
        tokens = [UNKNOWN, *self.letters, *("".join(pair) for pair in self.merges[:made])]
        return {token: place for place, token in enumerate(dict.fromkeys(tokens))}

    def next(self, made: int) -> tuple[MergeCandidate, ...]:
        """Return the neighbours in the corpus after ``made`` merges, the pair to merge next first."""
        return candidates(self.states[made], self.trainer, self.vocabulary(made))

    def whole(self, made: int, parts: Sequence[str]) -> tuple[str, ...]:
        """Return the strings in ``parts`` that are single tokens after ``made`` merges."""
        known = self.vocabulary(made)
        return tuple(part for part in parts if part in known)

    def tokenizer(self, made: int) -> Tokenizer:
        """Return the library's tokenizer with the vocabulary after ``made`` merges."""
        from tokenizers import Tokenizer, models

        vocabulary = self.vocabulary(made)
        if self.trainer == BPE:
            return Tokenizer(models.BPE(vocabulary, list(self.merges[:made]), unk_token=UNKNOWN))
        return Tokenizer(models.WordPiece(vocabulary, unk_token=UNKNOWN, continuing_subword_prefix=""))

    def way(self, word: str, made: int) -> tuple[tuple[int, Pieces], ...]:
        """The steps of a word: (0, letters), then the number of each merge that changes the word, and the pieces."""
        pieces: Pieces = tuple(letter if letter in self.letters else UNKNOWN for letter in word)
        found = [(0, pieces)]
        for number, pair in enumerate(self.merges[:made], start=1):
            after = merged(pieces, pair)
            if after != pieces:
                found.append((number, after))
            pieces = after
        return tuple(found)


def alphabet(corpus: Mapping[str, int]) -> tuple[str, ...]:
    """Return the letters of a corpus, sorted."""
    return tuple(sorted(set("".join(corpus))))


def learn(corpus: Mapping[str, int], trainer: str = BPE, most: int = MERGES) -> Learned:
    """Join the best pair of neighbours everywhere, again and again: ``most`` times, or until no pair occurs twice."""
    ids = {token: place for place, token in enumerate([UNKNOWN, *alphabet(corpus)])}
    states = [{tuple(word): times for word, times in corpus.items()}]
    merges: list[Pair] = []
    while len(merges) < most:
        found = candidates(states[-1], trainer, ids)
        if not found:
            break
        pair = found[0].pair
        merges.append(pair)
        ids.setdefault("".join(pair), len(ids))
        states.append({merged(pieces, pair): times for pieces, times in states[-1].items()})
    return Learned(corpus, trainer, tuple(merges), tuple(states))


def library_merges(corpus: Mapping[str, int], most: int = MERGES) -> tuple[Pair, ...]:
    """Return the merges that the trainer of the library *tokenizers* learns from the same words, in order."""
    import json

    from tokenizers import Tokenizer, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE(unk_token=UNKNOWN))
    tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    size = 1 + len(alphabet(corpus)) + most
    trainer = trainers.BpeTrainer(vocab_size=size, min_frequency=2, special_tokens=[UNKNOWN], show_progress=False)
    text = (word for word, times in corpus.items() for _ in range(times))
    tokenizer.train_from_iterator(text, trainer)
    merges = json.loads(tokenizer.to_str())["model"]["merges"]
    return tuple((left, right) for left, right in merges)
