"""The reference itself, on attention written by hand (Clark et al. 2019, §4)."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from torch import Tensor

from lab.evidence.treebank import Sentence
from tests.evidence.clark import arcs, measure, word_attention

WORDS = ["cats", "chase", "mice", "."]
# "chase" is the root; its subject, its object and the full stop hang on it.
SENTENCE = Sentence(
    tuple(WORDS),
    heads=(2, 0, 2, 2),
    relations=("nsubj", "root", "obj", "punct"),
    tags=("NOUN", "VERB", "NOUN", "PUNCT"),
)


class Attending:
    """Stands in for a model: one layer of two heads, whose attention over six pieces is given."""

    def __init__(self, attention: Tensor) -> None:
        self.attention = attention

    def bert(self, ids: Tensor, output_attentions: bool) -> Attending:
        assert output_attentions and ids.shape[1] == self.attention.shape[-1]
        return self

    @property
    def attentions(self) -> tuple[Tensor, ...]:
        return (self.attention[None],)


@pytest.fixture
def tokenizer() -> Tokenizer:
    """[CLS] cat ##s chase mice . [SEP]"""
    vocabulary = {token: i for i, token in enumerate(["[UNK]", "[CLS]", "[SEP]", "cat", "##s", "chase", "mice", "."])}
    made = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return made


def attention() -> Tensor:
    """Head 0: every piece gives chase .4 and [SEP] .6. Head 1: every piece gives all to [CLS] but .1 to mice."""
    heads = torch.zeros(2, 7, 7)
    heads[0, :, 3], heads[0, :, 6] = 0.4, 0.6
    heads[1, :, 0], heads[1, :, 4] = 0.9, 0.1
    heads[0, 1, 3], heads[0, 1, 6] = 0.2, 0.8  # of the two pieces of "cats", the first gives half as much
    return heads


def test_from_a_word_the_mean_and_to_a_word_the_sum(tokenizer: Tokenizer) -> None:
    model = Attending(attention())
    found = word_attention(model, tokenizer, WORDS)  # type: ignore[arg-type]
    assert found.shape == (1, 2, 4, 4)
    assert found[0, 0, 0].tolist() == pytest.approx([0, 0.3, 0, 0])
    model.attention[0, 3] = torch.tensor([0, 0.25, 0.5, 0, 0.25, 0, 0])
    assert word_attention(model, tokenizer, WORDS)[0, 0, 1].tolist() == pytest.approx([0.75, 0, 0.25, 0])  # type: ignore[arg-type]


def test_arcs_have_no_root_and_no_punctuation() -> None:
    assert [(arc.dependent, arc.head, arc.relation) for arc in arcs(SENTENCE)] == [(0, 1, "nsubj"), (2, 1, "obj")]


def test_what_each_head_finds(tokenizer: Tokenizer) -> None:
    found = measure(Attending(attention()), tokenizer, [SENTENCE])  # type: ignore[arg-type]
    assert set(found) == {"nsubj", "obj"}
    # From the dependent: head 0 names the verb. From the verb: head 1 names "mice", and never [CLS] or itself.
    assert found["nsubj"].accuracy[0].tolist() == [[1, 0]]
    assert found["obj"].accuracy[0].tolist() == [[1, 0]]
    assert found["obj"].accuracy[1].tolist() == [[0, 1]]
    assert found["obj"].offset == 1.0
