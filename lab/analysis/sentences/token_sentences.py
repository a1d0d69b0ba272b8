"""Assign the tokens of a trace to sentences, without changing how the text was encoded."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from lab.analysis.heads.values import places_left_out
from lab.analysis.sentences.between_sentences import InterSentence
from lab.models.memo import once
from lab.text.sentences.split import sentence_of_tokens, sentence_spans

if TYPE_CHECKING:
    from lab.models.trace import Trace

# At most this many sentences, because a larger matrix would be unreadable. Later sentences are left out, and the page
# says so.
MOST = 12


@dataclass(frozen=True)
class Sentences:
    """Sentences that have tokens, numbered from 0 in reading order.

    Attributes
    ----------
    texts
        The text of each sentence.
    in_pair
        For each sentence, true if it is in the second text of a pair.
    of_token
        The sentence of each of n tokens; None for special tokens, white space and sentences left out.
    left_out
        The number of sentences that have tokens but are left out.
    cut
        The number of sentences without a token, because the text was cut at the model's limit.
    blanks
        The number of tokens that are white space between sentences; a byte-level tokenizer may have such tokens.
    """

    texts: tuple[str, ...]
    in_pair: tuple[bool, ...]
    of_token: tuple[int | None, ...]
    left_out: int
    cut: int
    blanks: int

    def __len__(self) -> int:
        return len(self.texts)

    def places(self, sentence: int) -> tuple[int, ...]:
        """Return the places of a sentence's tokens, from 0."""
        return tuple(place for place, number in enumerate(self.of_token) if number == sentence)


@once
def split(trace: Trace, most: int = MOST) -> Sentences:
    """Find and number the sentences of a trace's text, and of its second text if it has one, that have tokens."""
    encoding = trace.encoding
    texts = (encoding.text,) if encoding.pair is None else (encoding.text, encoding.pair)
    spans = tuple(sentence_spans(text) for text in texts)
    before = 0
    raw: list[int | None] = [None] * len(encoding)
    for second, own in enumerate(spans):
        places = [i for i, in_pair in enumerate(encoding.in_pair) if in_pair == bool(second)]
        for place, found in zip(places, sentence_of_tokens([encoding.offsets[i] for i in places], own), strict=True):
            raw[place] = None if found is None else before + found
        before += len(own)
    used = sorted({sentence for sentence in raw if sentence is not None})
    kept = {sentence: place for place, sentence in enumerate(used[:most])}
    whole = [(second, text[a:b]) for second, (text, own) in enumerate(zip(texts, spans, strict=True)) for a, b in own]
    return Sentences(
        texts=tuple(whole[sentence][1] for sentence in kept),
        in_pair=tuple(bool(whole[sentence][0]) for sentence in kept),
        of_token=tuple(None if sentence is None else kept.get(sentence) for sentence in raw),
        left_out=len(used) - len(kept),
        cut=before - len(used),
        blanks=sum(found is None and not special for found, special in zip(raw, encoding.special, strict=True)),
    )


def aside(trace: Trace, sentences: Sentences) -> tuple[int | None, ...] | None:
    """Return the sentence of each of n tokens, with None for tokens on which heads park unused attention.

    These are the special tokens, which are in no sentence anyway; in a model without special tokens, the first token,
    which is a sink in the first sentence (Xiao et al. 2024). The result is None if a sentence would have no tokens.
    """
    out, _ = places_left_out(trace)
    kept = tuple(None if gone else number for number, gone in zip(sentences.of_token, out, strict=True))
    return kept if set(kept) - {None} == set(range(len(sentences))) else None


def expected(found: InterSentence, n: int, causal: bool, a: int, b: int) -> float:
    """Return the attention that a token of sentence a would send to b if it spread its attention evenly over its keys.

    This is |b| divided by the number of keys that the token may see, averaged over a's tokens. n is the number of
    tokens of the text. If rows were renormalised, only tokens in sentences count.
    """
    keys = np.concatenate(found.members) if found.renormalised else np.arange(n)
    queries, others = found.members[a], found.members[b]
    shares = []
    for query in queries.tolist():
        seen = int(np.count_nonzero(keys <= query)) if causal else len(keys)
        hit = int(np.count_nonzero(others <= query)) if causal else len(others)
        shares.append(hit / seen)
    return float(np.mean(shares))
