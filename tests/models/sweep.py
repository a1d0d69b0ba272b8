"""One checkpoint, opened by the lab and by Hugging Face: the same ids and numbers, or a refusal in a sentence."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Literal

import torch
import transformers

import lab
from lab.models.config import CheckpointError
from lab.models.encoding import TextError

# Upper case, an accent, a word that no vocabulary has whole, a character that none has, a typed special token.
TEXT, PAIR = "The unhappily Café 🙂 doesn't wait for the cat.", "A second one, [MASK] 3 words long."
TOLERANCE = 1e-4
LIMIT = 6  # a model that reads fewer tokens may refuse a text for that
Outcome = Literal["equal", "refused"]


def outcome(folder: Path) -> tuple[Outcome, str]:
    """Open ``folder`` and hold it against Hugging Face; returns a refusal's sentence. Fails for anything else."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = lab.load_model(folder)
        except CheckpointError as error:
            return "refused", _sentence(str(error))
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
        theirs = _theirs(folder, model.config.family)
        for text, pair in ((TEXT, None), (TEXT, PAIR)):
            try:
                trace = lab.trace(model, text, pair)
            except TextError as error:
                limit = model.config.max_tokens < LIMIT
                assert limit or _unreadable(theirs, tokenizer, text, pair), f"Hugging Face reads it: {error}"
                return "refused", _sentence(str(error))
            inputs = tokenizer(text, pair, truncation=True, max_length=model.config.max_tokens, return_tensors="pt")
            assert list(trace.token_ids) == inputs["input_ids"][0].tolist(), "other ids than AutoTokenizer"
            if not model.config.segments:
                inputs.pop("token_type_ids", None)  # GPT-2 would take them for ids of tokens
            try:
                with torch.inference_mode():
                    states = theirs(**inputs, output_hidden_states=True, return_dict=True).hidden_states
            except IndexError:
                assert model.config.segments == 1  # a tokenizer of another family gives the second text segment 1
                continue
            apart = (trace.output - states[-1][0]).abs().max().item()
            assert apart <= TOLERANCE * max(1.0, states[-1].abs().max().item()), f"other numbers: {apart}"
            proof = lab.prove(model, trace)
            assert proof.passed or proof.not_found, proof.first_failure
    return "equal", ""


def _theirs(folder: Path, family: str) -> transformers.PreTrainedModel:
    """Hugging Face's base model; its Auto class where config.json names the model, else the class of the family."""
    kind = transformers.models.auto.modeling_auto.MODEL_MAPPING[
        type(transformers.models.auto.configuration_auto.CONFIG_MAPPING[family]())
    ]
    config = kind.config_class.from_pretrained(folder)
    config.chunk_size_feed_forward = 0  # it asks for a text of a length that it divides
    loaded: transformers.PreTrainedModel = kind.from_pretrained(
        folder, config=config, attn_implementation="eager", dtype=torch.float32
    )
    return loaded.eval()


def _unreadable(theirs: transformers.PreTrainedModel, tokenizer: object, text: str, pair: str | None) -> bool:
    try:
        theirs(**tokenizer(text, pair, return_tensors="pt"))  # type: ignore[operator]
    except (IndexError, RuntimeError):
        return True
    return False


def _sentence(said: str) -> str:
    """Fail unless what was said is one line that ends like a sentence and is no programmer's."""
    assert "\n" not in said and said.rstrip("’\"'").endswith((".", "!", "?")), said
    assert "Traceback" not in said and said != "NoneType", said
    return said
