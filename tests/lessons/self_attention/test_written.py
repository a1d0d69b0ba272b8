"""What lesson 3 says of the course's sentence, and the right answers of its questions, from Hugging Face alone."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoTokenizer

import lab
from lab.course.sentences.looks import STORY_TEXT
from lab.course.words import spoken
from lab.lessons.self_attention import all_rows, build_a_row, check, scale
from lab.lessons.self_attention import map as look
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.questions.asking import Spot
from tests.lessons.self_attention.runs import answer, run
from tests.told import numbers

BLANK, FRANCE, HEAD, WIDTH = 6, 4, 3, 32


@pytest.fixture(scope="module")
def theirs() -> dict[str, np.ndarray]:
    """Weights, scores and values of head 4 of layer 6 in the course's sentence."""
    folder = EMBEDDED / DEFAULT_MODEL
    module = AutoModelForMaskedLM.from_pretrained(folder, attn_implementation="eager").eval()
    inputs = AutoTokenizer.from_pretrained(folder)(STORY_TEXT, return_tensors="pt")
    with torch.inference_mode():
        out = module(**inputs, output_attentions=True, output_hidden_states=True)
        own, x = module.bert.encoder.layer[5].attention.self, out.hidden_states[5][0]
        columns = slice(HEAD * WIDTH, (HEAD + 1) * WIDTH)
        query, key, value = (part(x)[:, columns] for part in (own.query, own.key, own.value))
    return {
        "weights": out.attentions[5][0, HEAD].numpy(),
        "scores": (query @ key.T).numpy(),
        "values": value.norm(dim=-1).numpy(),
    }


@pytest.fixture(scope="module")
def spot() -> Spot:
    return Spot(run(DEFAULT_MODEL, STORY_TEXT), 5, HEAD, BLANK, FRANCE)


def test_the_blank_looks_at_france_and_france_does_not_look_back(theirs: dict[str, np.ndarray], spot: Spot) -> None:
    weights = theirs["weights"]
    first, second = np.sort(weights[BLANK])[::-1][:2]
    assert weights[BLANK].argmax() == FRANCE and numbers(look.reading(spot)) == pytest.approx(
        [first, second], abs=0.0051
    )
    assert "From the blank, head 6-4 gives" in look.reading(spot) and spot.in_story_row
    question = look.looks_back(spot)
    assert question is not None and "0.96" in question.prompt and round(float(first), 2) == 0.96
    assert weights[FRANCE, BLANK] < 0.01 and answer(question).text.startswith("Less than 0.01")


def test_the_other_words_give_cls_and_sep_most(theirs: dict[str, np.ndarray], spot: Spot) -> None:
    rows = theirs["weights"][[1, 2, 3, 4, 5, 7]]
    least = (rows[:, 0] + rows[:, 8]).min()
    assert look.least_at_marks(spot) == pytest.approx(least, abs=1e-4) and least > 0.8


def test_a_row_is_built(theirs: dict[str, np.ndarray], spot: Spot) -> None:
    scores, weights = theirs["scores"][BLANK], theirs["weights"][BLANK]
    second, first = np.sort(scores)[-2:] / math.sqrt(WIDTH)
    largest, division, softmax, arrives = build_a_row.stages(spot, story=True)
    assert numbers(largest) == pytest.approx([scores.max()], abs=0.0051) and "√32 ≈ 5.66" in division
    assert numbers(softmax) == pytest.approx([weights.max()], abs=0.0051)
    assert numbers(arrives)[:3] == pytest.approx(
        [weights[FRANCE], theirs["values"][FRANCE], first - second], abs=0.0051
    )
    times = float(re.findall(r"about (\d+) times", arrives)[0])
    ratio = np.divide(*np.sort(weights)[::-1][:2])
    assert times == pytest.approx(ratio, abs=0.6)
    assert np.argmax(weights * theirs["values"]) == FRANCE


