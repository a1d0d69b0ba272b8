"""WordPiece, step by step, as in BERT (Devlin et al. 2019, §3 "Input/Output Representations").

The vocabulary is learned as in Schuster & Nakajima 2012 and Wu et al. 2016 (§4.1). Cutting a word
needs only the vocabulary: take the longest entry that starts the word, then the longest entry that
continues the word, until nothing is left. Entries that continue a word are marked with ``##``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal, get_args

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lab.text.tokenizers.cut_text import Piece, PieceSteps, PreToken, Span
from lab.text.tokenizers.library_words import Unit, handed_over, normalized, placed, require_parts

StageName = Literal["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"]
WhyUnknown = Literal["no piece matches", "too many characters"]


@dataclass(frozen=True, slots=True)
class NormalizationStage:
    """One stage of the normalizer.

    Attributes
    ----------
    name
        The flag of ``BertNormalizer`` that switches the stage on.
    before
        The whole text before the stage. Added tokens in the text are unchanged.
    after
        The whole text after the stage, m characters.
    spans
        For each of these m characters, its range in the text as typed.
    """

    name: StageName
    before: str
    after: str
    spans: tuple[Span, ...]


@dataclass(frozen=True, slots=True)
class Lookup:
    """One look-up in the vocabulary.

    Attributes
    ----------
    candidate
        The entry to look up, with ``##`` if it continues the word.
    start, end
        The candidate's first character in the (normalized) word, and one past its last character.
    token_id
        The id of the candidate, or None if the vocabulary lacks the candidate.
    """

    candidate: str
    start: int
    end: int
    token_id: int | None

    @property
    def found(self) -> bool:
        """True if the vocabulary has the candidate."""
        return self.token_id is not None


@dataclass(frozen=True, slots=True)
class WordSteps(PreToken):
    """The steps of cutting one word.

    Attributes
    ----------
    matches
        The lookups that found a piece, in order; none for an added token and for a word over the length limit. A word
        that becomes the unknown token keeps the lookups that found a piece.
    continuing_prefix
        The mark of a piece inside a word, ``##`` in BERT.
    unknown
        The reason why the word became the unknown token, or None if it did not.
    """

    matches: tuple[Lookup, ...] = ()
    continuing_prefix: str = "##"
    unknown: WhyUnknown | None = None

    @property
    def lookups(self) -> tuple[Lookup, ...]:
        """Every lookup in order.

        The lookups are derived, not stored, because a word of n characters may need n(n + 1)/2 of them. After each
        piece, the whole rest of the word is tried first, then one character less, and so on.
        """
        if self.added or self.unknown == "too many characters":
            return ()
        # The word met no other entry of the vocabulary, because the first one that it meets is taken.
        entries = {match.candidate: match.token_id for match in self.matches}
        return tuple(longest_match_first(self.text, entries.get, self.continuing_prefix))


@dataclass(frozen=True, slots=True)
class WordPieceSteps(PieceSteps[WordSteps]):
    """The steps of a text through a WordPiece tokenizer.

    Attributes
    ----------
    stages
        The normalization stages that this tokenizer switches on, in order; up to four.
    """

    stages: tuple[NormalizationStage, ...]

    @property
    def normalized(self) -> str:
        """The text after the last stage."""
        return self.stages[-1].after if self.stages else self.text


def wordpiece_steps(tokenizer: Tokenizer, text: str) -> WordPieceSteps:
    """Tokenize a text and keep every step.

    The result equals ``tokenizer.encode(text, add_special_tokens=False)`` with truncation and
    padding off: tokens, ids, offsets and word ids.

    Parameters
    ----------
    tokenizer
        A tokenizer with the model WordPiece, a ``BertNormalizer`` or no normalizer, and a ``BertPreTokenizer``, as for
        BERT, DistilBERT and ELECTRA.
    text
        Any text. The caller must replace lone surrogates.

    Raises
    ------
    ValueError
        If the tokenizer has other parts, if it lacks an unknown token that the text needs, or if the text has a lone
        surrogate.
    """
    model = tokenizer.model
    require_parts(
        tokenizer,
        model=models.WordPiece,
        pre_tokenizer=pre_tokenizers.BertPreTokenizer,
        normalizer=normalizers.BertNormalizer,
    )
    words = [_cut_word(model, unit) for unit in handed_over(tokenizer, text)]
    return WordPieceSteps(text, placed(tokenizer, text, words), tuple(_stages(tokenizer, text)))


def longest_match_first(word: str, find: Callable[[str], int | None], continuing_prefix: str) -> Iterator[Lookup]:
    """Cut one word greedily: take the longest piece first, then continue at the end of this piece.

    Parameters
    ----------
    word
        The n characters of the word.
    find
        Returns the id of an entry of the vocabulary, and None for any other candidate.
    continuing_prefix
        The mark of a piece inside a word.

    Yields
    ------
    Every lookup. If the word is unknown, the lookups stop when no candidate is left at some place in the word.
    """
    start = 0
    while start < len(word):
        prefix = continuing_prefix if start > 0 else ""
        for end in range(len(word), start, -1):
            candidate = prefix + word[start:end]
            lookup = Lookup(candidate, start, end, find(candidate))
            yield lookup
            if lookup.found:
                break
        else:
            return
        start = end


def _cut_word(model: models.WordPiece, unit: Unit) -> WordSteps:
    word, span, prefix = unit.text, unit.span, model.continuing_subword_prefix
    if unit.added_id is not None:
        return WordSteps(word, span, (Piece(word, unit.added_id, span),), added=True)
    if len(word) > model.max_input_chars_per_word:
        return WordSteps(word, span, (_unknown(model, span),), False, (), prefix, "too many characters")
    matches = tuple(each for each in longest_match_first(word, model.token_to_id, prefix) if each.found)
    if not matches or matches[-1].end < len(word):
        return WordSteps(word, span, (_unknown(model, span),), False, matches, prefix, "no piece matches")
    pieces = tuple(Piece(each.candidate, each.token_id, span) for each in matches if each.token_id is not None)
    return WordSteps(word, span, pieces, False, matches, prefix)


def _unknown(model: models.WordPiece, span: Span) -> Piece:
    token_id = model.token_to_id(model.unk_token)
    if token_id is None:
        raise ValueError(f"The vocabulary has no unknown token {model.unk_token!r}, but this text needs it. Add it.")
    return Piece(model.unk_token, token_id, span)


def _stages(tokenizer: Tokenizer, text: str) -> Iterator[NormalizationStage]:
    """Yield the stages that are switched on, in the order of application.

    Devlin et al. 2019 say only that the input is WordPiece-tokenized. The stages come from the ``BasicTokenizer`` in
    the code released with the paper (``tokenization.py``, google-research/bert): clean_text deletes control characters
    and turns every white space into a plain space; handle_chinese_chars puts spaces around CJK ideographs, so that
    each becomes a word; strip_accents decomposes letters (NFD) and deletes non-spacing marks; lowercase looks at each
    character separately. ``strip_accents=None`` means "if lower-casing", as in the released code.
    """
    if tokenizer.normalizer is None:
        return
    flags = {name: getattr(tokenizer.normalizer, name) for name in get_args(StageName)}
    if flags["strip_accents"] is None:
        flags["strip_accents"] = flags["lowercase"]
    done, before = dict.fromkeys(flags, False), text
    for name in filter(flags.get, flags):
        done[name] = True
        after, spans = normalized(tokenizer, text, normalizers.BertNormalizer(**done))
        yield NormalizationStage(name, before, after, spans)
        before = after
