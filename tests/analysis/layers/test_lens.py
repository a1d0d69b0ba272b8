"""The logit lens against Hugging Face's head on Hugging Face's hidden states."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor

from lab.analysis.layers.lens import likeliest_after
from lab.analysis.words.predictions import Likeliest
from lab.models.fitted_lens import FOLDER, MAPS
from lab.models.loading import load_model
from lab.models.trace import trace
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.lenses import put_lens

TEXT = "The unhappily café doesn't wait for the cat."
PLACES = (1, 4, 2, 6)
PREDICTING: tuple[Family, ...] = ("bert", "distilbert", "roberta", "gpt2", "modernbert")


def their_logits(tiny_checkpoint: TinyCheckpoint, family: Family) -> list[Tensor]:
    """The model's own head, a Hugging Face module, on each of its hidden states."""
    import transformers

    folder = tiny_checkpoint(family)
    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    auto = transformers.AutoModelForCausalLM if family == "gpt2" else transformers.AutoModelForMaskedLM
    module = auto.from_pretrained(folder).eval()
    with torch.inference_mode():
        out = module(**inputs, output_hidden_states=True)
        states = list(out.hidden_states)
        if family == "gpt2":
            # Hugging Face has put the last one through the final LayerNorm already.
            return [module.lm_head(module.transformer.ln_f(x))[0] for x in states[:-1]] + [
                module.lm_head(states[-1])[0]
            ]
        if family == "modernbert":  # as in GPT-2
            normed = [module.model.final_norm(x) for x in states[:-1]] + [states[-1]]
            return [module.decoder(module.head(x))[0] for x in normed]
        if family == "distilbert":
            gelu = torch.nn.functional.gelu
            steps = [module.vocab_layer_norm(gelu(module.vocab_transform(x))) for x in states]
            return [module.vocab_projector(x)[0] for x in steps]
        head = module.cls if family == "bert" else module.lm_head
        return [head(x)[0] for x in states]


def same_words(found: Likeliest, theirs: list[Tensor]) -> None:
    """The words after each layer are those of Hugging Face's logits (vocabulary,)."""
    for ids, shares, logits in zip(found.ids, found.probabilities, theirs, strict=True):
        best = logits.double().softmax(-1).topk(len(ids))
        assert ids.tolist() == best.indices.tolist()
        assert shares == pytest.approx(best.values.numpy(), abs=1e-5)


@pytest.mark.parametrize("family", PREDICTING)
def test_every_row_is_their_head_on_their_hidden_state(tiny_checkpoint: TinyCheckpoint, family: Family) -> None:
    plain, theirs = trace(load_model(tiny_checkpoint(family)), TEXT), their_logits(tiny_checkpoint, family)
    for place in PLACES:
        same_words(likeliest_after(plain, place, 3), [logits[place] for logits in theirs])


def test_what_has_no_lens_says_why(tiny_checkpoint: TinyCheckpoint) -> None:
    headless = trace(load_model(tiny_checkpoint("bert-headless")), TEXT)
    with pytest.raises(ValueError, match="vocabulary head"):
        likeliest_after(headless, 1, 3)


@pytest.fixture
def with_lens(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> Callable[[Family], Path]:
    """A copy of a tiny checkpoint with a lens beside it."""
    return lambda family: put_lens(Path(shutil.copytree(tiny_checkpoint(family), tmp_path / family)))


def their_last_states(folder: Path, family: Family) -> tuple[list[Tensor], Any]:
    """Hugging Face's hidden states (n, d), the last one before GPT-2's final LayerNorm, and what reads it."""
    import transformers

    inputs = transformers.AutoTokenizer.from_pretrained(folder)(TEXT, return_tensors="pt")
    if family == "gpt2":
        gpt2 = transformers.GPT2LMHeadModel.from_pretrained(folder).eval()
        given: list[Tensor] = []
        gpt2.transformer.ln_f.register_forward_pre_hook(lambda _, args: given.append(args[0]))
        with torch.inference_mode():
            states = gpt2(**inputs, output_hidden_states=True).hidden_states
        read = given[0]
        return [*(x[0] for x in states[:-1]), read[0]], lambda x: gpt2.lm_head(gpt2.transformer.ln_f(x))
    bert = transformers.BertForMaskedLM.from_pretrained(folder).eval()
    with torch.inference_mode():
        return [x[0] for x in bert(**inputs, output_hidden_states=True).hidden_states], bert.cls


@pytest.mark.parametrize("family", ["bert", "gpt2"])
def test_a_fitted_row_is_their_head_on_the_mapped_state(with_lens: Callable[[Family], Path], family: Family) -> None:
    folder = with_lens(family)
    plain, (states, head) = trace(load_model(folder), TEXT), their_last_states(folder, family)
    maps = load_file(folder / FOLDER / MAPS)
    rows = [*(x.double() @ maps["w"][row].double() + maps["b"][row].double() for row, x in enumerate(states[:-1]))]
    with torch.inference_mode():
        theirs = [head(row.float()) for row in (*rows, states[-1])]
    for place in PLACES:
        same_words(likeliest_after(plain, place, 3, fitted=True), [logits[place] for logits in theirs])


def test_a_model_without_a_fitted_lens_says_so(tiny_checkpoint: TinyCheckpoint) -> None:
    plain = trace(load_model(tiny_checkpoint("bert")), TEXT)
    with pytest.raises(ValueError, match="No lens was fitted"):
        likeliest_after(plain, 1, 3, fitted=True)
