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
from lab.lessons.tokenization.reading import TextReading, askable, hardest, joined, mistyped
from lab.models.encoding import encode
from lab.models.loading import EMBEDDED
from lab.questions.question import Option, Question
from lab.text.tokenizers.steps import tokenization_steps
from tests.conftest import TinyCheckpoint
from tests.sentences import CAT, RARE

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


def test_a_mistyped_word_falls_into_the_pieces_that_the_library_finds(gpt2: Tokenizer) -> None:
    for tokenizer, space in ((bert(), ""), (gpt2, " ")):
        found = mistyped(read(tokenizer, "The cat sat in the garden."))
        if found is None:
            continue
        typed = found.wrong.text.strip()
        assert len(typed) == len(found.word) - 1
        pieces = tokenizer.encode(space + typed, add_special_tokens=False).tokens
        assert [piece.token for piece in found.wrong.pieces] == pieces and len(pieces) > 1
        question = predictions.not_in_the_vocabulary(found.wrong, found)
        assert question is not None and quoted(found.word) in question.prompt and quoted(typed) in question.prompt
        assert quoted(" · ".join(pieces)) in answer(question).why
    assert mistyped(read(bert(), "The garden is small.")) is not None
    assert mistyped(read(bert(), "a b c")) is None


def test_what_is_whole_and_what_is_cut_is_counted() -> None:
    said = meanings.whole_and_cut(read(bert(), RARE))
    words = read(bert(), RARE).words
    cut = [word for word in words if len(word.pieces) > 1]
    assert any(f"{quoted(word.text)} is not in the vocabulary" in said for word in cut)
    assert f"{len(cut) - 1} other words are cut, too." in said
    one = meanings.whole_and_cut(read(bert(), "The unhappily cat."))
    assert "3 other words and signs are in the vocabulary" in one
    only = meanings.whole_and_cut(read(bert(), "cat"))
    assert "only word" in only and "in the vocabulary. The model reads 3 ids" in only
    assert "no token for 1 word" in meanings.whole_and_cut(read(bert(), "cat ☃"))


@pytest.mark.parametrize("text", ["the cat", "x" * 150, "[MASK]", "."])
def test_nothing_is_asked_of_a_word_that_is_whole_or_too_long(text: str) -> None:
    for word in read(bert(), text).words:
        assert predictions.not_in_the_vocabulary(word, None) is None


def test_a_word_that_cannot_be_built_becomes_a_sign() -> None:
    for text, right in (("☃", "unknown word"), (RARE, "in the vocabulary")):
        asked = [predictions.not_in_the_vocabulary(word, None) for word in read(bert(), text).words]
        (said,) = {answer(each).text for each in asked if each is not None}
        assert right in said


def test_the_longest_beginning_is_taken_though_a_shorter_one_is_known() -> None:
    question = checks.why_this_cut(read(bert(), RARE))
    assert question is not None
    word, longer, shorter = (quote.strip("“”\u2068\u2069") for quote in re.findall("“.+?”", question.prompt))
    assert word.startswith(longer) and longer.startswith(shorter) and longer != shorter
    assert bert().encode(word, add_special_tokens=False).tokens[0] == longer
    assert bert().token_to_id(shorter) is not None
    assert checks.why_this_cut(read(bert(), "The cat sat.")) is None


def test_the_pair_that_was_learned_first_is_joined_first(gpt2: Tokenizer) -> None:
    question = checks.why_this_cut(read(gpt2, "The photographers"))
    assert answer(question).text == "It was learned earlier"
    first, then = map(int, re.findall(r"is (\d+)", answer(question).why))
    assert first < then


def test_an_unknown_word_is_read_as_one_token() -> None:
    question = checks.unknown_word(read(bert(), "I like 👨‍👩‍👧 and ☃."))
    assert question is not None and "👨‍👩‍👧" in question.prompt  # as typed, its joiners included
    assert answer(question).text == f"{quoted('[UNK]')}, once"
    assert checks.unknown_word(read(bert(), RARE)) is None


def test_pieces_found_before_the_gap_are_offered_and_refuted() -> None:
    question = checks.unknown_word(read(bert(), "happy☃"))
    assert "dropped" in option(question, f"{quoted('happy')}, then {quoted('[UNK]')}").why


def test_a_rare_sign_is_lost_or_read_as_bytes(gpt2: Tokenizer) -> None:
    assert "other unknown signs" in answer(checks.unknown_sign(read(bert(), RARE))).text
    assert "bytes" in answer(checks.unknown_sign(read(gpt2, RARE))).text
    assert checks.unknown_sign(read(bert(), "☃")) is None


def test_capitals_are_one_word_to_bert_and_two_to_gpt2(gpt2: Tokenizer) -> None:
    text = "The cat saw the dog."
    assert answer(checks.in_capitals(read(bert(), text))).text.startswith("Nothing")
    same = bert().encode("THE", add_special_tokens=False).ids == bert().encode("the", add_special_tokens=False).ids
    assert same
    assert answer(checks.in_capitals(read(gpt2, text))).text == "It reads other ids"
    assert checks.in_capitals(read(bert(), "I am.")) is None


def test_neighbours_in_the_list_have_neighbouring_ids(gpt2: Tokenizer) -> None:
    for tokenizer in (bert(), gpt2):
        question = checks.neighbours_in_the_list(read(tokenizer, "The cat saw the dog."))
        assert question is not None
        words = [quote.strip("“”\u2068\u2069") for quote in re.findall("“.+?”", question.prompt)]
        ids = [int(each.replace(",", "")) for each in re.findall(r"id (?:\u2068)?([\d,]+)", question.prompt)]
        assert abs(ids[0] - ids[1]) == 1
        assert [str(tokenizer.id_to_token(each)).removeprefix("Ġ") for each in ids] == words


@pytest.mark.parametrize("text", [CAT, RARE, "She met Zoé."])
def test_three_questions_are_asked(text: str) -> None:
    assert len(checks.all_checks(read(bert(), text))) == 3


@given(TEXTS, TEXTS)
def test_whatever_is_asked_is_well_formed_and_true(text: str, pair: str) -> None:
    if not text.strip() or 0 not in bert().encode(text).sequence_ids:
        return
    reading = read(bert(), text, pair if pair.strip() else "")
    at = hardest(reading.words)
    assert (at is None) == (not reading.words)
    assert meanings.whole_and_cut(reading).count(". ") <= 1
    for word in reading.words:
        asked = predictions.not_in_the_vocabulary(word, None)
        assert asked is None or (askable(word) and joined(word.pieces) in answer(asked).why)
    assert len(checks.all_checks(reading)) <= 3


@given(TEXTS)
def test_the_same_for_byte_pairs(gpt2: Tokenizer, text: str) -> None:
    if not text.strip():
        return
    reading = read(gpt2, text)
    for word in reading.words:
        asked = predictions.not_in_the_vocabulary(word, None)
        assert asked is None or answer(asked).text.startswith("Pieces")
    assert len(checks.all_checks(reading)) <= 3
