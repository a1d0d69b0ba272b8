"""WordPiece: equal to the library on any text, and the steps in between tell how."""

from __future__ import annotations

import time
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers

from lab.text.tokenizers.wordpiece import WordSteps, wordpiece_steps
from tests.text.samples import assert_same, byte_level, changed, texts, wordpiece
from tests.thorough import THOROUGH, examples

added_tokens = st.lists(
    st.builds(
        AddedToken,
        st.sampled_from(["<mask>", "foo bar", "word", "café", "[MASK]x", "É", "你", "\u0323a"]),
        single_word=st.booleans(),
        lstrip=st.booleans(),
        rstrip=st.booleans(),
        normalized=st.booleans(),
        special=st.booleans(),
    ),
    max_size=4,
    unique_by=lambda token: token.content,
)


def cut(word: str, tokenizer: Tokenizer | None = None) -> WordSteps:
    (only,) = wordpiece_steps(tokenizer or wordpiece(), word).words
    return only


def vocabulary(*entries: str, **settings: int) -> Tokenizer:
    ids = {entry: index for index, entry in enumerate(entries)}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", **settings))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    return tokenizer


@settings(max_examples=examples(300))
@given(texts, st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans())
def test_equals_the_library_for_every_setting(
    text: str, clean: bool, cjk: bool, accents: bool | None, lower: bool
) -> None:
    tokenizer = wordpiece(clean, cjk, accents, lower)
    assert_same(tokenizer, wordpiece_steps(tokenizer, text))


@settings(max_examples=examples(200))
@given(texts, added_tokens, st.booleans(), st.booleans())
def test_equals_the_library_with_added_tokens(
    text: str, added: list[AddedToken], encode_special: bool, lower: bool
) -> None:
    tokenizer = changed(wordpiece(lowercase=lower), added=added, encode_special_tokens=encode_special)
    assert_same(tokenizer, wordpiece_steps(tokenizer, text))


def test_equals_the_library_on_every_kind_of_character() -> None:
    """All of Unicode but ideographs, syllables and symbols, which come in thousands of one kind; by day a third."""
    bulk = {"Lo", "So", "Cn", "Co", "Cs"}
    characters = [character for character in map(chr, range(0x110000)) if unicodedata.category(character) not in bulk]
    for tokenizer in (wordpiece(), wordpiece(False, False, True, False)):
        for start in range(0, len(characters), 100 if THOROUGH else 300):
            text = " ".join(f"a{character}b\u0301" for character in characters[start : start + 100])
            assert_same(tokenizer, wordpiece_steps(tokenizer, text))


def test_a_word_spelled_like_an_added_token_may_be_a_word() -> None:
    the = AddedToken("the", special=True)
    assert cut("the", changed(wordpiece(), added=[the])).added
    word = cut("the", changed(wordpiece(), added=[the], encode_special_tokens=True))
    assert not word.added and word.lookups


def test_a_word_without_a_way_through_is_unknown_whole() -> None:
    word = cut("unb", vocabulary("[UNK]", "un", "##n"))
    assert [lookup.candidate for lookup in word.lookups] == ["unb", "un", "##b"]
    assert [piece.token for piece in word.pieces] == ["[UNK]"]
    assert word.unknown == "no piece matches"


def test_a_word_over_the_limit_is_never_looked_up() -> None:
    limited = vocabulary("[UNK]", "a", "##a", max_input_chars_per_word=4)
    assert cut("aaaa", limited).unknown is None
    word = cut("aaaaa", limited)
    assert (word.unknown, word.lookups, word.pieces[0].token) == ("too many characters", (), "[UNK]")


@given(texts)
def test_the_lookups_are_those_of_the_greedy_algorithm(text: str) -> None:
    tokenizer = wordpiece()
    entries = tokenizer.get_vocab(with_added_tokens=False)
    for word in wordpiece_steps(tokenizer, text).words:
        for before, after in zip(word.lookups, word.lookups[1:], strict=False):
            if before.found:
                assert (after.start, after.end) == (before.end, len(word.text))
            else:
                assert (after.start, after.end) == (before.start, before.end - 1)
        for lookup in word.lookups:
            prefix = "##" if lookup.start else ""
            assert lookup.candidate == prefix + word.text[lookup.start : lookup.end]
            assert lookup.token_id == entries.get(lookup.candidate)
        if word.unknown is None and not word.added:
            assert [lookup.candidate for lookup in word.lookups if lookup.found] == [
                piece.token for piece in word.pieces
            ]


