"""WordPiece, step by step, as in BERT (Devlin et al. 2019, §3 "Input/Output Representations").

The vocabulary is learned as in Schuster & Nakajima 2012 and Wu et al. 2016 (§4.1). Cutting a word
needs only the vocabulary: take the longest entry that starts the word, then the longest entry that
continues the word, until nothing is left. Entries that continue a word are marked with ``##``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal

from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lab.text.tokenizers.added_tokens import Segment, split_added_tokens
from lab.text.tokenizers.normalization import AlignedText, StageName, bert_stages
from lab.text.tokenizers.pieces import Piece, PieceSteps, PreToken, Span, require_encodable

_WORDS = pre_tokenizers.BertPreTokenizer()  # cuts at white space, and makes each punctuation mark a word
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
        tried: list[Lookup] = []
        start = 0
        for match in self.matches:
            tried.extend(self._failures(start, match.end + 1))
            tried.append(match)
            start = match.end
        tried.extend(self._failures(start, start + 1))
        return tuple(tried)

    def _failures(self, start: int, shortest_end: int) -> Iterator[Lookup]:
        prefix = self.continuing_prefix if start > 0 else ""
        for end in range(len(self.text), shortest_end - 1, -1):
            yield Lookup(prefix + self.text[start:end], start, end, None)


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
    require_encodable(text)
    model = _wordpiece_model(tokenizer)
    stages = _stages(tokenizer)
    typed = split_added_tokens(tokenizer, [Segment(AlignedText.of(text, 0, ()), None)])
    segments, shown = _normalize(stages, typed)
    segments = split_added_tokens(tokenizer, segments, normalized=True)
    words = tuple(word for segment in segments for word in _segment_words(model, segment))
    return WordPieceSteps(text, words, shown)


def longest_match_first(model: models.WordPiece, word: str) -> Iterator[Lookup]:
    """Cut one word greedily: take the longest piece first, then continue at the end of this piece.

    ``model`` has the vocabulary and the prefix of continuing pieces; ``word`` has at least one character.

    Yields
    ------
    The lookups that found a piece. If the word is unknown, the lookups stop before the end of the word.
    """
    start = 0
    while start < len(word):
        prefix = model.continuing_subword_prefix if start > 0 else ""
        for end in range(len(word), start, -1):
            candidate = prefix + word[start:end]
            token_id = model.token_to_id(candidate)
            if token_id is not None:
                yield Lookup(candidate, start, end, token_id)
                break
        else:
            return
        start = end


def _normalize(
    stages: Mapping[StageName, normalizers.Normalizer], typed: list[Segment]
) -> tuple[list[Segment], tuple[NormalizationStage, ...]]:
    shown: list[NormalizationStage] = []
    segments, before = typed, _join(typed)
    for done, name in enumerate(stages, start=1):
        segments = [each.normalized(list(stages.values())[:done]) for each in typed]
        after = _join(segments)
        shown.append(NormalizationStage(name, before.text, after.text, after.spans))
        before = after
    return segments, tuple(shown)


def _segment_words(model: models.WordPiece, segment: Segment) -> Iterator[WordSteps]:
    aligned, whole = segment.aligned, segment.added()
    if whole is not None:
        yield WordSteps(whole.token, whole.span, (whole,), added=True)
        return
    for _, (start, end) in _WORDS.pre_tokenize_str(aligned.text):
        yield _cut_word(model, aligned.cut(start, end))


def _cut_word(model: models.WordPiece, word: AlignedText) -> WordSteps:
    span = word.span(0, len(word.text))
    prefix = model.continuing_subword_prefix
    matches: tuple[Lookup, ...] = ()
    unknown: WhyUnknown | None = None
    if len(word.text) > model.max_input_chars_per_word:
        unknown = "too many characters"
    else:
        matches = tuple(longest_match_first(model, word.text))
        if not matches or matches[-1].end < len(word.text):
            unknown = "no piece matches"
    if unknown is not None:
        pieces: tuple[Piece, ...] = (_unknown_piece(model, span),)
    else:
        pieces = tuple(
            Piece(match.candidate, match.token_id, word.span(match.start, match.end))
            for match in matches
            if match.token_id is not None
        )
    return WordSteps(word.text, span, pieces, False, matches, prefix, unknown)


def _unknown_piece(model: models.WordPiece, span: Span) -> Piece:
    token_id = model.token_to_id(model.unk_token)
    if token_id is None:
        raise ValueError(
            f"The vocabulary has no unknown token {model.unk_token!r}, which this text needs. "
            "Add it to the vocabulary, or name the right one as the model's unk_token."
        )
    return Piece(model.unk_token, token_id, span)


def _join(segments: list[Segment]) -> AlignedText:
    return AlignedText(
        "".join(segment.aligned.text for segment in segments),
        tuple(span for segment in segments for span in segment.aligned.spans),
    )


def _wordpiece_model(tokenizer: Tokenizer) -> models.WordPiece:
    model = tokenizer.model
    if not isinstance(model, models.WordPiece):
        raise ValueError(
            f"wordpiece_steps needs a WordPiece tokenizer, but this one is {type(model).__name__}. "
            "tokenization_steps chooses by model type."
        )
    if not isinstance(tokenizer.pre_tokenizer, pre_tokenizers.BertPreTokenizer):
        raise ValueError(
            "wordpiece_steps explains BERT's pre-tokenizer (BertPreTokenizer), but this tokenizer "
            f"has {type(tokenizer.pre_tokenizer).__name__}."
        )
    return model


def _stages(tokenizer: Tokenizer) -> Mapping[StageName, normalizers.Normalizer]:
    normalizer = tokenizer.normalizer
    if normalizer is None:
        return {}
    if not isinstance(normalizer, normalizers.BertNormalizer):
        raise ValueError(
            "wordpiece_steps explains BERT's normalizer (BertNormalizer), but this tokenizer has "
            f"{type(normalizer).__name__}."
        )
    return bert_stages(normalizer)
