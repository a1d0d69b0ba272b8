"""Which words are near: held to torch's own cosine, over all words and all sentences, and to what a reader knows."""

from __future__ import annotations

import pytest
import torch
from torch.nn.functional import cosine_similarity

import lab
from lab.analysis.words.neighbours import (
    cosine_by_state,
    is_whole,
    nearest_in_table,
    nearest_in_texts,
    places_in,
    states_of,
    vocabulary_words,
)
from lab.models.encoding import word_of
from lab.models.twin import random_twin
from lab.toy.models import constructed_toy

TEXTS = ("The cat sat on the mat.", "She opened the door.", "A dog saw the cat on the road.")


@pytest.mark.parametrize(
    ("model", "word", "near"),
    [
        ("lab-bert", "monday", {"tuesday", "wednesday", "friday"}),
        ("lab-bert", "he", {"she", "they"}),
        ("lab-bert", "three", {"two", "four", "five"}),
        ("lab-gpt2", "␣three", {"␣two", "␣four"}),
        ("lab-gpt2", "␣he", {"␣she", "␣they"}),
    ],
)
def test_like_words_have_like_vectors(model: str, word: str, near: set[str]) -> None:
    loaded = lab.load_model(model)
    token_id = next(i for i in vocabulary_words(loaded) if word_of(loaded.tokenizer, i) == word)
    found = nearest_in_table(loaded, token_id, 4)
    assert near <= {each.word for each in found.nearest}
    table, others = loaded.weights.embeddings.token, [i for i in vocabulary_words(loaded) if i != token_id]
    expected = cosine_similarity(table[others].double(), table[token_id].double(), dim=-1)
    assert [each.cosine for each in found.nearest] == pytest.approx(expected.topk(4).values.tolist(), abs=1e-6)
    assert found.mean == pytest.approx(expected.mean().item(), abs=1e-6) and found.count == len(others)


def test_random_weights_know_no_days() -> None:
    twin = random_twin(lab.load_model("lab-bert"), 0)
    token_id = twin.tokenizer.token_to_id("monday")
    assert token_id is not None
    assert not {"tuesday", "wednesday", "friday"} & {each.word for each in nearest_in_table(twin, token_id, 4).nearest}


def test_pieces_signs_and_letters_are_no_whole_words() -> None:
    for model, whole, not_whole in (
        ("lab-bert", ("cat", "monday"), ("##s", "[CLS]", ".", "b", "1")),
        ("lab-gpt2", ("Ġcat", "ĠMonday"), ("king", ".", "Ġa", "<|endoftext|>")),
    ):
        tokenizer = lab.load_model(model).tokenizer
        ids = tokenizer.get_vocab()
        assert all(is_whole(tokenizer, ids[each]) for each in whole)
        assert not any(is_whole(tokenizer, ids[each]) for each in not_whole)


def test_a_toy_s_words_are_its_letters() -> None:
    toy = constructed_toy(8, 8)
    ids = vocabulary_words(toy)
    assert ids and {word_of(toy.tokenizer, each) for each in ids} <= set("abcdefgh")
    assert places_in(toy, ("a b c", "b b a")).token_ids


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_neighbours_in_texts_are_those_of_single_runs(model: str) -> None:
    """Texts are read in batches of one length; one run after another must give the same."""
    loaded = lab.load_model(model)
    trace = lab.trace(loaded, "The boy saw a bird.")
    token, places = 2, 0
    expected: dict[int, float] = {}
    for text in TEXTS:
        run = lab.trace(loaded, text)
        for place, token_id in enumerate(run.token_ids):
            if is_whole(loaded.tokenizer, token_id):
                places += 1
                cosine = cosine_similarity(run.output[place].double(), trace.output[token].double(), dim=0).item()
                expected[token_id] = max(expected.get(token_id, -1.0), cosine)
    expected.pop(trace.token_ids[token], None)
    found = nearest_in_texts(loaded, trace.token_ids[token], trace.output[token], TEXTS, 5)
    best = sorted(expected, key=lambda each: -expected[each])[:5]
    assert [each.word for each in found.nearest] == [word_of(loaded.tokenizer, each) for each in best]
    assert [each.cosine for each in found.nearest] == pytest.approx([expected[each] for each in best], abs=1e-5)
    assert found.count == places


def test_one_word_is_like_itself_and_less_so_in_another_sentence() -> None:
    model = lab.load_model("lab-bert")
    first, second = lab.trace(model, "They met in March."), lab.trace(model, "They march to the town.")
    here, there = states_of(first, 4), states_of(second, 2)
    assert cosine_by_state(here, here) == pytest.approx([1.0] * 5)
    apart = cosine_by_state(here, there)
    for state in range(5):
        pair = first.hidden_states[state, 4], second.hidden_states[state, 2]
        assert apart[state] == pytest.approx(torch.cosine_similarity(*pair, dim=0).item(), abs=1e-6)
    assert apart[-1] < 0.6
