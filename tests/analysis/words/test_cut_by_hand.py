"""Words cut by hand, held against the text by its characters."""

from __future__ import annotations

import pytest

import lab
from lab.analysis.words.cut_by_hand import CutError, cut_words, default_cut, separator, without_special
from lab.models.encoding import Encoding, encode

MODELS = ("lab-bert", "lab-gpt2")
TEXTS = {
    "words": ("Mary's little lamb, unbelievably overworked.", None),
    "pair": ("The children went.", "They played until dark."),
    "emoji": ("👩‍👩‍👧 🏳️‍🌈 ok. 🙂", None),
    "arabic": ("\u202eالقط جلس على السجادة.", None),
    "accents": ("The café of mojmír", None),
    "bars": ("a | b || c", "d ¦ e"),
    "harm": ("<script>alert(1)</script>  a\x00b\ufffd [MASK] [SEP]", None),
    "long": ("The word is here again. " * 200, None),
}


def encoded(model: str, text: str, pair: str | None = None) -> Encoding:
    loaded = lab.load_model(model)
    return encode(loaded.tokenizer, loaded.config, text, pair)


@pytest.mark.parametrize("kind", TEXTS)
@pytest.mark.parametrize("model", MODELS)
def test_the_tokenizer_s_own_words_are_a_cut_that_fits(model: str, kind: str) -> None:
    encoding = encoded(model, *TEXTS[kind])
    words = cut_words(encoding, default_cut(encoding))
    own = without_special(encoding)
    assert len(words.groups) == len(own.groups) == encoding.special.count(False)
    assert sorted(set(words.groups)) == list(range(len(words)))
    assert list(words.groups) == sorted(words.groups)
    if kind in ("words", "pair", "accents", "long"):
        assert (words.groups, words.labels, words.in_pair) == (own.groups, own.labels, own.in_pair)


@pytest.mark.parametrize("model", MODELS)
def test_a_cut_by_hand(model: str) -> None:
    encoding = encoded(model, "mary's little lamb, sleeping")
    words = cut_words(encoding, "mary's | little lamb|, | SLEEPING")
    assert words.labels == ("mary's", "little lamb", ",", "sleeping")
    # Independent of the code: a token's characters lie inside its word's.
    ends = [0, 7, 18, 20, 28]
    kept = [span for span, special in zip(encoding.offsets, encoding.special, strict=True) if not special]
    for group, (start, end) in zip(words.groups, kept, strict=True):
        text = encoding.text[start:end]
        first = start + len(text) - len(text.lstrip())
        assert ends[group] <= first and end <= ends[group + 1], (group, text)


def test_a_pair_is_cut_in_both_texts() -> None:
    encoding = encoded("lab-bert", "A cat sat.", "It slept.")
    words = cut_words(encoding, "A cat | sat . | It | slept.")
    assert words.labels == ("A cat", "sat.", "It", "slept.")
    assert words.in_pair == (False, False, True, True)


@pytest.mark.parametrize(
    ("cut", "said"),
    [
        ("the | dog sat", "dog sat does not match the text, which has “cat sat.” there."),
        ("the | cat", "The cut ends before the text does: sat. is left over."),
        ("the | cat | sat. | down", "down does not match the text, which is at its end."),
        ("the | c | at | sat.", "goes through the token cat"),
        (" | ", "Type the text with | between its words."),
    ],
)
def test_a_cut_that_does_not_fit_is_answered(cut: str, said: str) -> None:
    with pytest.raises(CutError) as caught:
        cut_words(encoded("lab-bert", "the cat sat."), cut)
    assert said in str(caught.value)


def test_a_word_does_not_reach_over_two_texts() -> None:
    with pytest.raises(CutError, match="runs from the first sentence into the second"):
        cut_words(encoded("lab-bert", "A cat", "sat down"), "A | cat sat | down")


def test_the_separator_is_not_in_the_text() -> None:
    assert separator(encoded("lab-bert", "a b")) == "|"
    assert separator(encoded("lab-bert", "a | b", "c ¦ d")) == "‖"
