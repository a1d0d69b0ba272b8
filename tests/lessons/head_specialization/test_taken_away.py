"""What is left of heads without positions or segments, beside Hugging Face run on tables of zeros."""

from __future__ import annotations

import re

import pytest
import torch
from transformers import BertModel

import lab
from lab.analysis.heads.taken_away import POSITIONS, SEGMENTS, Lost, lost
from lab.course.words import plain
from lab.lessons.head_specialization.meanings import taken_away
from lab.models.catalogue import EMBEDDED
from lab.toy.models import constructed_toy

PAIR = ("The rabbit quickly hopped.", "The turtle slowly crawled.")


def attention(text: str, pair: str | None, taken: str) -> torch.Tensor:
    """(L, H, n, n) of lab-bert by Hugging Face, with a table of zeros."""
    model = BertModel.from_pretrained(EMBEDDED / "lab-bert", attn_implementation="eager").eval()
    tables = model.embeddings
    table = tables.position_embeddings if taken == POSITIONS else tables.token_type_embeddings
    torch.nn.init.zeros_(table.weight)
    seen = lab.trace(lab.load_model("lab-bert"), text, pair).encoding
    with torch.inference_mode():
        out = model(
            torch.tensor([seen.token_ids]), token_type_ids=torch.tensor([seen.segment_ids]), output_attentions=True
        )
    return torch.cat(out.attentions)


def test_the_line_of_a_previous_token_head_goes_with_the_positions() -> None:
    found = lost(lab.trace(lab.load_model("lab-bert"), *PAIR), POSITIONS)
    assert found is not None and found.clearly
    after = attention(*PAIR, POSITIONS).diagonal(-1, 2, 3).mean(-1)
    assert found.after == pytest.approx(float(after[found.layer, found.head]), abs=1e-5)
    assert found.before > 0.9 and found.after < 0.3


def test_a_block_is_weaker_without_segments() -> None:
    trace = lab.trace(lab.load_model("lab-bert"), *PAIR)
    found = lost(trace, SEGMENTS)
    assert found is not None
    special, second = trace.encoding.special, trace.encoding.in_pair
    rows = [i for i, each in enumerate(special) if not each]
    weights = attention(*PAIR, SEGMENTS)[found.layer, found.head]
    overlap = 0.0
    for i in rows:
        own = [j for j in rows if second[j] == second[i]]
        overlap += sum(min(float(weights[i, j]), 1 / len(own)) for j in own) / len(rows)
    assert found.after == pytest.approx(overlap, abs=1e-5)
    assert found.after < found.before


@pytest.mark.parametrize("model_id", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_what_is_said_follows_from_the_scores(model_id: str) -> None:
    trace = lab.trace(lab.load_model(model_id), "She gave her brother the book that he wanted.")
    for taken in (POSITIONS, SEGMENTS)[: 1 if trace.model.weights.embeddings.segment is None else 2]:
        found = lost(trace, taken)
        assert found is not None
        said = plain(taken_away(taken, found, pair=False))
        assert f"layer {found.layer + 1}, head {found.head + 1}" in said.lower()
        told = [float(each) for each in re.findall(r"\d\.\d\d", said)]
        assert told == [pytest.approx(each, abs=0.006) for each in (found.before, found.after, found.uniform)]
        assert ("little to lose" in said) == (not found.clearly)


def test_each_amount_that_is_lost_has_its_words() -> None:
    def said(after: float, *, clearly: bool = True, pair: bool = True) -> str:
        return taken_away(SEGMENTS, Lost(0, 0, 0.8, after, 0.2, clearly), pair)

    assert "tell this head where to look" in said(0.2)
    assert "for a part of it" in said(0.5)
    assert "hardly needs the segments" in said(0.75) and "With one sentence" not in said(0.75)
    assert "With one sentence" in said(0.75, pair=False)
    assert "little to lose" in said(0.2, clearly=False)


def test_a_single_token_has_nothing_to_look_at() -> None:
    assert lost(lab.trace(constructed_toy(8, 8), "a"), POSITIONS) is None
