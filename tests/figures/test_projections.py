"""The maps of queries, keys and values are those of Hugging Face: all of a narrow head, 48 dimensions of a wide one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from transformers import BertModel

import lab
from lab.lessons.self_attention.all_rows import PROJECTED, PROJECTED_TOKENS, projections
from tests.conftest import TinyCheckpoint
from tests.sentences import STORY


@pytest.mark.parametrize("of", ["query", "key", "value"])
def test_a_map_has_every_token_s_vector(of: str, tiny_checkpoint: TinyCheckpoint) -> None:
    folder: Path = tiny_checkpoint("bert")
    traced = lab.trace(lab.load_model(folder), STORY)
    module = BertModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        hidden = module(torch.tensor([traced.token_ids]), output_hidden_states=True).hidden_states[1]
        projected = getattr(module.encoder.layer[1].attention.self, of)(hidden)[0].numpy()
    width = traced.model.config.head_width
    table = projections(traced, 1, 1, of).table()  # type: ignore[arg-type]
    assert len(table) == len(traced)
    np.testing.assert_allclose(table.to_numpy(dtype=float), projected[:, width : 2 * width], atol=1e-4)


def test_of_a_wide_head_and_a_long_text_a_part_is_drawn_at_first() -> None:
    traced = lab.trace(lab.load_model("lab-minilm"), "word " * 60)
    width = traced.model.config.head_width
    assert projections(traced, 0, 0, "key", 30).table().shape == (PROJECTED_TOKENS, min(width, PROJECTED))
    assert projections(traced, 0, 0, "key", 30, 7).table().shape == (PROJECTED_TOKENS, 7)
