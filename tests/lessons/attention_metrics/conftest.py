"""The course's sentence, by plain Hugging Face: every map, and what the blank says with each head at its mean."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from transformers import AutoModelForMaskedLM, AutoTokenizer

import lab
from lab.course.sentences.looks import STORY_TEXT
from lab.models.catalogue import EMBEDDED
from lab.models.trace import Trace
from tests.sentences import STORY

TEXTS = (STORY, "The sleepy cat sat on the mat.", "Dogs bark.")


@pytest.fixture(
    scope="module", params=[(model, text) for model in ("lab-minilm", "lab-bert", "lab-gpt2") for text in TEXTS]
)
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


@pytest.fixture
def maps(trace: Trace) -> NDArray[np.float64]:
    """All maps, (L, H, n, n)."""
    return torch.stack([trace.layer(at).attention for at in range(trace.model.config.layers)]).double().numpy()


@dataclass(frozen=True, eq=False)
class Told:
    """The course's sentence in the default model: tokens, maps (L, H, n, n), P(paris), and ln P's change (L, H)."""

    tokens: list[str]
    maps: NDArray[np.float64]
    paris: float
    changes: NDArray[np.float64]


@pytest.fixture(scope="session")
def told() -> Told:
    folder = EMBEDDED / "lab-minilm"
    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
    ids = tokenizer(STORY_TEXT, return_tensors="pt")
    place, word = ids.input_ids[0].tolist().index(tokenizer.mask_token_id), tokenizer.convert_tokens_to_ids("paris")
    config = model.config
    width = config.hidden_size // config.num_attention_heads

    @torch.inference_mode()
    def paris() -> float:
        return float(model(**ids).logits[0, place].double().softmax(-1)[word])

    with torch.inference_mode():
        attentions = model(**ids, output_attentions=True).attentions
    plain, changes = paris(), np.zeros((config.num_hidden_layers, config.num_attention_heads))
    for layer, head in np.ndindex(*changes.shape):
        part = slice(head * width, (head + 1) * width)

        def to_mean(_: object, given: tuple[torch.Tensor, ...], part: slice = part) -> tuple[torch.Tensor]:
            changed = given[0].clone()
            changed[:, :, part] = changed[:, :, part].mean(1, keepdim=True)
            return (changed,)

        handle = model.bert.encoder.layer[layer].attention.output.dense.register_forward_pre_hook(to_mean)
        changes[layer, head] = np.log(paris() / plain)
        handle.remove()
    tokens = tokenizer.convert_ids_to_tokens(ids.input_ids[0])
    return Told([*tokens], torch.cat(attentions).double().numpy(), plain, changes)