def test_the_outlined_score(theirs: dict[str, np.ndarray], spot: Spot) -> None:
    assert numbers(all_rows.reading(spot)) == pytest.approx([theirs["scores"][BLANK, FRANCE]], abs=0.0051)
    assert "9 × 9 = 81" in all_rows.reading(spot)


def test_without_the_division_nothing_is_left(theirs: dict[str, np.ndarray], spot: Spot) -> None:
    found = scale.sharper(Spot(spot.trace, 5, HEAD, 0, FRANCE))
    plain = torch.tensor(theirs["scores"][0]).softmax(-1).numpy()
    assert theirs["weights"][0].argmax() == FRANCE
    assert found.divided == pytest.approx(theirs["weights"][0, FRANCE], abs=1e-4)
    assert found.without == pytest.approx(plain[FRANCE], abs=1e-4) and 1 - plain[FRANCE] < 0.0001


def test_what_the_questions_teach_is_so_in_a_small_head() -> None:
    scores, values = torch.tensor([2.0, 1.0, 0.5]), torch.randn(3, 4, generator=torch.Generator().manual_seed(0))
    weights = scores.softmax(0)
    gone = values.clone()
    gone[0] = 0
    assert not torch.allclose(weights @ gone, weights @ values)  # the weights are made without the values
    raised = (scores + torch.tensor([1.0, 0, 0])).softmax(0)
    assert (raised[1:] < weights[1:]).all()


@pytest.mark.parametrize(
    ("entry", "met", "says"),
    [
        ("Portugal", True, "Looking is not answering"),
        ("France", False, "That is right"),
        (" russia ", False, "That is right"),
        ("Italy", False, "told you"),
        ("Angola", False, "several tokens"),
        ("Israel", False, "its capital is disputed"),
        ("Mordor", False, "has no *Mordor*"),
        ("<b>", False, "has no"),
    ],
)
def test_the_challenge(entry: str, met: bool, says: str) -> None:
    found = check.judge(entry)
    assert (found.met, says in found.said) == (met, True)


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
@pytest.mark.parametrize("text", ["She gave her brother the book that he wanted.", "a", "مرحبا 🙂 <script>"])
def test_readings_of_any_row(model: str, text: str) -> None:
    trace = run(model, text)
    for query in range(len(trace)):
        any_spot = Spot(trace, 1, 2, query, 0)
        weights = trace.layer(1).attention[2, query].numpy()
        told = look.reading(any_spot)
        seen = np.argsort(-weights)[: query + 1 if trace.model.config.causal else None][:2]
        assert numbers(told) == pytest.approx(weights[seen].tolist(), abs=0.0051) and not any_spot.in_story_row
        assert all(f"{spoken(trace, int(key))} " in told for key in seen)
        stages = build_a_row.stages(any_spot, story=False)
        parts = weights * trace.layer(1).value[2].norm(dim=-1).numpy()
        assert f"comes from {spoken(trace, int(parts.argmax()))}:" in stages[-1]
        assert not any("{" in stage for stage in stages)
        assert "{" not in all_rows.reading(any_spot)


def test_what_arrives_is_not_only_the_weight() -> None:
    """In this head, the longest part often comes from another token than the one with the largest weight."""
    layer = run("lab-minilm", "She gave her brother the book that he wanted.").layer(1)
    parts = layer.attention[2] * layer.value[2].norm(dim=-1)
    assert (parts.argmax(dim=-1) != layer.attention[2].argmax(dim=-1)).any()


def test_another_head_and_another_model_get_no_finding(spot: Spot) -> None:
    assert not Spot(spot.trace, 5, 4, BLANK, FRANCE).in_story_row
    assert not Spot(spot.trace, 5, HEAD, FRANCE, BLANK).in_story_row
    bert = lab.trace(lab.load_model("lab-bert"), STORY_TEXT)
    assert not Spot(bert, 1, HEAD, BLANK, FRANCE).in_story_row
