"""Every question about a text: the right option is what the library does, the wrong ones are not."""

from __future__ import annotations

import re
from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

import lab
from lab.course.words import quoted
from lab.lessons.tokenization.cut import in_capitals
from lab.lessons.tokenization.pieces import another_word, unknown_sign, why_this_cut
from lab.lessons.tokenization.reading import mistyped, reading_of
from lab.lessons.tokenization.tokens import neighbours
from lab.models.encoding import TextError
from lab.models.loading import EMBEDDED
from lab.questions.asking import Asking
from lab.questions.question import Option, Question
from lab.questions.returning import Spot
from tests.sentences import CAT, RARE
from tests.thorough import some

ASKINGS = (why_this_cut, in_capitals, neighbours, unknown_sign, another_word)
# Words, case, accents, scripts without an entry in the vocabulary, signs that Markdown reads, added tokens.
TEXTS = st.lists(
    st.sampled_from(
        ["the", "The", "café", "unhappily", "photographers", "日本", "☃", "[MASK]", "<b>", "$x$", "*", ".", "\u200d"]
    )
    | st.text(max_size=6),
    min_size=1,
    max_size=10,
).map(" ".join)


@cache
def library(model: str) -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / model / "tokenizer.json"))


@cache
def spot(model: str, text: str) -> Spot:
    return Spot.of(lab.trace(lab.load_model(model), text))


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


def quotes(text: str) -> list[str]:
    return [each.strip("“”\u2068\u2069") for each in re.findall("“.+?”", text)]


def test_a_mistyped_word_falls_into_the_pieces_that_the_library_finds() -> None:
    for model, space in (("lab-bert", ""), ("lab-gpt2", " ")):
        reading = reading_of(spot(model, "The cat sat in the garden.").trace)
        assert reading is not None
        found = mistyped(reading)
        if found is None:
            continue
        typed = found.wrong.text.strip()
        assert len(typed) == len(found.word) - 1
        pieces = library(model).encode(space + typed, add_special_tokens=False).tokens
        assert [piece.token for piece in found.wrong.pieces] == pieces and len(pieces) > 1


@pytest.mark.parametrize("model", ["lab-bert", "lab-minilm"])
@pytest.mark.parametrize("text", [CAT, RARE])
def test_another_word_is_cut_as_the_library_cuts_it_and_every_option_is_possible(model: str, text: str) -> None:
    question = another_word(spot(model, text))
    assert question is not None
    (word,) = quotes(question.prompt)
    tokens = library(model).encode(word, add_special_tokens=False).tokens
    assert answer(question).text == quoted(" · ".join(tokens)) and word not in text.lower()
    firsts = []
    for option in question.options:
        if option.text.startswith("[UNK]"):
            continue
        pieces = quotes(option.text)[0].replace("\\", "").split(" · ")
        assert all(library(model).token_to_id(piece) is not None for piece in pieces)
        assert "".join(piece.removeprefix("##") for piece in pieces) == word
        firsts.append(len(pieces[0]))
    assert len(firsts) == 3 and max(firsts) == len(tokens[0]) and firsts.count(max(firsts)) == 1


def test_the_longest_beginning_is_taken_though_a_shorter_one_is_known() -> None:
    question = why_this_cut(spot("lab-bert", RARE))
    assert question is not None
    word, longer, shorter = quotes(question.prompt)
    assert word.startswith(longer) and longer.startswith(shorter) and longer != shorter
    assert library("lab-bert").encode(word, add_special_tokens=False).tokens[0] == longer
    assert library("lab-bert").token_to_id(shorter) is not None
    assert why_this_cut(spot("lab-bert", "The cat sat.")) is None


def test_the_pair_that_was_learned_first_is_joined_first() -> None:
    question = why_this_cut(spot("lab-gpt2", "The unbelievable photographers quarrelled"))
    assert answer(question).text == "It was learned earlier"
    first, then = map(int, re.findall(r"is (\d+)", answer(question).why))
    assert first < then


def test_a_rare_sign_is_lost_or_read_as_bytes() -> None:
    assert "other unknown signs" in answer(unknown_sign(spot("lab-bert", RARE))).text
    assert "bytes" in answer(unknown_sign(spot("lab-gpt2", RARE))).text
    assert unknown_sign(spot("lab-bert", "☃")) is None


def test_capitals_are_one_word_to_bert_and_two_to_gpt2() -> None:
    text = "The cat saw the dog."
    assert answer(in_capitals(spot("lab-bert", text))).text.startswith("Nothing")
    same = [library("lab-bert").encode(word, add_special_tokens=False).ids for word in ("THE", "the")]
    assert same[0] == same[1]
    assert answer(in_capitals(spot("lab-gpt2", text))).text == "It reads different ids"
    assert in_capitals(spot("lab-bert", "I am.")) is None


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2", "lab-minilm"])
def test_neighbours_in_the_list_have_neighbouring_ids_and_little_else_in_common(model: str) -> None:
    at = spot(model, "She gave her brother the book that he wanted.")
    question = neighbours(at)
    assert question is not None
    words = quotes(question.prompt)
    ids = [int(each.replace(",", "")) for each in re.findall(r"id (?:\u2068)?([\d,]+)", question.prompt)]
    assert abs(ids[0] - ids[1]) == 1
    assert [str(library(model).id_to_token(each)).removeprefix("Ġ") for each in ids] == words
    assert set(words) != {"she", "you"}, "two pronouns side by side speak for the wrong belief"


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("text", [CAT, RARE, "She met Zoé."])
def test_at_least_two_questions_are_asked_of_a_sentence(model: str, text: str) -> None:
    at = spot(model, text)
    assert sum(each(at) is not None for each in ASKINGS[:4]) >= 2


@pytest.mark.parametrize("model", some(["lab-bert", "lab-gpt2"], 1))
@given(text=TEXTS)
def test_whatever_is_asked_is_well_formed_and_has_one_answer(model: str, text: str) -> None:
    try:
        at = Spot.of(lab.trace(lab.load_model(model), text))
    except TextError:
        return
    for asking in ASKINGS:
        assert isinstance(asking, Asking)
        question = asking(at)
        if question is not None:
            assert sum(option.correct for option in question.options) == 1
            assert len({option.text for option in question.options}) == len(question.options) >= 2
