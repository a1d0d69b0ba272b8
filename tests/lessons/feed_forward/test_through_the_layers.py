"""A token's states beside each other and beside the token table, computed again with Hugging Face."""

from __future__ import annotations

import re

import numpy as np
import pytest
import torch
from lab.analysis.layers.states import states
from lab.lessons.feed_forward.through_the_layers import said as said_of
from lab.lessons.feed_forward.through_the_layers import strips_of_states, words_and_turns
from torch.nn.functional import cosine_similarity
from transformers import BertModel, GPT2Model, PreTrainedModel

import lab
from lab.analysis.words.neighbours import is_whole
from lab.course.words import plain
from lab.models.catalogue import EMBEDDED
from lab.models.encoding import word_of
from lab.toy.models import constructed_toy
from tests.sentences import STORY

KINDS: dict[str, type[PreTrainedModel]] = {"lab-minilm": BertModel, "lab-bert": BertModel, "lab-gpt2": GPT2Model}


@pytest.mark.parametrize("model_id", KINDS)
def test_states_are_those_of_hugging_face(model_id: str) -> None:
    trace = lab.trace(lab.load_model(model_id), STORY)
    model = KINDS[model_id].from_pretrained(EMBEDDED / model_id).eval()
    with torch.inference_mode():
        out = model(torch.tensor([trace.token_ids]), output_hidden_states=True)
    hidden = torch.stack(out.hidden_states)[:, 0].double()
    table = model.get_input_embeddings().weight.detach().double()
    words = [i for i in range(len(table)) if is_whole(trace.model.tokenizer, i)]
    for token in (1, 4, len(trace) - 1):
        found, said = states(trace, token), plain(said_of(trace, token)).replace("\u2212", "-")
        turned = cosine_similarity(hidden[1:, token], hidden[:-1, token], dim=-1).numpy()
        assert np.allclose(found.turned, turned, atol=1e-4)
        for state, vector in enumerate(hidden[:, token]):
            near = cosine_similarity(table[[*words, trace.token_ids[token]]], vector[None], dim=-1)
            assert found.cosine[state] == pytest.approx(float(near.max()), abs=1e-4)
            assert found.nearest[state] == [*words, trace.token_ids[token]][int(near.argmax())]
            assert found.mean[state] == pytest.approx(float(near[:-1].mean()), abs=1e-4)
        assert f"Layer {int(turned.argmin()) + 1} turns" in said
        told = [float(each) for each in re.findall(r"-?\d\.\d\d", said)]
        own = cosine_similarity(table[trace.token_ids[token]], hidden[-1, token], dim=0)
        if "its own row" not in said:
            assert word_of(trace.model.tokenizer, found.nearest[-1]) in said
            assert told == [
                pytest.approx(each, abs=0.006)
                for each in (float(turned.min()), found.cosine[-1], found.mean[-1], float(own))
            ]


def test_a_toy_of_one_layer_has_two_states() -> None:
    trace = lab.trace(constructed_toy(8, 8), "a b c")
    assert states(trace, 1).vectors.shape[0] == 2 == len(strips_of_states(trace, 1).table())
    assert "before and after the layer" in said_of(trace, 1)


def test_the_table_has_numbers_where_they_are_numbers_and_words_where_they_are_words() -> None:
    """A text in a column of numbers is drawn with the mark of an error."""
    trace = lab.trace(lab.load_model("lab-bert"), STORY)
    found = states(trace, 4)
    table = words_and_turns(trace, found)
    assert list(table.select_dtypes("number").columns) == [
        "cosine with the row above",
        "its cosine",
        "mean of all words",
    ]
    assert np.isnan(table["cosine with the row above"][0])
    assert list(table["cosine with the row above"][1:]) == pytest.approx(list(found.turned))
