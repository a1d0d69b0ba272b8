"""What the steps say about the learner's own text: counted again by the tokenizer of the library."""

from __future__ import annotations

import re

import pytest
from transformers import AutoTokenizer

import lab
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import plain, quoted
from lab.lessons.tokenization import cut, special_tokens, tokens
from lab.lessons.tokenization.pieces import another_language
from lab.lessons.tokenization.reading import TextReading, reading_of
from lab.models.catalogue import EMBEDDED
from lab.models.loading import load_model
from tests.checkpoints import FAMILIES, Family
from tests.conftest import TinyCheckpoint
from tests.sentences import RARE

TEXTS = [
    *(each.text.replace("[MASK]", "are") for each in EXAMPLES[:5]),
    "CAFÉ, café, Café",
    "I don't pay 3.50 for it.",
    "☃",
]


def read(model: str, text: str) -> TextReading:
    found = reading_of(lab.trace(lab.load_model(model), text))
    assert found is not None
    return found


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("text", TEXTS)
def test_words_are_counted_as_the_library_cuts_them(model: str, text: str) -> None:
    reading = read(model, text)
    tokenizer = reading.tokenizer
    normal = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
    found = [each for each, _ in tokenizer.pre_tokenizer.pre_tokenize_str(normal)]
    between = len(text.split())
    said = f"{between} word{'s' * (between != 1)} between spaces became {len(found)} pre-token"
    assert said in cut.said(reading)


@pytest.mark.parametrize(
    ("model", "text", "said"),
    [
        ("lab-bert", "CAFÉ café Café", "The text has 3 spellings, but the model sees only 1"),
        ("lab-bert", "She met him.", f"The text has {quoted('She')}, and the model reads {quoted('she')}."),
        ("lab-bert", "she met him.", "Every spelling stays"),
        ("lab-gpt2", "She met him.", "This model keeps capitals and accents"),
    ],
)
def test_what_becomes_of_the_spelling(model: str, text: str, said: str) -> None:
    assert said in cut.said(read(model, text))


def test_what_is_whole_and_what_is_cut_is_counted() -> None:
    said, words = tokens.said(read("lab-bert", RARE)), read("lab-bert", RARE).words
    pieces = [word for word in words if len(word.pieces) > 1]
    assert any(f"{quoted(word.text)} is not in the vocabulary" in said for word in pieces)
    assert f"{len(pieces) - 1} other words are cut, too." in said
    assert "3 other words and signs are in the vocabulary" in tokens.said(read("lab-bert", "The unhappily cat."))
    only = tokens.said(read("lab-bert", "cat"))
    assert "only word" in only and "in the vocabulary. The model reads 3 ids" in only
    assert "no token for 1 word" in tokens.said(read("lab-bert", "cat ☃"))


@pytest.mark.parametrize(("model", "own"), [("lab-minilm", 2), ("lab-gpt2", 0)])
def test_tokens_that_the_model_adds_are_counted(model: str, own: int) -> None:
    trace = lab.trace(lab.load_model(model), "She met him.")
    said = special_tokens.said(trace)
    assert (f"{own} of the {len(trace)} tokens are not from your text" if own else "adds no token") in said


@pytest.mark.parametrize("family", FAMILIES)
def test_the_first_token_s_use_is_said_of_models_that_have_it(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    trace = lab.trace(load_model(tiny_checkpoint(family)), "The cat.")
    said = special_tokens.first_token(trace)
    assert bool(said) == (family != "gpt2")
    assert ("follows the first" in said) == (trace.model.weights.pair_head is not None)


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_a_german_word_is_cut_as_the_library_cuts_it(model: str) -> None:
    theirs = AutoTokenizer.from_pretrained(EMBEDDED / model).tokenize(" Schmetterling")
    said = re.sub("[\u2068\u2069]", "", plain(another_language(load_model(model).tokenizer)))
    assert f"becomes “{' · '.join(each.removeprefix('Ġ') for each in theirs)}”" in said.replace("Ġ", "")


def test_a_word_that_no_pieces_can_build_is_no_token_of_its_own(tiny_checkpoint: TinyCheckpoint) -> None:
    said = plain(another_language(load_model(str(tiny_checkpoint("bert"))).tokenizer))
    assert "is a token, too" not in said and "becomes" in said
