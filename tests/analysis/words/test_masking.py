"""Hidden words: which there are to hide, and what the model then reads."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from lab.analysis.words.masking import (
    asked_next,
    hide,
    maskable,
    place_to_start,
    spread,
    typed_masks,
    whole_words,
)
from lab.models.encoding import Encoding, encode
from lab.models.loading import load_model
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint

Read = Callable[..., tuple[Encoding, tuple[str, int]]]


@pytest.fixture
def read(tiny_checkpoint: TinyCheckpoint) -> Read:
    """``read(text, pair, family)``: the encoding of a text, and the family's mask token."""

    def encoding(text: str, pair: str | None = None, family: Family = "bert") -> tuple[Encoding, tuple[str, int]]:
        model = load_model(tiny_checkpoint(family))
        mask = model.mask
        assert mask is not None
        return encode(model.tokenizer, model.config, text, pair), mask

    return encoding


@pytest.mark.parametrize(
    ("family", "mask", "unknown"),
    [("bert", "[MASK]", True), ("roberta", "<mask>", True), ("gpt2", None, False)],
)
def test_the_mask_token_is_the_tokenizers_own(
    tiny_checkpoint: TinyCheckpoint, family: Family, mask: str | None, unknown: bool
) -> None:
    from transformers import AutoTokenizer

    model = load_model(tiny_checkpoint(family))
    theirs = AutoTokenizer.from_pretrained(tiny_checkpoint(family))
    assert model.mask == (None if mask is None else (mask, theirs.mask_token_id))
    assert model.unknown == (theirs.unk_token_id if unknown else None)


def test_special_tokens_cannot_be_hidden(read: Read) -> None:
    encoding, (_, mask_id) = read("The cat sat.", "It was the river.")
    offered = maskable(encoding, mask_id)
    assert [encoding.tokens[place] for place in offered] == ["the", "cat", "sat", ".", "it", "was", "the", "river", "."]


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert", "modernbert"])
def test_a_typed_mask_counts_as_hidden(read: Read, family: Family) -> None:
    typed = {"roberta": "<mask>"}.get(family, "[MASK]")
    encoding, (_, mask_id) = read(f"The cat {typed} on the mat", family=family)
    (place,) = typed_masks(encoding, mask_id)
    assert encoding.tokens[place] == typed
    assert place not in maskable(encoding, mask_id)
    assert place_to_start(encoding, mask_id) == ()


def test_hiding_replaces_token_and_id_and_nothing_else(read: Read) -> None:
    encoding, mask = read("The cat sat on the mat.", "It was tired.")
    hidden = hide(encoding, (2, 5), mask)
    typed, _ = read("The [MASK] sat on [MASK] mat.", "It was tired.")
    assert hidden.token_ids == typed.token_ids
    assert hidden.tokens == typed.tokens
    assert (hidden.text, hidden.offsets, hidden.segment_ids, hidden.special) == (
        encoding.text,
        encoding.offsets,
        encoding.segment_ids,
        encoding.special,
    )
    assert hide(encoding, (), mask) == encoding


def test_a_place_that_is_not_there_is_named(read: Read) -> None:
    encoding, mask = read("The cat.")
    with pytest.raises(IndexError, match=f"0 to {len(encoding) - 1}"):
        hide(encoding, (len(encoding),), mask)


def test_pieces_and_signs_are_no_whole_words(read: Read) -> None:
    encoding, (_, mask_id) = read("The cat unhappilies, 17!", "A river")
    words = whole_words(encoding, maskable(encoding, mask_id))
    assert [encoding.tokens[place] for place in words] == ["the", "cat", "a", "river"]


@pytest.mark.parametrize(
    ("text", "pair", "token"),
    [
        ("The cat sat.", None, "sat"),
        ("The cat sat.", "It was the river!", "river"),
        ("!?", None, "?"),
        ("🙂", None, "[UNK]"),
    ],
)
def test_the_last_whole_word_is_hidden_first(read: Read, text: str, pair: str | None, token: str) -> None:
    encoding, (_, mask_id) = read(text, pair)
    (place,) = place_to_start(encoding, mask_id)
    assert encoding.tokens[place] == token


def test_spread_keeps_the_ends_and_the_order() -> None:
    assert spread((1, 2, 3), 4) == (1, 2, 3)
    assert spread(tuple(range(10, 21)), 4) == (10, 13, 17, 20)
    assert spread((), 4) == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [("The cat sat on it.", "Ġon"), ("The cat sat on it", "Ġit"), ("Why?", "?"), ("The cat !?", "The")],
)
def test_a_next_token_is_asked_for_where_a_word_follows(text: str, after: str) -> None:
    model = load_model("lab-gpt2")
    read = encode(model.tokenizer, model.config, text)
    assert read.tokens[asked_next(read)] == after
