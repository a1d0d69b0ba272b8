"""Every question about a text: the right option is what the library does, the wrong ones are not."""

from __future__ import annotations

from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lab.course.checks import Option, Question
from lab.course.words import quoted
from lab.lessons.tokenization import checks as check
from lab.lessons.tokenization import predictions as ask
from lab.lessons.tokenization.reading import Reading, askable, hardest
from lab.models.encoding import encode
from lab.models.loading import EMBEDDED
from lab.text.tokenizers.bpe import BpeWord
from lab.text.tokenizers.steps import tokenization_steps
from lab.text.tokenizers.wordpiece import WordSteps
from tests.conftest import TinyCheckpoint

TEXT = "The unhappily overworked photographers rebuilt everything."
# Words, case, accents, scripts without an entry in the vocabulary, signs that Markdown reads, added tokens.
TEXTS = st.lists(
    st.sampled_from(
        ["the", "The", "café", "unhappily", "photographers", "日本", "☃", "[MASK]", "<b>", "$x$", "*", ".", "\u200d"]
    )
    | st.text(max_size=6),
    max_size=12,
).map(" ".join)


@cache
def bert() -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / "lab-bert" / "tokenizer.json"))


@pytest.fixture(scope="module")
def gpt2(tiny_checkpoint: TinyCheckpoint) -> Tokenizer:
    return Tokenizer.from_file(str(tiny_checkpoint("gpt2") / "tokenizer.json"))


def read(tokenizer: Tokenizer, text: str, pair: str = "", most: int = 512) -> Reading:
    encoding = encode(tokenizer, SimpleNamespace(max_tokens=most), text, pair or None)  # type: ignore[arg-type]
    return Reading(encoding, tuple(tokenization_steps(tokenizer, each) for each in (text, pair) if each), tokenizer)


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def option(question: Question | None, text: str) -> Option:
    assert question is not None
    (found,) = (each for each in question.options if each.text == text)
    return found


def word_of(reading: Reading, text: str) -> WordSteps | BpeWord:
    return next(word for word in reading.words if word.text.strip() == text)


def test_the_number_of_tokens_is_the_librarys_and_the_others_count_something_else() -> None:
    question = ask.token_count(read(bert(), TEXT))
    assert answer(question).text == str(len(bert().encode(TEXT)))
    assert "words between spaces" in option(question, "6").why
    assert "pre-tokens" in option(question, "7").why
    assert question is not None and [each.text for each in question.options] == ["6", "7", "15", "17"]


def test_a_pair_is_counted_whole() -> None:
    question = ask.token_count(read(bert(), "The cat sat.", "It was tired."))
    assert answer(question).text == "11"
    assert answer(question).why == "8 tokens from the text, 3 added by the model."


def test_what_is_too_long_to_count_is_asked_about_one_word() -> None:
    long = read(bert(), "word " * 50 + "unhappily")
    cut = read(bert(), TEXT, most=10)
    assert ask.token_count(long) is None
    assert ask.token_count(cut) is None
    question = ask.piece_count(long)
    assert question is not None and "unhappily" in question.prompt
    assert answer(question).text == "4"
    assert option(question, "9").why.endswith("9 would be right if every character were a piece.")


def test_the_first_piece_is_the_longest_start_in_the_vocabulary() -> None:
    word = word_of(read(bert(), TEXT), "photographers")
    assert isinstance(word, WordSteps)
    question = ask.first_piece(bert().model, word)
    assert answer(question).text == quoted("photograph")
    assert "lookup 4" in answer(question).why
    assert "not in the vocabulary" in option(question, quoted("photographers")).why
    assert "in the vocabulary too" in option(question, quoted("phot")).why


def test_the_first_piece_of_a_whole_word_is_the_word() -> None:
    word = word_of(read(bert(), TEXT), "everything")
    assert isinstance(word, WordSteps)
    question = ask.first_piece(bert().model, word)
    assert answer(question).text == quoted("everything")
    assert "found at once" in answer(question).why


@pytest.mark.parametrize("text", ["☃", "x" * 150, "[MASK]", "."])
def test_no_first_piece_is_asked_where_there_is_none_to_choose(text: str) -> None:
    word = read(bert(), text).words[0]
    assert isinstance(word, WordSteps)
    assert ask.first_piece(bert().model, word) is None


