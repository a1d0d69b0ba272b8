"""Every question about a text: the right option is what the library does, the wrong ones are not."""

from __future__ import annotations

import re
from functools import cache
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from lab.course.words import quoted
from lab.lessons.tokenization import checks, meanings, predictions
from lab.lessons.tokenization.reading import TextReading, askable, hardest
from lab.models.encoding import encode
from lab.models.loading import EMBEDDED
from lab.questions.question import Option, Question
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


def read(tokenizer: Tokenizer, text: str, pair: str = "", most: int = 512) -> TextReading:
    encoding = encode(tokenizer, SimpleNamespace(max_tokens=most), text, pair or None)  # type: ignore[arg-type]
    return TextReading(encoding, tuple(tokenization_steps(tokenizer, each) for each in (text, pair) if each), tokenizer)


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def option(question: Question | None, text: str) -> Option:
    assert question is not None
    (found,) = (each for each in question.options if each.text == text)
    return found


def word_of(reading: TextReading, text: str) -> WordSteps | BpeWord:
    return next(word for word in reading.words if word.text.strip() == text)


@pytest.mark.parametrize("text", [TEXT, "Is the house small?"])
def test_one_word_is_whole_and_the_others_are_cut_as_the_library_says(text: str) -> None:
    question = predictions.one_token(read(bert(), text))
    assert question is not None
    for each in question.options:
        word = each.text.strip("“\u2068\u2069”")
        assert word not in text
        assert (len(bert().encode(word, add_special_tokens=False).ids) == 1) == each.correct


def test_a_mistyped_word_falls_into_the_pieces_that_the_library_finds() -> None:
    question = checks.mistyped(read(bert(), "The garden is small."))
    assert question is not None and "garden" in question.prompt
    wrong = re.findall("mistype it as “\u2068(.+?)\u2069”", question.prompt)[0]
    pieces = bert().encode(wrong, add_special_tokens=False).tokens
    assert len(pieces) > 1
    assert all(piece.replace("#", "\\#") in answer(question).why for piece in pieces)
    assert checks.mistyped(read(bert(), "a b c")) is None


def test_what_is_whole_and_what_is_cut_is_counted() -> None:
    said = meanings.whole_and_cut(read(bert(), TEXT))
    words = read(bert(), TEXT).words
    cut = [word for word in words if len(word.pieces) > 1]
    whole = f", {len(words) - len(cut)} are in the vocabulary as a whole."
    assert f"Of the {len(words)} words and punctuation marks" in said and whole in said
    assert any(quoted(word.text) in said for word in cut) and "adds 2 tokens" in said
    assert "The only word of your text is in the vocabulary as a whole" in meanings.whole_and_cut(read(bert(), "cat"))
    assert "cannot build 1 word" in meanings.whole_and_cut(read(bert(), "cat ☃"))


def test_a_word_that_is_looked_up_in_another_spelling_is_not_said_to_be_as_typed(gpt2: Tokenizer) -> None:
    said = meanings.whole_and_cut(read(bert(), "She met Zoé."))
    assert f"{quoted('She')} is looked up as {quoted('she')}, and 1 other word in another" in said
    assert bert().normalizer.normalize_str("She met Zoé.") == "she met zoe."
    for tokenizer, text in ((bert(), "she met him."), (gpt2, "She met Zoé.")):
        assert "looked up" not in meanings.whole_and_cut(read(tokenizer, text))


def test_the_word_offered_is_one_that_the_tokenizer_cuts(gpt2: Tokenizer) -> None:
    for tokenizer in (bert(), gpt2):
        offered = predictions.cut_sentence(tokenizer)
        assert offered is not None
        word, sentence = offered
        start = sentence.index(word)
        of_word = [span for span in tokenizer.encode(sentence).offsets if start <= span[0] < start + len(word)]
        assert len(of_word) > 1


def test_the_first_piece_is_the_longest_start_in_the_vocabulary() -> None:
    word = word_of(read(bert(), TEXT), "photographers")
    assert isinstance(word, WordSteps)
    question = predictions.first_piece(bert().model, word)
    assert answer(question).text == quoted("photograph")
    assert "lookup 4" in answer(question).why
    assert "not in the vocabulary" in option(question, quoted("photographers")).why
    assert "in the vocabulary too" in option(question, quoted("phot")).why


@pytest.mark.parametrize("text", ["☃", "x" * 150, "[MASK]", ".", "everything"])
def test_no_first_piece_is_asked_where_there_is_none_to_choose(text: str) -> None:
    word = read(bert(), text).words[0]
    assert isinstance(word, WordSteps)
    assert predictions.first_piece(bert().model, word) is None


