"""Byte-level BPE: equal to the library on any text, and the steps in between tell how."""

from __future__ import annotations

import time
import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors

from lab.text.tokenizers.bpe import BpeWord, apply_merges, bpe_steps, byte_symbols
from tests.text.samples import GPT_SPECIAL, assert_same, byte_level, changed, texts, wordpiece
from tests.text.tokenizers.test_wordpiece import added_tokens
from tests.thorough import THOROUGH, examples

MASK = AddedToken("<mask>", lstrip=True, special=True, normalized=False)

post_processors = st.one_of(
    st.none(),
    st.builds(
        lambda trim, prefix: processors.ByteLevel(trim_offsets=trim, add_prefix_space=prefix),
        st.booleans(),
        st.booleans(),
    ),
    st.builds(
        lambda trim, prefix: processors.RobertaProcessing(
            ("</s>", 1), ("<s>", 0), trim_offsets=trim, add_prefix_space=prefix
        ),
        st.booleans(),
        st.booleans(),
    ),
    st.builds(
        lambda: processors.Sequence(
            [
                processors.ByteLevel(trim_offsets=True),
                processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)]),
                processors.RobertaProcessing(("</s>", 1), ("<s>", 0)),
            ]
        )
    ),
)


def encode(text: str, tokenizer: Tokenizer) -> BpeWord:
    (only,) = bpe_steps(tokenizer, text).words
    return only


@settings(max_examples=examples(250))
@given(texts, st.booleans(), st.booleans(), st.booleans())
def test_equals_the_library_for_every_setting(text: str, prefix: bool, regex: bool, ignore_merges: bool) -> None:
    tokenizer = byte_level(prefix, regex, ignore_merges)
    assert_same(tokenizer, bpe_steps(tokenizer, text))


@settings(max_examples=examples(250))
@given(texts, st.booleans(), post_processors)
def test_equals_the_library_for_every_post_processor(
    text: str, prefix: bool, post_processor: processors.PostProcessor | None
) -> None:
    tokenizer = changed(byte_level(prefix), added=[MASK], post_processor=post_processor)
    assert_same(tokenizer, bpe_steps(tokenizer, text))


@settings(max_examples=examples(150))
@given(texts, added_tokens, st.booleans(), st.booleans(), post_processors)
def test_equals_the_library_with_added_tokens(
    text: str,
    added: list[AddedToken],
    encode_special: bool,
    prefix: bool,
    post_processor: processors.PostProcessor | None,
) -> None:
    tokenizer = changed(
        byte_level(prefix),
        added=added,
        post_processor=post_processor,
        encode_special_tokens=encode_special,
    )
    assert_same(tokenizer, bpe_steps(tokenizer, text))


def test_equals_the_library_on_every_kind_of_character() -> None:
    """All of Unicode but ideographs, syllables and symbols, which come in thousands of one kind; by day a third."""
    bulk = {"Lo", "So", "Cn", "Co", "Cs"}
    characters = [character for character in map(chr, range(0x110000)) if unicodedata.category(character) not in bulk]
    tokenizer = byte_level()
    for start in range(0, len(characters), 100 if THOROUGH else 300):
        text = " ".join(f"a{character}1{character}" for character in characters[start : start + 100])
        assert_same(tokenizer, bpe_steps(tokenizer, text))


def composing(tokenizer: Tokenizer) -> Tokenizer:
    """The same with ModernBERT's normalizer."""
    copy = changed(tokenizer, added=[MASK])
    copy.normalizer = normalizers.NFC()
    return copy


# Letters, marks of several classes in any order, Hangul in parts, and what NFC takes apart for good.
_marked = st.text("ae s1\u0301\u0323\u0308\u0327\u0345é각\u1100\u1161\u11a8ạ́\u212b\u0958\u2126", max_size=12)


@settings(max_examples=examples(500))
@given(texts | _marked, st.booleans())
def test_equals_the_library_where_letters_and_marks_are_joined(text: str, prefix: bool) -> None:
    tokenizer = composing(byte_level(prefix))
    steps = bpe_steps(tokenizer, text)
    assert_same(tokenizer, steps)
    assert steps.composed == normalizers.NFC().normalize_str(text)


def test_a_mark_after_its_letter_is_one_character() -> None:
    steps = bpe_steps(composing(byte_level()), "cafe\u0301 x")
    assert steps.composed == "café x"
    assert bpe_steps(byte_level(), "cafe\u0301 x").composed == "cafe\u0301 x"


def test_byte_symbols_are_gpt_2_s() -> None:
    symbols = byte_symbols()
    assert set(symbols) == set(pre_tokenizers.ByteLevel.alphabet())
    assert len(set(symbols)) == 256
    assert (symbols[ord("A")], symbols[ord(" ")], symbols[ord("\n")], symbols[0]) == ("A", "Ġ", "Ċ", "Ā")
    for character in "é你🙂\x7f":
        ((seen, _),) = pre_tokenizers.ByteLevel(add_prefix_space=False).pre_tokenize_str(character)
        assert seen == "".join(symbols[byte] for byte in character.encode())


