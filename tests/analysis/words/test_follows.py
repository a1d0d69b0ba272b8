"""Next-sentence probabilities in both orders, against Hugging Face's head."""

from __future__ import annotations

import pytest
import torch

from lab.analysis.words.predictions import next_sentence, try_pairs, why_not
from lab.models.interventions import Interventions
from lab.models.loading import load_model
from lab.models.trace import trace
from tests.conftest import TinyCheckpoint

TEXT, PAIR = "The unhappily café doesn't wait for the cat.", "It was tired, so the dog laughed."


def test_both_orders_are_hugging_faces(tiny_checkpoint: TinyCheckpoint) -> None:
    import transformers

    folder = tiny_checkpoint("bert")
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    module = transformers.AutoModelForNextSentencePrediction.from_pretrained(folder).eval()
    with torch.inference_mode():
        expected = [
            module(**tokenizer(*texts, return_tensors="pt")).logits[0]  # label 0: it follows
            for texts in ((TEXT, PAIR), (PAIR, TEXT))
        ]
    run = trace(load_model(folder), TEXT, PAIR)
    found = next_sentence(run)
    assert found is not None
    assert [found.follows, found.swapped] == pytest.approx([z.softmax(-1)[0].item() for z in expected], abs=1e-5)
    assert abs(found.follows - found.swapped) > 1e-4  # the order is no matter of indifference to it
    assert why_not(run) is None


def test_pairs_are_tried_in_three_ways(tiny_checkpoint: TinyCheckpoint) -> None:
    model, pairs = load_model(tiny_checkpoint("bert")), ((TEXT, PAIR), (PAIR, "So?"), ("A cat.", TEXT))
    tried = try_pairs(model, pairs)
    for at, (first, second) in enumerate(pairs):
        asked = ((first, second), (second, first), (first, pairs[(at + 1) % 3][1]))
        wanted = [trace(model, *each).pair_logits.softmax(-1)[0].item() for each in asked]
        assert [tried.follows[at], tried.swapped[at], tried.mixed[at]] == pytest.approx(wanted, abs=1e-6)


def test_without_a_head_or_a_pair_there_is_a_reason(tiny_checkpoint: TinyCheckpoint) -> None:
    headless = trace(load_model(tiny_checkpoint("distilbert")), TEXT, PAIR)
    alone = trace(load_model(tiny_checkpoint("bert")), TEXT)
    for run, reason in ((headless, "without a next-sentence head"), (alone, "no second sentence")):
        assert next_sentence(run) is None
        assert reason in (why_not(run) or "")


def test_a_changed_run_is_refused(tiny_checkpoint: TinyCheckpoint) -> None:
    changed = trace(load_model(tiny_checkpoint("bert")), TEXT, PAIR, Interventions(no_segments=True))
    with pytest.raises(ValueError, match="carries interventions"):
        next_sentence(changed)
