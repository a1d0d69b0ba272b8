"""Texts of one length together give what each gives alone."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from lab.models.batched import batches, layer_attentions
from lab.models.encoding import encode
from lab.models.loading import load_model
from lab.models.trace import trace
from tests.checkpoints import FAMILIES, Family, write_checkpoint

TEXTS = ("The cat sat.", "A dog ran.", "The old cat sat on the mat.")


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_is_that_of_each_text_alone(family: Family, tmp_path: Path) -> None:
    model = load_model(write_checkpoint(tmp_path / family, family))
    encodings = [encode(model.tokenizer, model.config, text) for text in TEXTS]
    seen = []
    for batch in batches(model.config, [len(each) for each in encodings]):
        together = torch.stack(list(layer_attentions(model, [encodings[place] for place in batch])))
        for row, place in enumerate(batch):
            assert torch.allclose(together[:, row], trace(model, TEXTS[place]).attention, atol=1e-5)
            seen.append(place)
    assert sorted(seen) == [0, 1, 2]


def test_a_batch_is_of_one_length_and_bounded() -> None:
    config = load_model("lab-bert").config
    lengths = [12, 500, 12, 500, 12]
    assert list(batches(config, lengths)) == [[0, 2, 4], [1], [3]]
    assert list(batches(config, [])) == []
