"""One checkpoint, opened by the lab and by Hugging Face: the same ids and numbers, or a refusal in a sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import transformers
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import MODEL_MAPPING

import lab
from lab.models.config import CheckpointError
from lab.models.encoding import TextError
from lab.models.loading import LoadedModel
from tests.checkpoints import CHECKPOINT_OF, CORPUS

# Upper case, an accent, a word that no vocabulary has whole, a sign that none has, a special token that somebody typed.
TEXT, PAIR = "The unhappily Café 🙂 doesn't wait for the cat.", "A second one, [MASK] 3 words long."
LONG = " ".join(CORPUS)  # more tokens than a tiny model has places
_TOLERANCE = 1e-4
_FEW = 6  # a model with fewer places may refuse a text because of them


def refusal(folder: Path, *, numbers: bool = True) -> str | None:
    """Hold the lab's run of a folder against Hugging Face's; returns the sentence if the lab refuses the folder.

    Without ``numbers``, for a setting of the tokenizer alone, all ids are compared, and the numbers of a pair.

    Fails for other ids, other numbers, and every exception but a CheckpointError, or a TextError for a text that
    Hugging Face cannot read either.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            model = lab.load_model(folder)
        except CheckpointError as error:
            return _sentence(str(error))
        tokenize = transformers.AutoTokenizer.from_pretrained(folder)
        run = _base_model(folder, model.config.family)
        limit = min(tokenize.model_max_length, _places(folder, model.config.family))
        for texts in ((TEXT, None), (LONG, None), (LONG, TEXT), (TEXT, PAIR)):
            said = _compared(model, tokenize, limit, run, texts, numbers)
            if said is not None:
                return said
    return None


def _places(folder: Path, family: str) -> int:
    """Return how many tokens Hugging Face's module of a folder can read."""
    config = CONFIG_MAPPING[family].from_pretrained(folder)
    rows: int = config.max_position_embeddings
    return rows - config.pad_token_id - 1 if CHECKPOINT_OF[family] == "roberta" else rows


def _compared(
    model: LoadedModel, tokenize: Any, limit: int, run: Callable[..., Any], texts: tuple[str, str | None], numbers: bool
) -> str | None:
    text, pair = texts
    given = tokenize(text, pair, truncation=True, max_length=limit, return_tensors="pt")
    if not model.config.segments:
        given.pop("token_type_ids", None)  # GPT-2 would take the numbers of segments for ids of tokens
    try:
        trace = lab.trace(model, text, pair)
    except TextError as error:
        assert limit < _FEW or _states(run, given) is None, f"Hugging Face reads this text: {error}"
        return _sentence(str(error))
    assert list(trace.token_ids) == given["input_ids"][0].tolist(), "other ids than AutoTokenizer"
    if not numbers and pair != PAIR:
        return None
    theirs = _states(run, given)
    if theirs is None:  # a tokenizer that gives the second text a segment that the model does not have
        assert model.config.segments == 1
        return None
    apart, size = (trace.output - theirs).abs().max().item(), theirs.abs().max().item()
    assert apart <= _TOLERANCE * max(1.0, size), f"other numbers: {apart}"
    if numbers and pair == PAIR:
        proof = lab.prove(model, trace)
        assert proof.passed or proof.not_found, proof.first_failure
    return None


def _base_model(folder: Path, family: str) -> Callable[..., Any]:
    """Return Hugging Face's module of the folder without heads, loaded by Hugging Face alone."""
    of: Any = MODEL_MAPPING[CONFIG_MAPPING[family]]
    config = of.config_class.from_pretrained(folder)
    config.chunk_size_feed_forward = 0  # chunks ask for a text of a length that they divide
    module: Callable[..., Any] = of.from_pretrained(
        folder, config=config, attn_implementation="eager", dtype=torch.float32
    ).eval()
    return module


def _states(run: Callable[..., Any], given: Any) -> torch.Tensor | None:
    """Return the last hidden states, (n, d); None if Hugging Face fails for an id that has no row in a table."""
    try:
        with torch.inference_mode():
            found: torch.Tensor = run(**given, output_hidden_states=True, return_dict=True).hidden_states[-1][0]
    except IndexError:
        return None
    return found


def _sentence(said: str) -> str:
    """Fail unless what was said is one line that ends like a sentence."""
    assert "\n" not in said and said.endswith((".", "!", "?")), said
    return said
