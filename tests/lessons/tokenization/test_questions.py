"""Every question is written: what its prompt and its options say of the vocabulary is held to the library."""

from __future__ import annotations

import re
from functools import cache

from tokenizers import Tokenizer

import lab
from lab.lessons.tokenization.pieces import another_word, why_this_cut
from lab.lessons.tokenization.tokens import next_in_the_list
from lab.models.loading import EMBEDDED
from lab.questions.asking import Asking, Spot
from lab.questions.question import Question
from tests.sentences import CAT


@cache
def library(model: str = "lab-minilm") -> Tokenizer:
    return Tokenizer.from_file(str(EMBEDDED / model / "tokenizer.json"))


def tokens(text: str, model: str = "lab-minilm") -> list[str]:
    return list(library(model).encode(text, add_special_tokens=False).tokens)


def asked(asking: Asking) -> Question:
    question = asking(Spot.of(lab.trace(lab.load_model("lab-bert"), CAT)))
    assert question is not None
    return question


def test_the_list_is_as_the_question_says() -> None:
    at = {word: library().token_to_id(word) or 0 for word in ("france", "hair", "germany", "frances")}
    assert 0 < at["france"] == at["hair"] - 1
    question = asked(next_in_the_list)
    told = " ".join([question.prompt, *(option.why for option in question.options)])
    assert all(f"{at[word]:,}" in told for word in at)


def test_another_word_is_cut_as_the_library_cuts_it_and_every_option_is_possible() -> None:
    question = asked(another_word)
    assert question.options[question.answer].text == " · ".join(tokens("Parisians"))
    for option in question.options:
        pieces = option.text.split(" · ")
        assert all(library().token_to_id(piece) is not None for piece in pieces)
        assert "".join(piece.removeprefix("##") for piece in pieces) == "parisians"
    assert all(library().token_to_id(each) is not None for each in re.findall(r"\*(\S+?)\*", question.prompt)[:5])
    assert library().token_to_id("parisians") is None


def test_a_word_is_not_cut_where_its_meaning_has_parts() -> None:
    assert " · ".join(tokens("unhappily")) in asked(why_this_cut).prompt
    assert library().token_to_id("happily") is not None is library().token_to_id("##happily")


def test_capitals_are_one_word_to_bert_and_two_to_gpt2() -> None:
    shouted, said = "PARIS IS IN FRANCE!", "Paris is in France!"
    assert tokens(shouted) == tokens(said)
    assert tokens(shouted, "lab-gpt2") != tokens(said, "lab-gpt2")


def test_a_snowman_is_lost_or_read_as_bytes() -> None:
    assert tokens("☃") == ["[UNK]"] and len(tokens(" ☃", "lab-gpt2")) == 4
