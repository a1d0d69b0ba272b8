"""The door to the tokenizers, and what all results have in common."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from tokenizers import Tokenizer, models

from lab.text.tokenizers.bpe import BpeSteps
from lab.text.tokenizers.explained import tokenization_steps
from lab.text.tokenizers.wordpiece import WordPieceSteps
from tests.text.samples import EMBEDDED, assert_same, byte_level, texts, wordpiece
from tests.thorough import examples


def test_picks_by_model_type() -> None:
    assert isinstance(tokenization_steps(wordpiece(), "the fox"), WordPieceSteps)
    assert isinstance(tokenization_steps(byte_level(), "the fox"), BpeSteps)
    with pytest.raises(ValueError, match=r"explains WordPiece .* this one is Unigram"):
        tokenization_steps(Tokenizer(models.Unigram()), "the fox")


@given(texts)
def test_a_page_can_walk_words_and_pieces_of_either(text: str) -> None:
    for tokenizer in (wordpiece(), byte_level()):
        steps = tokenization_steps(tokenizer, text)
        walked = [piece for word in steps.words for piece in word.pieces]
        assert tuple(piece.token for piece in walked) == steps.tokens
        assert all(0 <= start < end <= len(text) for start, end in steps.offsets)
        assert all(tokenizer.token_to_id(piece.token.strip()) is not None for piece in walked)


def test_results_can_be_cached() -> None:
    for tokenizer in (wordpiece(), byte_level()):
        steps = tokenization_steps(tokenizer, "The unbelievable café")
        assert pickle.loads(pickle.dumps(steps)) == steps


@pytest.mark.parametrize("family", ["bert", "roberta", "gpt2"])
def test_equals_the_library_on_tokenizers_that_transformers_wrote(
    tiny_checkpoint: Callable[..., Path], family: str
) -> None:
    folder: Path = tiny_checkpoint(family)
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    for text in ("Hello  [MASK] <mask>  wörld's <|endoftext|>👩\u200d👧", " \n", "İ 你 ½"):
        assert_same(tokenizer, tokenization_steps(tokenizer, text))


@cache
def shipped(path: Path) -> Tokenizer:
    return Tokenizer.from_file(str(path))


@pytest.mark.parametrize("path", sorted(EMBEDDED.glob("*/tokenizer.json")), ids=lambda path: path.parent.name)
@settings(max_examples=examples(200))
@given(text=texts)
def test_equals_the_library_on_the_models_that_ship(path: Path, text: str) -> None:
    tokenizer = shipped(path)
    assert_same(tokenizer, tokenization_steps(tokenizer, text))