def test_the_first_merge_has_the_lowest_rank_of_all_neighbours(gpt2: Tokenizer) -> None:
    word = word_of(read(gpt2, "The photographers"), "photographers")
    assert isinstance(word, BpeWord)
    question = ask.first_merge(gpt2, word)
    assert answer(question).text == f"{quoted('h')} + {quoted('e')}"
    assert "not in the list" in option(question, f"{quoted('p')} + {quoted('h')}").why


def test_the_split_is_the_librarys() -> None:
    question = check.split_of(read(bert(), TEXT))
    assert question is not None and "photographers" in question.prompt
    tokens = bert().encode("photographers", add_special_tokens=False).tokens
    assert answer(question).text == quoted(" · ".join(tokens))
    assert "shorter first piece" in option(question, quoted("phot · ##ograph · ##ers")).why
    assert option(question, quoted("photographers")).why == "The whole word is not in the vocabulary."


def test_an_unknown_word_is_read_as_one_token() -> None:
    question = check.unknown_word(read(bert(), "I like 👨‍👩‍👧 and ☃."))
    assert question is not None and "👨‍👩‍👧" in question.prompt  # as typed, its joiners included
    assert answer(question).text == f"{quoted('[UNK]')}, once"
    assert check.unknown_word(read(bert(), TEXT)) is None


def test_pieces_found_before_the_gap_are_offered_and_refuted() -> None:
    question = check.unknown_word(read(bert(), "happy☃"))
    assert "thrown away" in option(question, f"{quoted('happy')}, then {quoted('[UNK]')}").why


def test_capitals_are_one_word_to_bert_and_two_to_gpt2(gpt2: Tokenizer) -> None:
    text = "The cat saw the dog."
    assert answer(check.case_twins(read(bert(), text))).text == "Yes, the same"
    assert answer(check.case_twins(read(gpt2, text))).text == "No, different ones"
    assert check.case_twins(read(bert(), "A cat saw the dog.")) is None


def test_an_accent_alone_makes_a_twin_too() -> None:
    assert answer(check.case_twins(read(bert(), "naïve naive"))).text == "Yes, the same"


def test_the_mark_of_a_piece_and_of_a_space(gpt2: Tokenizer) -> None:
    assert answer(check.mark(read(bert(), TEXT))).text == "It continues the word on its left"
    assert answer(check.mark(read(gpt2, TEXT))).text == "A space stands before it in the text"
    assert check.mark(read(bert(), "The cat.")) is None


def test_a_word_that_stands_twice_has_one_id() -> None:
    question = check.distinct_ids(read(bert(), "The cat saw the dog."))
    assert answer(question).text == "7"
    assert "“\u2068the\u2069” stands twice" in answer(question).why
    assert check.distinct_ids(read(bert(), "A cat saw the dog.")) is None


def test_added_tokens_are_counted_and_found() -> None:
    single, pair = read(bert(), "The cat."), read(bert(), "The cat.", "It sat.")
    assert answer(check.added_tokens(single)).text == "2"
    assert answer(check.added_tokens(pair)).text == "3"
    assert "(token 5)" in answer(check.added_tokens(single)).why


def test_gpt2_adds_nothing(gpt2: Tokenizer) -> None:
    assert answer(check.added_tokens(read(gpt2, "The cat."))).text == "0"


def test_the_first_sentence_of_the_lab_decides_three_questions() -> None:
    reading = read(bert(), "The cat sat on the mat because it was tired.")
    assert [question.id for question in check.all_checks(reading)] == ["twins", "distinct-ids", "added"]


@given(TEXTS, TEXTS)
def test_whatever_is_asked_is_well_formed_and_true(text: str, pair: str) -> None:
    if not text.strip() or 0 not in bert().encode(text).sequence_ids:
        return
    reading = read(bert(), text, pair if pair.strip() else "")
    at = hardest(reading.words)
    assert (at is None) == (not reading.words)
    count = ask.token_count(reading)
    assert count is None or answer(count).text == str(len(bert().encode(text, pair if pair.strip() else None)))
    for word in reading.words:
        assert isinstance(word, WordSteps)
        first = ask.first_piece(bert().model, word)
        assert first is None or (askable(word) and answer(first).text == quoted(word.pieces[0].token))
    assert 1 <= len(check.all_checks(reading)) <= 3


@given(TEXTS)
def test_the_same_for_byte_pairs(gpt2: Tokenizer, text: str) -> None:
    if not text.strip():
        return
    reading = read(gpt2, text)
    for word in reading.words:
        assert isinstance(word, BpeWord)
        first = ask.first_merge(gpt2, word)
        assert first is None or quoted(word.merges[0].left) in answer(first).text
    assert 1 <= len(check.all_checks(reading)) <= 3