def merge_list(*merges: str, **options: float) -> Tokenizer:
    pairs = [(left, right) for left, right in (merge.split() for merge in merges)]
    entries = sorted(byte_symbols()) + [left + right for left, right in pairs]
    ids = {entry: index for index, entry in enumerate(dict.fromkeys(entries))}
    tokenizer = Tokenizer(models.BPE(ids, pairs, **options))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


@given(
    st.text("abc", max_size=12),
    st.lists(st.tuples(*[st.sampled_from(["a", "b", "c", "ab", "bc", "aa", "abc"])] * 2), unique=True),
)
def test_the_queue_does_what_the_plain_definition_says(word: str, merges: list[tuple[str, str]]) -> None:
    ranks = {pair: rank for rank, pair in enumerate(merges)}
    symbols = list(word)
    expected = []
    while True:
        ranked = [(ranks[pair], position) for position, pair in enumerate(pairwise(symbols)) if pair in ranks]
        if not ranked:
            break
        rank, position = min(ranked)
        expected.append((rank, symbols[position], symbols[position + 1]))
        symbols[position : position + 2] = ["".join(symbols[position : position + 2])]
    assert [(step.rank, step.left, step.right) for step in apply_merges(word, ranks)] == expected


@given(texts)
def test_the_symbols_end_as_the_pieces(text: str) -> None:
    for word in bpe_steps(byte_level(add_prefix_space=True), text).words:
        if not word.added:
            assert word.text.encode() == bytes(byte_symbols().index(symbol) for symbol in word.symbols)
            assert word.symbols_after(0) == word.symbols
            assert word.symbols_after(len(word.merges)) == tuple(piece.token for piece in word.pieces)


def test_ignore_merges_takes_a_known_word_whole() -> None:
    word = encode("the", byte_level(ignore_merges=True))
    assert (word.taken_whole, word.merges, word.symbols) == (True, (), ("t", "h", "e"))
    assert not encode("the", byte_level()).taken_whole


def test_each_stretch_between_added_tokens_gets_its_prefix_space() -> None:
    steps = bpe_steps(byte_level(add_prefix_space=True), "the</s>the the")
    assert [(word.text, word.span) for word in steps.words] == [
        (" the", (0, 3)),
        ("</s>", (3, 7)),
        (" the", (7, 10)),
        (" the", (10, 14)),
    ]
    assert [word.added for word in steps.words] == [False, True, False, False]


def test_pre_tokens_keep_one_space_before_a_word() -> None:
    text = "We'll  see 12 cats\n\n!? ½é"  # \s+(?!\S) leaves the last blank of a run behind
    assert [word.text for word in bpe_steps(byte_level(), text).words] == [
        *["We", "'ll", " ", " see", " 12", " cats", "\n", "\n", "!?", " ½", "é"]
    ]


def test_the_empty_text_has_no_words() -> None:
    assert bpe_steps(byte_level(add_prefix_space=True), "").words == ()


def test_merges_of_a_retrained_tokenizer_are_read_again() -> None:
    tokenizer = merge_list("a b")
    assert bpe_steps(tokenizer, "abc").tokens == ("ab", "c")
    tokenizer.model = merge_list("a b", "ab c").model
    assert bpe_steps(tokenizer, "abc").tokens == ("abc",)


def test_refuses_tokenizers_built_otherwise() -> None:
    with pytest.raises(ValueError, match="model BPE, but this tokenizer has WordPiece"):
        bpe_steps(wordpiece(), "a")
    with pytest.raises(ValueError, match="has NoneType"):
        bpe_steps(Tokenizer(models.BPE()), "a")
    normalized = changed(byte_level())
    normalized.normalizer = normalizers.NFKC()
    with pytest.raises(ValueError, match="normalizer NFC, but this tokenizer has NFKC"):
        bpe_steps(normalized, "a")
    with pytest.raises(ValueError, match="without dropout"):
        bpe_steps(merge_list("a b", dropout=0.5), "a")
    with pytest.raises(ValueError, match="lone surrogate"):
        bpe_steps(byte_level(), "\udfff")


def test_names_the_byte_that_a_vocabulary_lacks() -> None:
    tokenizer = Tokenizer(models.BPE({"a": 0}, []))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    with pytest.raises(ValueError, match=r"lacks 'b'.*initial_alphabet"):
        bpe_steps(tokenizer, "ab")


def test_special_tokens_written_in_the_text_stay_whole() -> None:
    for special in GPT_SPECIAL:
        word = encode(special, byte_level())
        assert (word.added, word.symbols, [piece.token for piece in word.pieces]) == (True, (), [special])


@pytest.mark.parametrize("text", ["Unbelievable weren't jumping over 3 dogs, " * 120, "汉字" * 1500])
def test_600_words_or_a_page_without_spaces_take_less_than_100_ms(text: str) -> None:
    tokenizer = byte_level()
    bpe_steps(tokenizer, text)
    seconds = []
    for _ in range(5):
        start = time.thread_time()
        bpe_steps(tokenizer, text)
        seconds.append(time.thread_time() - start)
    assert min(seconds) < 0.1
