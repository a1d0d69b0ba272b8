"""Each method beside Hugging Face's own modules, run one text at a time and followed back by its autograd."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor
from transformers import BertForPreTraining, GPT2LMHeadModel

from lab.evidence.treebank import ewt
from lab.experiments.explanation import methods
from lab.experiments.explanation.methods import AskedWord, Importance, ask, importance
from lab.models.loading import EMBEDDED, LoadedModel, load_model
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint
from tests.thorough import some

SENTENCE = tuple("In the morning the old man went to his office and read a long letter .".split())  # noqa: SIM905
HIDDEN = 9
MODELS = ("lab-bert", "lab-gpt2")


@dataclass(frozen=True)
class Theirs:
    """ln P of the explained word by Hugging Face, from word vectors (n, e); attentions (L, H, n, n)."""

    table: Tensor
    blank: Tensor
    log_p: Callable[[Tensor], Tensor]
    attentions: NDArray[np.float32]


@cache
def asked_of(model_id: str) -> tuple[LoadedModel, AskedWord, Importance]:
    model = load_model(model_id)
    asked = ask(model, SENTENCE, HIDDEN)
    assert asked is not None
    return model, asked, importance(model, asked)


@cache
def theirs_of(model_id: str) -> Theirs:
    _, asked, found = asked_of(model_id)
    kind: Any = BertForPreTraining if model_id == "lab-bert" else GPT2LMHeadModel
    module = kind.from_pretrained(EMBEDDED / model_id, attn_implementation="eager").eval()
    table = module.get_input_embeddings().weight.detach()

    def run(vectors: Tensor, **more: Any) -> Any:
        return module(inputs_embeds=vectors[None], **more)

    def log_p(vectors: Tensor) -> Tensor:
        out = run(vectors)
        logits = out.prediction_logits if model_id == "lab-bert" else out.logits
        return torch.log_softmax(logits[0, asked.place], dim=-1)[found.predicted]

    maps = run(table[list(asked.encoding.token_ids)], output_attentions=True).attentions
    blank = table[4] if model_id == "lab-bert" else table.mean(0)
    return Theirs(table, blank, log_p, np.stack([each[0].detach().numpy() for each in maps]))


def vectors_of(model_id: str) -> Tensor:
    _, asked, _ = asked_of(model_id)
    return theirs_of(model_id).table[list(asked.encoding.token_ids)]


def slope(log_p: Callable[[Tensor], Tensor], at: Tensor) -> Tensor:
    leaf = at.clone().requires_grad_()
    (found,) = torch.autograd.grad(log_p(leaf), [leaf])
    return found


def test_what_is_asked() -> None:
    model, asked, _ = asked_of("lab-bert")
    words = [*SENTENCE[:HIDDEN], "[MASK]", *SENTENCE[HIDDEN + 1 :]]
    assert asked.text == " ".join(words) and not asked.next
    assert asked.encoding.tokens[asked.place] == "[MASK]"
    assert model.tokenizer.id_to_token(asked.word) == SENTENCE[HIDDEN]
    assert asked.context == tuple(at for at in range(1, len(asked.encoding) - 1) if at != asked.place)
    model, asked, _ = asked_of("lab-gpt2")
    assert asked.text == " ".join(SENTENCE[:HIDDEN]) and asked.next
    assert asked.context == tuple(range(len(asked.encoding))) and asked.place == asked.context[-1]
    assert model.tokenizer.id_to_token(asked.word) == f"Ġ{SENTENCE[HIDDEN]}"


def test_a_word_in_pieces_is_not_asked() -> None:
    for model_id in MODELS:
        assert ask(load_model(model_id), ["The", "antidisestablishmentarianism", "ended", "."], 1) is None
        assert ask(load_model(model_id), ["The"] * 600, 300) is None


@pytest.mark.parametrize("model_id", MODELS)
def test_the_prediction_is_hugging_face_s(model_id: str) -> None:
    _, _, found = asked_of(model_id)
    assert found.log_p == pytest.approx(theirs_of(model_id).log_p(vectors_of(model_id)).item(), abs=1e-4)


@pytest.mark.parametrize("model_id", MODELS)
def test_leave_one_out_is_a_run_each(model_id: str) -> None:
    _, asked, found = asked_of(model_id)
    theirs, whole = theirs_of(model_id), vectors_of(model_id)
    for place, ours in zip(asked.context, found.left_out, strict=True):
        blanked = whole.clone()
        blanked[place] = theirs.blank
        assert ours == pytest.approx((theirs.log_p(whole) - theirs.log_p(blanked)).item(), abs=2e-4)


@pytest.mark.parametrize("model_id", MODELS)
def test_gradient_times_input_is_autograd_s(model_id: str) -> None:
    _, asked, found = asked_of(model_id)
    whole = vectors_of(model_id)
    expected = (slope(theirs_of(model_id).log_p, whole) * whole).sum(-1)[list(asked.context)]
    assert np.allclose(found.scores[methods.GRADIENT][0], expected.numpy(), atol=1e-3)


@pytest.mark.parametrize("model_id", some(MODELS, 1))
def test_integrated_gradients_are_a_fine_sum_of_autograd_s_and_complete(model_id: str) -> None:
    _, asked, found = asked_of(model_id)
    theirs, whole = theirs_of(model_id), vectors_of(model_id)
    away = whole.clone()
    away[list(asked.context)] = theirs.blank
    steps = 160
    total = sum(slope(theirs.log_p, away + (at + 0.5) / steps * (whole - away)) for at in range(steps))
    expected = ((whole - away) * total / steps).sum(-1)[list(asked.context)]
    model, _, _ = asked_of(model_id)
    read = partial(methods._log_p, model, found.predicted)
    fine, _ = methods.integrated_gradients(model, asked, read, 4 * methods.STEPS)
    assert np.allclose(fine[0], expected.numpy(), atol=0.02)
    difference = (theirs.log_p(whole) - theirs.log_p(away)).item()
    assert fine.sum() == pytest.approx(difference, abs=0.01 * abs(difference))
    assert found.change == pytest.approx(difference, abs=1e-3)
    assert found.gap == pytest.approx(found.scores[methods.INTEGRATED].sum() - difference, abs=1e-3)
    assert abs(found.gap) < 0.1 * abs(difference)


@pytest.mark.parametrize("model_id", MODELS)
def test_maps_are_the_asked_row_and_rollout_is_multiplied_by_hand(model_id: str) -> None:
    _, asked, found = asked_of(model_id)
    rolled, context = np.eye(len(asked.encoding)), list(asked.context)
    for layer, heads in enumerate(theirs_of(model_id).attentions):
        raw = heads.mean(0)
        assert np.allclose(found.scores[methods.ATTENTION][layer], raw[asked.place, context], atol=1e-5)
        rolled = (raw + np.eye(len(raw))) / 2 @ rolled
        assert np.allclose(found.scores[methods.ROLLOUT][layer], rolled[asked.place, context], atol=1e-5)


def test_distance_and_frequency() -> None:
    for model_id in MODELS:
        model, asked, found = asked_of(model_id)
        at = asked.place + (model_id == "lab-gpt2")
        assert (found.scores[methods.NEAR][0] == [-abs(place - at) for place in asked.context]).all()
        counts = methods.counts(model)
        ids = [asked.encoding.token_ids[place] for place in asked.context]
        assert np.allclose(np.expm1(-found.scores[methods.RARE][0]), [counts.get(each, 0) for each in ids])
    whole = load_model("lab-bert").tokenizer.encode_batch([" ".join(sentence.words) for sentence in ewt()])
    the = load_model("lab-bert").tokenizer.token_to_id("the")
    assert the is not None
    assert methods.counts(load_model("lab-bert"))[the] == sum(each.ids.count(the) for each in whole)


@pytest.mark.parametrize("family", ["roberta", "distilbert", "modernbert", "gpt2"])
def test_every_family_that_predicts_words_is_explained(family: Family, tiny_checkpoint: TinyCheckpoint) -> None:
    model = load_model(tiny_checkpoint(family))
    tried = (ask(model, ["the", "cat", "sat", "on", "the", "mat"], at) for at in range(3, 6))
    asked = next(each for each in tried if each is not None)
    found = importance(model, asked)
    assert all(np.isfinite(each).all() and each.shape[1] == len(asked.context) for each in found.scores.values())
    assert len(found.scores[methods.ROLLOUT]) == model.config.layers
    assert abs(found.gap) <= 0.05 * max(abs(found.change), 1e-2)
    assert methods.INTEGRATED not in importance(model, asked, integrate=False).scores
