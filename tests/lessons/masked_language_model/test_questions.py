"""The questions of the lesson: their right answers again, from Hugging Face's logits or by arithmetic."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import lab
from lab.course.words import quoted
from lab.lessons.masked_language_model.check import (
    LOOKED,
    LOOKS,
    MET,
    NO_WORD,
    NOT_ONE,
    SAME,
    look_at_entry,
    negated,
)
from lab.models.reference import reference
from lab.questions.asking import Spot

MODEL = lab.load_model("lab-minilm")
FRANCE = "The capital of France is [MASK]."
SPOT = Spot(lab.trace(MODEL, FRANCE), 0, 0, 6, 6)


def theirs(text: str) -> dict[str, float]:
    """The probability of each word in the blank, by Hugging Face's model."""
    trace = lab.trace(MODEL, text)
    module: Any = reference(MODEL)
    with torch.inference_mode():
        logits = module(torch.tensor([trace.token_ids])).prediction_logits[0, trace.tokens.index("[MASK]")]
    shares = logits.double().softmax(0)
    return {str(MODEL.tokenizer.id_to_token(at)): float(p) for at, p in enumerate(shares)}


def test_with_not_the_model_says_paris_and_is_surer() -> None:
    with_not, without = theirs("The capital of France is not [MASK]."), theirs(FRANCE)
    assert max(with_not, key=with_not.__getitem__) == "paris" == max(without, key=without.__getitem__)
    question = negated(SPOT)
    assert question is not None
    assert f"*paris* {without['paris']:.2f}. In" in question.prompt
    assert f"*paris* {with_not['paris']:.2f}." in question.prompt


def test_a_raised_logit_lowers_the_others_and_a_shift_changes_none() -> None:
    p = theirs(FRANCE)
    logits, words = np.log(list(p.values())), list(p)
    assert words[int(logits.argmax())] == "paris"

    def paris(changed: np.ndarray) -> float:
        return float(np.exp(changed)[words.index("paris")] / np.exp(changed).sum())

    raised = logits.copy()
    raised[words.index("strasbourg")] += 2
    assert paris(raised) < paris(logits) - 0.01
    assert paris(logits + 1) == pytest.approx(paris(logits), rel=1e-9)


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ("My friend in France speaks only _.", MET),
        ("They moved to France and learned ▢.", MET),
        ("The capital of France is [MASK].", LOOKED),
        ("In France, people drink a lot of _.", SAME),
        ("The president of France is _.", NO_WORD),
        ("Paris is a city in _.", NOT_ONE),
        ("France and France are _.", NOT_ONE),
        ("She lives in France.", NOT_ONE),
    ],
)
def test_the_challenge_is_judged(entry: str, said: str) -> None:
    found = look_at_entry(entry)
    assert found.met == (said == MET)
    assert found.said.startswith(said.partition("{")[0])


@pytest.mark.parametrize(
    "text", ["My friend in France speaks only [MASK].", "They moved to France and learned [MASK]."]
)
def test_who_brings_the_country_is_told_as_their_swap_shows(text: str) -> None:
    module: Any = reference(MODEL)
    rows = [lab.trace(MODEL, each).token_ids for each in (text, text.replace("France", "Russia"))]
    blank, kept = lab.trace(MODEL, text).tokens.index("[MASK]"), list[torch.Tensor]()
    mixing = next(each for name, each in module.named_modules() if name.endswith("layer.5.attention.output.dense"))

    def swap(_: object, inputs: tuple[torch.Tensor]) -> tuple[torch.Tensor]:
        context = inputs[0].clone().view(*inputs[0].shape[:2], 12, 32)
        if kept:
            context[0, blank, [3, 5]] = kept[0][0, blank, [3, 5]]
        kept.append(context)
        return (context.flatten(2),)

    hook = mixing.register_forward_pre_hook(swap)
    with torch.inference_mode():
        russian, mixed = (int(module(torch.tensor([ids])).prediction_logits[0, blank].argmax()) for ids in rows[::-1])
    hook.remove()
    assert mixed == russian != int(lab.trace(MODEL, text).logits(blank)[0].argmax())
    word = quoted(str(MODEL.tokenizer.id_to_token(mixed)))
    assert f"the model says {word}. So they bring it all the same" in look_at_entry(text).said


def test_the_challenge_s_numbers_are_the_model_s() -> None:
    text = "My friend in France speaks only [MASK]."
    trace = lab.trace(MODEL, text)
    module: Any = reference(MODEL)
    with torch.inference_mode():
        weights = module(torch.tensor([trace.token_ids]), output_attentions=True).attentions[5][0, [3, 5]]
    looks = float(weights[:, trace.tokens.index("[MASK]"), trace.tokens.index("france")].max())
    said, russian = look_at_entry(text).said, theirs(text.replace("France", "Russia"))
    assert looks < LOOKS and f"at most {looks:.2f}, and with *Russia*" in said
    assert f"({theirs(text)['french']:.2f}) becomes {quoted(max(russian, key=russian.__getitem__))}" in said
