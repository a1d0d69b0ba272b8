"""The verb of six sentences without a head: at zero, and at the head's mean, by Hugging Face's own modules."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from lab.course.sentences.examples import ATTRACTIONS, FORMS
from lab.lessons.head_specialization.does_it_matter import attractions, attractions_at_mean, strongest
from lab.models.catalogue import EMBEDDED
from lab.models.loading import load_model
from lab.toy.models import constructed_toy

LAYER, HEAD, WIDTH = 4, 10, 32  # head 5-11 of lab-minilm


def by_hugging_face(at_zero: bool) -> list[float]:
    """The share of "were" in each sentence, with the head's slice of the input of W_O at zero or at its mean."""
    from transformers import AutoModelForPreTraining, AutoTokenizer

    module: Any = AutoModelForPreTraining.from_pretrained(EMBEDDED / "lab-minilm", attn_implementation="eager").eval()
    tokenizer: Any = AutoTokenizer.from_pretrained(EMBEDDED / "lab-minilm")
    own = slice(HEAD * WIDTH, (HEAD + 1) * WIDTH)

    def change(_: object, given: tuple[torch.Tensor, ...]) -> tuple[torch.Tensor, ...]:
        context = given[0].clone()
        context[..., own] = 0 if at_zero else context[..., own].mean(1, keepdim=True)
        return context, *given[1:]

    module.bert.encoder.layer[LAYER].attention.output.dense.register_forward_pre_hook(change)
    shares = []
    for sentence in ATTRACTIONS:
        inputs = tokenizer(sentence.filled("[MASK]"), return_tensors="pt")
        place = inputs["input_ids"][0].tolist().index(tokenizer.mask_token_id)
        with torch.inference_mode():
            logits = module(**inputs).prediction_logits[0, place].double()
        were, was = (logits[tokenizer.convert_tokens_to_ids(form)] for form in FORMS)
        shares.append(float((were - was).sigmoid()))
    return shares


def test_at_zero_and_at_the_mean_the_shares_are_hugging_face_s() -> None:
    model = load_model("lab-minilm")
    found = attractions(model)
    assert found is not None
    at_zero, at_mean = [each.off[LAYER, HEAD] for each in found], attractions_at_mean(model, (LAYER, HEAD))
    assert at_zero == pytest.approx(by_hugging_face(at_zero=True), abs=1e-4)
    assert at_mean == pytest.approx(by_hugging_face(at_zero=False), abs=1e-4)
    # The referee's figures: 6 of 6 at zero, 4 of 6 at the mean.
    assert [sum(share < 0.5 for share in shares) for shares in (at_zero, at_mean)] == [6, 4]
    off = np.stack([each.off for each in found])
    lost = (off < 0.5).sum(0)
    assert strongest(off) == (LAYER, HEAD) and lost.sum() == lost[LAYER, HEAD]  # “no other head …”
    assert all(each.before > 0.5 for each in found)


def test_a_model_that_cannot_read_the_sentences_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot read"):
        attractions_at_mean(constructed_toy(5, 6), (0, 0))
