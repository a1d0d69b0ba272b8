"""The tiny checkpoints are real ones: transformers loads them, and nothing in them is left at its start value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from tokenizers import Tokenizer

from tests.checkpoints import ELECTRA_EMBEDDING, FAMILIES, HEADS, LAYERS, POSITIONS, WIDTH, Family, write_checkpoint

if TYPE_CHECKING:
    from pathlib import Path

    from tests.conftest import TinyCheckpoint

TEXT = "The unhappily café 🙂 doesn't wait."


@pytest.mark.parametrize("family", FAMILIES)
def test_transformers_loads_model_and_tokenizer(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = tiny_checkpoint(family)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    encoded = AutoTokenizer.from_pretrained(folder)(TEXT, "A second one.", return_tensors="pt")
    with torch.inference_mode():
        out = model(**encoded, output_attentions=True)

    length = encoded["input_ids"].shape[1]
    assert out.last_hidden_state.shape == (1, length, WIDTH)
    assert [tuple(a.shape) for a in out.attentions] == [(1, HEADS, length, length)] * LAYERS
    assert ("token_type_ids" in encoded) == (family in ("bert", "bert-headless", "electra", "distilbert"))


@pytest.mark.parametrize("family", FAMILIES)
def test_tokenizer_file_alone_gives_the_same_ids(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    from transformers import AutoTokenizer

    folder = tiny_checkpoint(family)
    alone = Tokenizer.from_file(str(folder / "tokenizer.json"))
    whole = AutoTokenizer.from_pretrained(folder)
    for pair in (None, "A second one."):
        assert alone.encode(TEXT, pair).ids == whole(TEXT, pair)["input_ids"]
    assert whole.model_max_length == POSITIONS


@pytest.mark.parametrize("family", FAMILIES)
def test_attention_is_not_uniform_and_vectors_have_moved(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    from transformers import AutoModel, AutoTokenizer

    folder = tiny_checkpoint(family)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    with torch.inference_mode():
        out = model(**AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt"), output_attentions=True)

    for attention in out.attentions:
        last_row = attention[0, :, -1]
        assert (last_row.amax(-1) > 2 / last_row.shape[-1]).all()
    for name, parameter in model.named_parameters():
        if parameter.ndim == 1:
            assert parameter.std() > 0.05, name


def test_electra_embeds_narrower_than_it_thinks(tiny_checkpoint: TinyCheckpoint) -> None:
    from transformers import AutoConfig

    assert AutoConfig.from_pretrained(tiny_checkpoint("electra")).embedding_size == ELECTRA_EMBEDDING != WIDTH


def test_the_seed_decides_the_weights(tmp_path: Path) -> None:
    first, again, other = (write_checkpoint(tmp_path / name, "bert", seed) for name, seed in zip("abc", (1, 1, 2), strict=True))
    weights = [(folder / "model.safetensors").read_bytes() for folder in (first, again, other)]
    assert weights[0] == weights[1] != weights[2]
