"""Mean and spread over all heads, from the maps of Hugging Face."""

from __future__ import annotations

import pytest
import torch
from transformers import BertModel

import lab
from lab.lessons.attention_metrics.summary import over_all_heads
from lab.models.catalogue import EMBEDDED


def test_mean_and_spread_of_the_entropy_are_those_of_all_heads() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), "She gave her brother the book.")
    model = BertModel.from_pretrained(EMBEDDED / "lab-bert", attn_implementation="eager").eval()
    with torch.inference_mode():
        out = model(torch.tensor([trace.token_ids]), output_attentions=True)
    weights = torch.cat(out.attentions).double()
    entropy = -torch.special.xlogy(weights, weights).sum(dim=(-2, -1))
    row = over_all_heads(trace, (1, 2), corrected=False).set_index("metric").loc["Spread (entropy)"]
    assert row["mean"] == pytest.approx(float(entropy.mean()), abs=1e-4)
    assert row["standard deviation"] == pytest.approx(float(entropy.std(correction=0)), abs=1e-4)
    assert row["layer 2, head 3"] == pytest.approx(float(entropy[1, 2]), abs=1e-4)
