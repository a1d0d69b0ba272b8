"""The questions are written: what they say of lab-minilm and of BERT is held to Hugging Face and to formulas."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import cosine_similarity
from transformers import AutoModelForMaskedLM

import lab
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.embeddings.like_words import nearest_word
from lab.lessons.embeddings.position_lab import without_places
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.questions.asking import Asking, Spot
from lab.questions.question import Question

MODEL = lab.load_model(DEFAULT_MODEL)
STORY = lab.trace(MODEL, STORY_TEXT)


def asked(asking: Asking) -> Question:
    question = asking(Spot(STORY, 0, 0, 6, 0))
    assert question is not None
    return question


def theirs(name: str = DEFAULT_MODEL) -> Any:
    return AutoModelForMaskedLM.from_pretrained(EMBEDDED / name).eval()


def test_the_cosines_are_those_of_their_table() -> None:
    table = theirs().get_input_embeddings().weight.detach()
    row = {word: table[MODEL.tokenizer.token_to_id(word)] for word in ("france", "frances", "hair", "italy")}
    for option in asked(nearest_word).options:
        (word,) = re.findall(r"^\*(\w+)\*", option.text)
        told = float(re.findall(r"cosine is (\d\.\d\d)", option.why)[0])
        assert told == pytest.approx(float(cosine_similarity(row["france"], row[word], dim=0)), abs=0.005)


def test_parallel_vectors_have_the_cosine_1() -> None:
    assert np.dot([3.0, 4.0], [6.0, 8.0]) / (5 * 10) == 1


def test_only_the_place_changes_the_first_vector_of_a_word() -> None:
    texts = ("France is large.", "In France, it rains.", "Mr France wrote.", "From France, we came.")
    first, moved, name, beside = (
        lab.trace(MODEL, text).embeddings.sum[lab.trace(MODEL, text).labels.index("france")] for text in texts
    )
    assert not first.equal(moved) and name.equal(moved) and name.equal(beside)  # token 2 in three of them


def test_without_places_they_say_france_or_paris() -> None:
    module = theirs()
    with torch.no_grad():
        module.bert.embeddings.position_embeddings.weight.zero_()
        logits = module(torch.tensor([STORY.token_ids])).logits[0, 6]
    p = logits.double().softmax(-1)
    best = [MODEL.tokenizer.id_to_token(int(each)) for each in p.topk(3).indices]
    assert best[:2] == ["france", "paris"] and float(p.topk(3).values[2]) < 0.05
    told = " ".join(option.why for option in asked(without_places).options)
    for word, share in zip(best, p.topk(2).values.tolist(), strict=False):
        assert f"*{word}* gets {share:.2f}" in told or f"*{word}* {share:.2f}" in told
    whole = lab.trace(MODEL, STORY_TEXT).logits(6)[0].double().softmax(-1).max()
    assert f"falls from {float(whole):.2f} to" in told


@pytest.mark.parametrize("name", ["lab-minilm", "lab-bert"])
def test_without_places_nobody_knows_who_bit_whom(name: str) -> None:
    module = theirs(name).bert
    with torch.no_grad():
        module.embeddings.position_embeddings.weight.zero_()
        dogs = []
        for text in ("The dog bit the man.", "The man bit the dog."):
            trace = lab.trace(lab.load_model(name), text)
            assert lab.load_model(name).unknown not in trace.token_ids
            out = module(torch.tensor([trace.token_ids])).last_hidden_state[0]
            dogs.append(out[trace.labels.index("dog")])
    assert torch.allclose(dogs[0], dogs[1], atol=1e-4)
