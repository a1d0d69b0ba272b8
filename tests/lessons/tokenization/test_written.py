"""What the steps say about a text: counted again by the tokenizer of the library."""

from __future__ import annotations

import re

import pytest
from transformers import AutoTokenizer

import lab
from lab.course.sentences.examples import EXAMPLES
from lab.course.sentences.looks import STORY_TEXT
from lab.course.words import plain
from lab.lessons.tokenization import pieces, special_tokens, tokens
from lab.lessons.tokenization.view import TextReading, Word
from lab.models.catalogue import EMBEDDED
from lab.models.loading import load_model
from lab.text.tokenizers.explained import tokenization_steps
from tests.sentences import RARE

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = [*(each.text.replace("[MASK]", "are") for each in EXAMPLES[:5]), RARE, "CAFÉ, café, Café", "I paid 3.50.", "☃"]


def read(model: str, text: str) -> TextReading:
    trace = lab.trace(lab.load_model(model), text)
    steps = tokenization_steps(trace.model.tokenizer, text)
    return TextReading(trace.encoding, (steps,), trace.model.tokenizer)


def bare(text: str) -> str:
    return re.sub("[\u2068\u2069Ġ]", "", plain(text))


def written(word: Word) -> str:
    return "“" + " · ".join(piece.token for piece in word.pieces).replace("Ġ", "") + "”"


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_ids_and_pieces_are_the_library_s(model: str, text: str) -> None:
    theirs = AutoTokenizer.from_pretrained(EMBEDDED / model)
    reading = read(model, text)
    said = bare(tokens.reading(reading))
    assert f"of the text are {len(theirs(text)['input_ids'])} ids" in said
    cut = [word for word in reading.words if len(word.pieces) > 1]
    assert ("so it becomes" in said) == bool(cut)
    assert not cut or any(f"so it becomes {written(word)}" in said for word in cut)


def test_the_course_s_sentence_is_read_as_it_says() -> None:
    theirs = AutoTokenizer.from_pretrained(EMBEDDED / "lab-minilm")
    assert len(theirs(STORY_TEXT)["input_ids"]) == 9
    assert theirs.tokenize("France CAFÉ [MASK]") == ["france", "cafe", "[MASK]"]
    assert "*france*, not *France*" in tokens.WRITTEN


@pytest.mark.parametrize("model", MODELS)
def test_a_text_without_a_cut_word_gets_one_that_is_cut_as_the_library_cuts_it(model: str) -> None:
    theirs = AutoTokenizer.from_pretrained(EMBEDDED / model).tokenize(" Mauritania")
    brought = pieces.rare(read(model, "The capital of France is"))
    assert brought is not None and [piece.token for piece in brought.pieces] == theirs
    assert f"{len(theirs)} tokens" in pieces.said(brought) and written(brought) in bare(pieces.said(brought))
    assert pieces.rare(read("lab-minilm", "Mauritania is large.")) is None


@pytest.mark.parametrize(("model", "own"), [("lab-minilm", 2), ("lab-gpt2", 0)])
def test_tokens_that_the_model_adds_are_counted(model: str, own: int) -> None:
    trace = lab.trace(lab.load_model(model), "She met him.")
    said = special_tokens.said(trace)
    assert (f"{own} of the {len(trace)} tokens are not from the text" if own else "adds no token") in said


@pytest.mark.parametrize("model", MODELS)
def test_a_german_word_is_cut_as_the_library_cuts_it(model: str) -> None:
    theirs = AutoTokenizer.from_pretrained(EMBEDDED / model).tokenize(" Schmetterling")
    found = pieces.cut_alone(load_model(model).tokenizer, "Schmetterling")
    assert [piece.token for piece in found.pieces] == theirs and len(theirs) > 1
