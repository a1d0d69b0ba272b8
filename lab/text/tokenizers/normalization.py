"""A text through the normalizers of the ``tokenizers`` library, with the original place of each character.

Devlin et al. 2019 say only that the input is WordPiece-tokenized. The stages of BERT's normalizer come from the
``BasicTokenizer`` in the code released with the paper (``tokenization.py``, google-research/bert).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from tokenizers import PreTokenizedString, Regex, normalizers

from lab.text.tokenizers.pieces import Span

StageName = Literal["clean_text", "handle_chinese_chars", "strip_accents", "lowercase"]
_CHARACTER = Regex("(?m:.)")  # in Oniguruma, m lets the dot match a line's end, too


@dataclass(frozen=True, slots=True)
class AlignedText:
    """A text with the original place of each character.

    Attributes
    ----------
    text
        The current text, m characters.
    spans
        For each of the m characters, its range in the original text.
    """

    text: str
    spans: tuple[Span, ...]

    @classmethod
    def of(cls, text: str, start: int, stages: Sequence[normalizers.Normalizer]) -> AlignedText:
        """Normalize a stretch of the original text, which begins at character ``start``, in ``stages``."""
        if not stages:
            return cls(text, tuple((i, i + 1) for i in range(start, start + len(text))))
        string = PreTokenizedString(text)
        for stage in stages:
            string.normalize(stage.normalize)
        string.split(lambda _, stretch: stretch.split(_CHARACTER, "isolated"))
        characters = string.get_splits("original", "char")
        return cls(
            "".join(character for character, _, _ in characters),
            tuple((start + first, start + last) for _, (first, last), _ in characters),
        )

    def cut(self, start: int, end: int) -> AlignedText:
        """Characters ``start`` to ``end`` (exclusive), with their places in the original text."""
        return AlignedText(self.text[start:end], self.spans[start:end])

    def span(self, start: int, end: int) -> Span:
        """Return the range in the original text of characters ``start`` to ``end`` (exclusive).

        As in the library, it goes from the start of the first character to the end of the last.
        """
        return self.spans[start][0], self.spans[end - 1][1]


def bert_stages(normalizer: normalizers.BertNormalizer) -> dict[StageName, normalizers.Normalizer]:
    """Return a normalizer for each flag that is switched on, in the order of application.

    The order is: clean_text deletes control characters and turns every white space into a plain space;
    handle_chinese_chars puts spaces around CJK ideographs, so that each becomes a word; strip_accents decomposes
    letters (NFD) and deletes non-spacing marks; lowercase looks at each character separately.

    Parameters
    ----------
    normalizer
        ``strip_accents=None`` means "if lower-casing", as in the released code.
    """
    strip_accents = normalizer.strip_accents
    flags: dict[StageName, bool] = {
        "clean_text": normalizer.clean_text,
        "handle_chinese_chars": normalizer.handle_chinese_chars,
        "strip_accents": normalizer.lowercase if strip_accents is None else strip_accents,
        "lowercase": normalizer.lowercase,
    }
    alone = {each: {flag: flag == each for flag in flags} for each in flags}
    return {name: normalizers.BertNormalizer(**alone[name]) for name, switched_on in flags.items() if switched_on}