def test_stages_show_the_text_before_and_after() -> None:
    steps = wordpiece_steps(wordpiece(), "Ça\x00 va\t[MASK] 你")
    assert [(stage.name, stage.after) for stage in steps.stages] == [
        ("clean_text", "Ça va [MASK] 你"),
        ("handle_chinese_chars", "Ça va [MASK]  你 "),
        ("strip_accents", "Ca va [MASK]  你 "),
        ("lowercase", "ca va [MASK]  你 "),
    ]
    assert steps.stages[0].before == steps.text
    assert steps.normalized == steps.stages[-1].after
    assert steps.stages[0].spans[:3] == ((0, 1), (1, 2), (3, 4))  # NUL, character 2, is gone


@given(texts, st.booleans(), st.booleans(), st.sampled_from([None, True, False]), st.booleans())
def test_stages_equal_the_library_s_normalizer(
    text: str, clean: bool, cjk: bool, accents: bool | None, lower: bool
) -> None:
    plain = changed(wordpiece(clean, cjk, accents, lower), encode_special_tokens=True)
    steps = wordpiece_steps(plain, text)
    assert steps.normalized == plain.normalizer.normalize_str(text)
    for stage, following in zip(steps.stages, steps.stages[1:], strict=False):
        assert stage.after == following.before
    for stage in steps.stages:
        assert len(stage.spans) == len(stage.after)


def test_strip_accents_follows_lowercase_unless_told() -> None:
    def names(**flags: bool | None) -> list[str]:
        return [stage.name for stage in wordpiece_steps(wordpiece(False, False, **flags), "É").stages]

    assert names(strip_accents=None, lowercase=True) == ["strip_accents", "lowercase"]
    assert names(strip_accents=None, lowercase=False) == []
    assert names(strip_accents=True, lowercase=False) == ["strip_accents"]
    assert names(strip_accents=False, lowercase=True) == ["lowercase"]


def test_the_empty_text_has_no_words() -> None:
    steps = wordpiece_steps(wordpiece(), "")
    assert (steps.words, steps.tokens, steps.normalized) == ((), (), "")


@pytest.mark.parametrize(
    ("tokenizer", "message"),
    [
        (byte_level(), "model WordPiece, but this tokenizer has BPE"),
        (Tokenizer(models.WordPiece({"a": 0})), "has NoneType"),
    ],
)
def test_refuses_tokenizers_built_otherwise(tokenizer: Tokenizer, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        wordpiece_steps(tokenizer, "a")


def test_refuses_what_it_cannot_explain() -> None:
    other = changed(wordpiece())
    other.normalizer = normalizers.NFC()
    with pytest.raises(ValueError, match="BertNormalizer"):
        wordpiece_steps(other, "a")
    with pytest.raises(ValueError, match="no unknown token"):
        wordpiece_steps(vocabulary("a"), "b")
    with pytest.raises(ValueError, match="lone surrogate"):
        wordpiece_steps(wordpiece(), "a\ud800b")


@pytest.mark.parametrize(
    ("added", "message"),
    [(["Foo", "foo"], "spelled 'foo'"), (["\u0301"], "Nothing is left")],
)
def test_refuses_added_tokens_that_the_library_confuses(added: list[str], message: str) -> None:
    tokenizer = changed(wordpiece(), added=[AddedToken(content, normalized=True) for content in added])
    with pytest.raises(ValueError, match=message):
        wordpiece_steps(tokenizer, "foo")


def test_600_words_take_less_than_100_ms() -> None:
    tokenizer = wordpiece()
    text = " ".join(["Unbelievable", "cafés", "weren't", "jumping", "over", "3", "dogs,"] * 86)
    wordpiece_steps(tokenizer, text)
    seconds = []
    for _ in range(5):
        start = time.thread_time()
        wordpiece_steps(tokenizer, text)
        seconds.append(time.thread_time() - start)
    assert min(seconds) < 0.1
