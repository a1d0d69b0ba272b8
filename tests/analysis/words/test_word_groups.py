"""From tokens to words: the words themselves, and attention between them against loops and by hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

import lab
from lab.analysis.words.word_groups import reduce_to_words, words_of
from lab.models.encoding import Encoding, encode
from tests.conftest import TinyCheckpoint


def naive(attention: NDArray[np.floating], groups: Sequence[int]) -> NDArray[np.floating]:
    """One head, as bertplus does it: the mean of the rows of a word, then the sum of its columns."""
    count = max(groups) + 1
    result = np.zeros((count, count))
    for query in range(count):
        rows = [i for i, word in enumerate(groups) if word == query]
        for key in range(count):
            columns = [j for j, word in enumerate(groups) if word == key]
            result[query, key] = sum(attention[i, j] for i in rows for j in columns) / len(rows)
    return result


@pytest.mark.parametrize("groups", [(0,), (0, 0, 0), (0, 1, 2, 3), (0, 1, 1, 2, 3, 3, 3, 4)])
def test_every_head_equals_the_loops(groups: tuple[int, ...]) -> None:
    n = len(groups)
    attention = np.random.default_rng(0).random((2, 3, n, n))
    attention /= attention.sum(-1, keepdims=True)
    found = reduce_to_words(attention, groups)
    assert found.shape == (2, 3, max(groups) + 1, max(groups) + 1)
    for layer in range(2):
        for head in range(3):
            np.testing.assert_allclose(found[layer, head], naive(attention[layer, head], groups), atol=1e-12)
    np.testing.assert_allclose(found.sum(-1), 1, atol=1e-12)


@pytest.mark.parametrize("groups", [(0, 1), (1, 1, 2), (0, 2, 2), (0, 1, 0), ()])
def test_words_that_do_not_fit(groups: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"tokens have words|Words are numbered"):
        reduce_to_words(np.full((3, 3), 1 / 3), groups)


def encoded(model_id: str, text: str, pair: str | None = None) -> Encoding:
    model = lab.load_model(model_id)
    return encode(model.tokenizer, model.config, text, pair)


def test_words_of_a_pair() -> None:
    encoding = encoded("lab-bert", "Unhappily, café!", "Cats don't.")
    words = words_of(encoding)
    assert words.labels == ("[CLS]", "Unhappily", ",", "café", "!", "[SEP]", "Cats", "don", "'", "t", ".", "[SEP]")
    assert words.special == tuple(label in ("[CLS]", "[SEP]") for label in words.labels)
    assert words.in_pair.index(True) == 6
    assert len(words.groups) == len(encoding)
    assert max(words.groups) + 1 == len(words)
    pieces = [[t for t, g in zip(encoding.tokens, words.groups, strict=True) if g == w] for w in range(len(words))]
    assert "".join(pieces[1]).replace("##", "") == "unhappily"
    assert len(pieces[1]) > 1


def test_the_last_word_of_a_text_is_not_the_first_of_the_next(tiny_checkpoint: TinyCheckpoint) -> None:
    """Both texts count their words from 0, and a text of one word has no other between them."""
    encoding = encoded(str(tiny_checkpoint("gpt2")), "cat", "cat")
    words = words_of(encoding)
    assert words.labels == ("cat", "cat")
    assert words.in_pair == (False, True)


@pytest.mark.parametrize("text", ["👩‍👩‍👧 ok", "القط جلس", "a", "\u202ehi", "  two   spaces "])
@pytest.mark.parametrize("model_id", ["lab-bert", "lab-gpt2"])
def test_words_cover_the_text_in_order(model_id: str, text: str) -> None:
    encoding = encoded(model_id, text)
    words = words_of(encoding)
    assert list(words.groups) == sorted(words.groups)
    real = [label for label, special in zip(words.labels, words.special, strict=True) if not special]
    at = 0
    for label in real:
        assert text.find(label, at) >= at
        at = text.find(label, at)
