"""The contributions of all parts add up to the logit, and each is what Hugging Face's tensors say it is."""

from __future__ import annotations

import pytest
import torch

from lab.experiments.patching.contributions import contributions
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel, load_model
from lab.models.trace import trace
from tests.checkpoints import HEADS, LAYERS
from tests.conftest import TinyCheckpoint
from tests.evidence.asked import asked_pairs, near, their_contexts
from tests.models.reference import HEAD_WIDTH, SENTENCE, load_theirs


def test_all_parts_add_up_to_the_logit(tiny: LoadedModel) -> None:
    run = trace(tiny, SENTENCE, None if tiny.config.causal else "A second one.")
    for place in (0, 3, len(run) - 1):
        for word in (6, 30, 99):
            found = contributions(run, place, word)
            near(found.logit, float(run.logits(place)[0, word]), 0)
            near(found.total, found.logit)


@pytest.mark.parametrize("model_id", ["lab-bert", "lab-gpt2"])
def test_they_add_up_in_a_trained_model(model_id: str) -> None:
    run = trace(load_model(model_id), "The boys near the tree are happy.")
    for word in range(100, 8000, 1500):
        found = contributions(run, 5, word)
        near(found.total, found.logit)


def test_a_head_of_gpt2_adds_what_its_rows_of_w_o_say(tiny_checkpoint: TinyCheckpoint) -> None:
    """By hand from Hugging Face: its context times its rows of W_O, through the frozen LayerNorm, times the word."""
    model, theirs = load_model(tiny_checkpoint("gpt2")), load_theirs(tiny_checkpoint("gpt2"), "gpt2")
    pair = asked_pairs(model)[0]
    run, word = trace(model, pair.pair.text), 33
    found = contributions(run, pair.place, word)
    norm, decoder = theirs.base.get_submodule("ln_f"), theirs.base.get_submodule("wte").get_parameter("weight")
    captured: list[torch.Tensor] = []
    handle = norm.register_forward_pre_hook(lambda _, inputs: captured.append(inputs[0][0, pair.place]))
    contexts = their_contexts(theirs, pair, LAYERS)
    handle.remove()
    deviation = (captured[0].var(correction=0) + model.config.norm_eps).sqrt()
    for layer in range(LAYERS):
        for head in range(HEADS):
            own = slice(head * HEAD_WIDTH, (head + 1) * HEAD_WIDTH)
            written = contexts[layer][pair.place, own] @ theirs.projection_inputs(layer)[own]
            centred = (written - written.mean()) / deviation * norm.get_parameter("weight")
            near(found.heads[layer, head], float((centred @ decoder[word]).detach()))


def test_a_changed_run_is_refused(tiny_checkpoint: TinyCheckpoint) -> None:
    changed = trace(load_model(tiny_checkpoint("bert")), SENTENCE, None, Interventions(no_positions=True))
    with pytest.raises(ValueError, match="plain run"):
        contributions(changed, 1, 1)
    headless = trace(load_model(tiny_checkpoint("bert-headless")), SENTENCE)
    with pytest.raises(ValueError, match="head"):
        contributions(headless, 1, 1)
