"""Characters that a tokenizer drops, and texts whose language it hardly knows."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

from lab.text.tokenizers.unreadable import dropped, hardly_known
from tests.text.samples import byte_level, wordpiece


def few(tokenizer: Tokenizer, text: str) -> tuple[int, int]:
    """The number that is told, and the number of tokens."""
    found = tokenizer.encode(text, add_special_tokens=False)
    return hardly_known(tokenizer, text, found.tokens, found.offsets), len(found.tokens)


@given(st.text(alphabet="ab c\x00\x07\u200b\u200d\u202e\u00ad\ufeff\ufffd\t\n", max_size=20))
def test_the_characters_that_are_dropped_are_those_without_which_the_tokens_are_the_same(text: str) -> None:
    tokenizer = wordpiece()
    unseen = [
        each for each in text if (unicodedata.category(each) in ("Cc", "Cf") and each not in "\t\n") or each == "\ufffd"
    ]
    without = "".join(each for each in text if each not in unseen)
    assert dropped(tokenizer, text) == len(unseen)
    assert tokenizer.encode(text).ids == tokenizer.encode(without).ids


@given(st.text(max_size=20))
def test_a_tokenizer_of_bytes_drops_nothing(text: str) -> None:
    assert dropped(byte_level(True), text.encode("utf-8", "replace").decode()) == 0


@pytest.mark.parametrize(
    "text", ["مرحبا بالعالم", "今天很好", "Привет мир", "नमस्ते दुनिया", "สวัสดี", "שלום עולם", "안녕하세요"]
)
def test_a_text_in_another_script_is_told(text: str) -> None:
    for tokenizer in (wordpiece(), byte_level(False)):
        told, tokens = few(tokenizer, text)
        assert tokens / 2 < told <= tokens


@pytest.mark.parametrize(
    "text", ["The cat sat.", "a b c d e", "1, 2, 3!", "A café in Paris, déjà vu.", "The word 今 is here today again."]
)
def test_a_text_in_english_letters_is_not_told(text: str) -> None:
    assert few(byte_level(False), text)[0] == 0


def test_single_signs_are_right_for_a_vocabulary_of_that_script() -> None:
    signs = "今天很好我们是学生"
    tokenizer = Tokenizer(
        models.WordPiece({"[UNK]": 0, "a": 1, **{sign: 2 + i for i, sign in enumerate(signs)}}, unk_token="[UNK]")
    )
    tokenizer.normalizer, tokenizer.pre_tokenizer = normalizers.BertNormalizer(), pre_tokenizers.BertPreTokenizer()
    assert few(tokenizer, "今天很好") == (0, 4)
    assert few(tokenizer, "他她它") == (3, 3)
