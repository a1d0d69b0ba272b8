"""What each head finds, beside an implementation from the paper's words on Hugging Face's attentions."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from transformers import BertForPreTraining

from lab.evidence.relation_cases import FARTHEST, best_offset, between_words, encode_words
from lab.evidence.treebank import Sentence, ewt
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace_encoding
from tests.checkpoints import write_checkpoint
from tests.evidence import clark
from training.evaluation.head_accuracies import head_accuracies

SENTENCES = [sentence for sentence in ewt() if 5 < len(sentence.words) < 30][:25]


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(write_checkpoint(tmp_path_factory.mktemp("m") / "bert", "bert", seed=3))


@pytest.fixture(scope="module")
def gpt2(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_model(write_checkpoint(tmp_path_factory.mktemp("m") / "gpt2", "gpt2", seed=3))


def test_accuracies_are_those_of_the_paper_s_method(bert: LoadedModel) -> None:
    reference = BertForPreTraining.from_pretrained(cast("Path", bert.source), attn_implementation="eager").eval()
    theirs = clark.measure(reference, bert.tokenizer, SENTENCES)
    ours = head_accuracies(bert, SENTENCES)
    assert set(ours.relations) == set(theirs) and list(ours.counts) == sorted(ours.counts, reverse=True)
    for place, relation in enumerate(ours.relations):
        assert ours.counts[place] == theirs[relation].count
        assert np.array_equal(ours.accuracy[place], np.moveaxis(theirs[relation].accuracy, 0, -1)), relation
        assert ours.offset_accuracy[place] == theirs[relation].offset


def test_words_of_several_pieces(bert: LoadedModel) -> None:
    words = ["Unbelievable", "astronauts", ",", "replaying"]
    encoding, owner = encode_words(bert, words) or (None, None)
    assert encoding is not None and owner is not None
    pieces = [encoding.text[a:b] for a, b in encoding.offsets]
    assert ["".join(np.array(pieces)[owner == word]) for word in range(4)] == words
    assert (owner == -1).tolist() == list(encoding.special)
    traced = trace_encoding(bert, encoding)
    whole = traced.attention.numpy().reshape(-1, len(encoding), len(encoding))
    of_first, of_second = (np.flatnonzero(owner == word) for word in (0, 1))
    for pieces_of, rows in (("mean", of_first), ("first", of_first[:1])):
        found = between_words(whole, owner, 4, pieces_of)[:, 0, 1]  # type: ignore[arg-type]
        assert np.allclose(found, whole[:, rows][..., of_second].sum(-1).mean(-1), atol=1e-6)


def test_a_token_that_begins_with_a_space_belongs_to_the_word_after_it(gpt2: LoadedModel) -> None:
    encoding, owner = encode_words(gpt2, ["the", "cat", "sat"]) or (None, None)
    assert encoding is not None and owner is not None
    spelt = [
        gpt2.tokenizer.decode([i for i, o in zip(encoding.token_ids, owner, strict=True) if o == word])
        for word in range(3)
    ]
    assert [each.strip() for each in spelt] == ["the", "cat", "sat"]


def test_a_causal_model_never_names_a_later_word(gpt2: LoadedModel) -> None:
    forward = Sentence(("The", "cat", "sleeps"), (2, 3, 0), ("det", "nsubj", "root"), ("DET", "NOUN", "VERB"))
    found = head_accuracies(gpt2, [forward])
    assert (found.accuracy[..., 0] == 0).all()  # both depend on what follows them


def test_roots_are_no_dependents_and_punctuation_only_if_asked(bert: LoadedModel) -> None:
    sentence = Sentence(("Go", "home", "!"), (0, 1, 1), ("root", "advmod", "punct"), ("VERB", "ADV", "PUNCT"))
    assert head_accuracies(bert, [sentence]).relations == ("advmod",)
    assert head_accuracies(bert, [sentence], punctuation=True).relations == ("advmod", "punct")


def test_a_sentence_that_is_too_long_is_left_out(bert: LoadedModel) -> None:
    long = Sentence(("cat",) * 600, (0, *[1] * 599), ("root", *["flat"] * 599), ("NOUN",) * 600)
    short = Sentence(("The", "cat"), (2, 0), ("det", "root"), ("DET", "NOUN"))
    assert head_accuracies(bert, [long, short]).relations == ("det",)
    with pytest.raises(ValueError, match="no dependency"):
        head_accuracies(bert, [long])


def test_the_best_distance_is_the_commonest_near_one() -> None:
    assert best_offset([1, 1, -2, 9]) == (1, 0.5)
    assert best_offset([-1, 1, 2, 2, -1, 1]) == (-1, 1 / 3)
    assert best_offset([FARTHEST + 1]) == (0, 0.0)


@pytest.mark.parametrize("seed", range(3))
def test_one_by_one_or_all_together(bert: LoadedModel, seed: int) -> None:
    """Counts add up: the accuracies of all sentences are the means of the accuracies of each."""
    chosen = SENTENCES[seed::5]
    whole = head_accuracies(bert, chosen)
    each = list(map(partial(head_accuracies, bert), ([s] for s in chosen)))
    for place, relation in enumerate(whole.relations):
        parts = [(e.counts[e.of(relation)], e.accuracy[e.of(relation)]) for e in each if relation in e.relations]
        assert np.allclose(sum(n * a for n, a in parts), whole.counts[place] * whole.accuracy[place])
