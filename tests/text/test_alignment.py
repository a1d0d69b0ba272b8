"""Words and chips: nothing of the text is lost, no token is misplaced."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.text.alignment import Chip, chips, word_pieces
from lab.text.tokenizers.bpe import bpe_steps
from lab.text.tokenizers.wordpiece import wordpiece_steps
from tests.text.samples import byte_level, texts, wordpiece


@st.composite
def text_and_spans(draw: st.DrawFn) -> tuple[str, list[tuple[int, int]]]:
    text = draw(st.text(max_size=12))
    position = st.integers(0, len(text))
    pairs = draw(st.lists(st.tuples(position, position), max_size=8))
    return text, [(min(pair), max(pair)) for pair in pairs]


@given(text_and_spans())
def test_every_character_is_on_the_chip_of_exactly_its_tokens(case: tuple[str, list[tuple[int, int]]]) -> None:
    text, offsets = case
    result = chips(text, offsets)
    assert "".join(chip.text for chip in result) == text
    for chip in result:
        assert chip.text == text[slice(*chip.span)] != ""
        for position in range(*chip.span):
            covering = [token for token, (start, end) in enumerate(offsets) if start <= position < end]
            assert list(chip.tokens) == covering


@given(texts)
def test_chips_of_real_tokens_give_the_text_again(text: str) -> None:
    for steps in (wordpiece_steps(wordpiece(), text), bpe_steps(byte_level(True), text)):
        result = chips(text, steps.offsets)
        assert "".join(chip.text for chip in result) == text
        shown = {token for chip in result for token in chip.tokens}
        assert shown == set(range(len(steps.offsets)))


def test_a_split_emoji_keeps_all_its_tokens_on_one_chip() -> None:
    assert chips("a 👍", [(0, 0), (0, 1), (2, 3), (2, 3), (0, 0)]) == (
        Chip("a", (0, 1), (1,)),
        Chip(" ", (1, 2), ()),
        Chip("👍", (2, 3), (2, 3)),
    )


def test_no_tokens_and_no_text() -> None:
    assert chips("ab", []) == (Chip("ab", (0, 2), ()),)
    assert chips("", [(0, 0)]) == ()


@pytest.mark.parametrize("span", [(0, 4), (-1, 1), (2, 1)])
def test_offsets_of_another_text_are_refused(span: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="Pass the very text"):
        chips("abc", [(0, 1), span])


def test_pieces_of_a_word_stand_together() -> None:
    # [CLS] un ##aff ##able man [SEP] a ##b [SEP]
    assert word_pieces([None, 0, 0, 0, 1, None, 0, 0, None]) == ((1, 2, 3), (4,), (6, 7))
    assert word_pieces([]) == ()


@given(texts)
def test_words_of_the_library_are_the_words_of_the_steps(text: str) -> None:
    steps = bpe_steps(byte_level(), text)
    groups = word_pieces(byte_level().encode(text, add_special_tokens=False).word_ids)
    assert [len(group) for group in groups] == [len(word.pieces) for word in steps.words]