def test_the_first_merge_has_the_lowest_rank_of_all_neighbours(gpt2: Tokenizer) -> None:
    word = word_of(read(gpt2, "The photographers"), "photographers")
    assert isinstance(word, BpeWord)
    question = predictions.first_merge(gpt2, word)
    assert answer(question).text == f"{quoted('h')} + {quoted('e')}"
    assert "not in the list" in option(question, f"{quoted('p')} + {quoted('h')}").why


def test_the_split_is_the_librarys() -> None:
    question = checks.split_of(read(bert(), TEXT))
    assert question is not None and "photographers" in question.prompt
    tokens = bert().encode("photographers", add_special_tokens=False).tokens
    assert answer(question).text == quoted(" · ".join(tokens))
    assert "shorter first piece" in option(question, quoted("phot · ##ograph · ##ers")).why
    assert option(question, quoted("photographers")).why == "The whole word is not in the vocabulary."


def test_an_unknown_word_is_read_as_one_token() -> None:
    question = checks.unknown_word(read(bert(), "I like 👨‍👩‍👧 and ☃."))
    assert question is not None and "👨‍👩‍👧" in question.prompt  # as typed, its joiners included
    assert answer(question).text == f"{quoted('[UNK]')}, once"
    assert checks.unknown_word(read(bert(), TEXT)) is None


def test_pieces_found_before_the_gap_are_offered_and_refuted() -> None:
    question = checks.unknown_word(read(bert(), "happy☃"))
    assert "thrown away" in option(question, f"{quoted('happy')}, then {quoted('[UNK]')}").why


def test_capitals_are_one_word_to_bert_and_two_to_gpt2(gpt2: Tokenizer) -> None:
    text = "The cat saw the dog."
    assert answer(checks.case_twins(read(bert(), text))).text == "Yes, the same"
    assert answer(checks.case_twins(read(gpt2, text))).text == "No, different ones"
    assert checks.case_twins(read(bert(), "A cat saw the dog.")) is None


def test_an_accent_alone_makes_a_twin_too() -> None:
    assert answer(checks.case_twins(read(bert(), "naïve naive"))).text == "Yes, the same"


def test_the_mark_of_a_piece_and_of_a_space(gpt2: Tokenizer) -> None:
    assert answer(checks.mark(read(bert(), TEXT))).text == "It continues the word on its left"
    assert answer(checks.mark(read(gpt2, TEXT))).text == "A space stands before it in the text"
    assert checks.mark(read(bert(), "The cat.")) is None


def test_a_word_that_stands_twice_has_one_id() -> None:
    question = checks.distinct_ids(read(bert(), "The cat saw the dog."))
    assert answer(question).text == "7"
    assert "“\u2068the\u2069” stands twice" in answer(question).why
    assert checks.distinct_ids(read(bert(), "A cat saw the dog.")) is None


def test_added_tokens_are_counted_and_found() -> None:
    single, pair = read(bert(), "The cat."), read(bert(), "The cat.", "It sat.")
    assert answer(checks.added_tokens(single)).text == "2"
    assert answer(checks.added_tokens(pair)).text == "3"
    assert "(token 5)" in answer(checks.added_tokens(single)).why


def test_gpt2_adds_nothing(gpt2: Tokenizer) -> None:
    assert answer(checks.added_tokens(read(gpt2, "The cat."))).text == "0"


def test_the_first_sentence_of_the_lab_decides_three_questions() -> None:
    reading = read(bert(), "The cat sat on the mat because it was tired.")
    assert [question.id for question in checks.all_checks(reading)] == ["mistyped", "twins", "distinct-ids"]


@given(TEXTS, TEXTS)
def test_whatever_is_asked_is_well_formed_and_true(text: str, pair: str) -> None:
    if not text.strip() or 0 not in bert().encode(text).sequence_ids:
        return
    reading = read(bert(), text, pair if pair.strip() else "")
    at = hardest(reading.words)
    assert (at is None) == (not reading.words)
    assert meanings.whole_and_cut(reading).endswith("of its own.")
    for word in reading.words:
        assert isinstance(word, WordSteps)
        first = predictions.first_piece(bert().model, word)
        assert first is None or (askable(word) and answer(first).text == quoted(word.pieces[0].token))
    assert 1 <= len(checks.all_checks(reading)) <= 3


@given(TEXTS)
def test_the_same_for_byte_pairs(gpt2: Tokenizer, text: str) -> None:
    if not text.strip():
        return
    reading = read(gpt2, text)
    for word in reading.words:
        assert isinstance(word, BpeWord)
        first = predictions.first_merge(gpt2, word)
        assert first is None or quoted(word.merges[0].left) in answer(first).text
    assert 1 <= len(checks.all_checks(reading)) <= 3
