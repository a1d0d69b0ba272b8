"""Mistakes beside the right run: distances by hand, words against a run of Hugging Face's own making."""

from __future__ import annotations

import pytest
import torch
import transformers

import lab
from lab.analysis.layers.run_with_mistake import PADDING, break_run, can_be_padded, place_asked, words_predicted
from lab.models.catalogue import EMBEDDED
from lab.models.interventions import Interventions
from lab.toy.models import constructed_toy

TEXT = "The sleepy cat sat on the mat."


@pytest.mark.parametrize("model", ["lab-bert", "lab-gpt2"])
def test_the_distance_is_that_of_the_last_vectors(model: str) -> None:
    plain = lab.trace(lab.load_model(model), TEXT)
    runs = break_run(plain, Interventions(no_values=True))
    there, here = plain.hidden_states, runs.broken.hidden_states
    by_hand = ((here - there) ** 2).sum(-1).sqrt() / (there**2).sum(-1).sqrt()
    torch.testing.assert_close(torch.tensor(runs.moved, dtype=torch.float32), by_hand)
    assert not runs.moved[0].any() and (runs.moved[1:] > 0).all()


def test_without_its_mask_gpt2_reads_the_word_it_has_to_predict() -> None:
    plain = lab.trace(lab.load_model("lab-gpt2"), TEXT)
    place = plain.labels.index("␣sat")
    found = words_predicted(break_run(plain, Interventions(no_causal_mask=True)), place)
    module = transformers.AutoModelForCausalLM.from_pretrained(
        EMBEDDED / "lab-gpt2", attn_implementation="eager", dtype=torch.float32
    ).eval()
    open_mask = torch.zeros(1, 1, len(plain), len(plain))
    with torch.inference_mode():
        logits = [
            module(torch.tensor([plain.token_ids]), **mask).logits[0, place]
            for mask in ({}, {"attention_mask": open_mask})
        ]
    assert [found.right.token_id, found.broken.token_id] == [int(each.argmax()) for each in logits]
    assert found.broken.word == plain.labels[place + 1] == "␣on"
    assert found.kept.probability == pytest.approx(logits[1].softmax(-1)[found.right.token_id].item(), abs=1e-5)


def test_padding_is_left_out_of_the_distance_and_changes_nothing_behind_its_mask() -> None:
    plain = lab.trace(lab.load_model("lab-bert"), TEXT)
    runs = break_run(plain, Interventions(no_padding_mask=True))
    assert runs.moved.shape == (plain.model.config.layers + 1, len(plain))
    assert len(runs.right) == len(plain) + PADDING
    torch.testing.assert_close(runs.right.hidden_states[:, : len(plain)], plain.hidden_states, atol=1e-4, rtol=0)


def test_a_word_is_asked_about_where_one_can_be_hidden() -> None:
    bert, gpt2 = (lab.trace(lab.load_model(name), TEXT) for name in ("lab-bert", "lab-gpt2"))
    assert place_asked(bert, bert.labels.index("cat")) == bert.labels.index("cat")
    assert place_asked(bert, 0) == bert.labels.index("mat")  # [CLS] hides no word
    assert place_asked(gpt2, 0) == 0
    toy = lab.trace(constructed_toy(8, 8), "c e b")
    assert place_asked(toy, 1) is None and not can_be_padded(toy)
    with pytest.raises(ValueError, match="cannot be given 4 padding tokens"):
        break_run(toy, Interventions(no_padding_mask=True))
