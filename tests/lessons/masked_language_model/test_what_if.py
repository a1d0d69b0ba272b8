"""Questions that ask why and what if: their answers from Hugging Face's own probabilities."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor

import lab
from lab.analysis.words.masking import mask_of, masked_run
from lab.course.sentences.blanks import BLANKS
from lab.course.words import share
from lab.lessons.masked_language_model import what_if
from lab.models.loading import LoadedModel
from lab.models.reference import reference
from lab.questions.question import MARGIN
from tests.sentences import BOYS

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


@torch.inference_mode()
def theirs(model: LoadedModel, text: str) -> Tensor:
    """(vocabulary,), Hugging Face's probabilities in the first blank, or after the text before it."""
    causal = model.config.causal
    ids = list(lab.trace(model, text.split(" [MASK]", maxsplit=1)[0] if causal else text).token_ids)
    module: Any = reference(model)
    out = module(torch.tensor([ids]))
    mask = mask_of(model.tokenizer)
    row = out.logits[0, -1] if mask is None else out.prediction_logits[0, ids.index(mask[1])]
    probabilities: Tensor = row.double().softmax(-1)
    return probabilities


def probability(model: LoadedModel, text: str, word: str) -> float:
    token_id = model.tokenizer.token_to_id(f"Ġ{word}" if model.config.causal else word)
    assert token_id is not None
    return float(theirs(model, text)[token_id])


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("blank", BLANKS)
def test_another_subject_is_really_run(name: str, blank: Any) -> None:
    model = lab.load_model(name)
    before, after = (probability(model, text, "were") for text in (blank.text, blank.changed))
    question = what_if.other_subject(partial(lab.trace, model), model, blank)
    if abs(abs(after - before) - MARGIN) < 0.01:
        assert question is None
        return
    assert question is not None and share(before) in question.prompt
    right = question.options[question.answer]
    way = "rises" if after - before > MARGIN else "falls" if before - after > MARGIN else "stays"
    assert way in right.text
    told = re.findall(r"\d+(?:\.\d+)?e[+-]?\d+|\d\.\d+", right.why)
    assert [float(each) for each in told] == pytest.approx([before, after], abs=0.0006)


def test_one_more_hidden_word_costs_what_their_model_says() -> None:
    model = lab.load_model("lab-bert")
    plain = lab.trace(model, "The boys were playing in the garden.")
    seen, others = masked_run(plain, (3,)), (2, 4, 7)
    text = BOYS
    best = int(theirs(model, text).argmax())
    both = [text.replace(word, "[MASK]") for word in ("playing", "garden")]
    after = {4: float(theirs(model, both[0])[best]), 7: float(theirs(model, both[1])[best])}
    module: Any = reference(model)
    with torch.inference_mode():
        ids = torch.tensor([masked_run(seen, (2,)).token_ids])
        after[2] = float(module(ids).prediction_logits[0, 3].double().softmax(-1)[best])
    most = min(after, key=after.__getitem__)
    question = what_if.one_more_hidden(seen, 3, others)
    assert question is not None
    right = question.options[question.answer]
    assert f"(token {most + 1})" in right.text and share(after[most]) in right.why
    assert what_if.one_more_hidden(seen, 3, ()) is None


@pytest.mark.parametrize("causal", [True, False])
def test_why_nothing_or_something_is_hidden(causal: bool) -> None:
    question = what_if.why_hidden(causal)
    right = question.options[question.answer].text
    assert ("never sees the tokens after" in right) == causal
    assert ("read the word off" in right) != causal
