"""The tiny checkpoints are real: transformers loads them, and no vector in them is at its start value."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer

from tests.checkpoints import (
    ELECTRA_EMBEDDING,
    FAMILIES,
    HEADS,
    LAYERS,
    POSITIONS,
    WIDTH,
    Family,
    write_checkpoint,
)

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
        visible = (attention[0] > 0).sum(-1)  # a causal row has fewer cells
        sharpness = (attention[0].amax(-1) * visible).mean(-1)
        assert (sharpness > 1.5).all(), "1 is a uniform head"
    vectors = {name: tensor for name, tensor in load_file(folder / "model.safetensors").items() if tensor.ndim == 1}
    still = [name for name, vector in vectors.items() if ((vector == 0) | (vector == 1)).any()]
    assert vectors and not still


def test_electra_embeds_narrower_than_it_thinks(tiny_checkpoint: TinyCheckpoint) -> None:
    from transformers import AutoConfig

    assert AutoConfig.from_pretrained(tiny_checkpoint("electra")).embedding_size == ELECTRA_EMBEDDING != WIDTH


@pytest.mark.parametrize("family", FAMILIES)
def test_family_and_seed_decide_every_byte(tiny_checkpoint: TinyCheckpoint, tmp_path: Path, family: Family) -> None:
    first, again, other = (
        tiny_checkpoint(family),
        write_checkpoint(tmp_path, family),
        tiny_checkpoint(family, seed=1),
    )
    for name in ("model.safetensors", "tokenizer.json", "config.json"):
        assert (first / name).read_bytes() == (again / name).read_bytes(), name
    assert (first / "model.safetensors").read_bytes() != (other / "model.safetensors").read_bytes()
    assert (first / "tokenizer.json").read_bytes() == (other / "tokenizer.json").read_bytes()
