"""Every question about heads: exactly one right answer, recomputed here from the tensors."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.analysis.heads.comparing import head_sum
from lab.analysis.words.predictions import Prediction, word_of
from lab.course.words import quoted
from lab.lessons.multi_head_attention import checks, what_if
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.models.trace import trace as run
from lab.questions.question import Option, Question
from lab.toy.models import random_toy
from lab.toy.recut import recut
from tests.checkpoints import HEADS, WIDTH, Family
from tests.conftest import TinyCheckpoint
from tests.sentences import CAT, KEYS

TEXTS = (CAT, "She opened the door.", "the the the the the dog")


@pytest.fixture(params=["bert", "gpt2"])
def traces(request: pytest.FixtureRequest, tiny_checkpoint: TinyCheckpoint) -> list[Trace]:
    family: Family = request.param
    model = lab.load_model(tiny_checkpoint(family, seed=3))
    return [lab.trace(model, text) for text in TEXTS]


def answer(question: Question | None) -> Option:
    assert question is not None
    return question.options[question.answer]


@pytest.mark.parametrize("heads", [1, 2, 8])
def test_parameters_stay_whatever_the_heads(traces: list[Trace], heads: int) -> None:
    question = checks.parameters(traces[0].model.config, heads)
    assert answer(question).text == f"{4 * WIDTH * WIDTH + 4 * WIDTH:,}"


def test_parameters_asks_for_another_possible_number(traces: list[Trace]) -> None:
    config = traces[0].model.config
    assert checks.parameters(config, HEADS) is None
    assert checks.parameters(config, 5) is None
    assert checks.other_cut(config) == 2 * HEADS
    one_each = recut(random_toy(8, 8), 32).config
    assert checks.other_cut(one_each) == 16


def test_first_moved_names_the_layers_that_moved() -> None:
    assert answer(checks.first_moved(0, 0, np.array([0, 0.1, 0.2, 0.3]))).text == "After layer 1 and all later layers"
    assert answer(checks.first_moved(1, 0, np.array([0, 0, 0.2, 0.3]))).text == "After layer 2 and all later layers"
    last = checks.first_moved(2, 0, np.array([0, 0, 0, 0.3]))
    assert answer(last).text == "Only after layer 3"
    assert checks.first_moved(0, 0, np.array([0, 0.1])) is None
    assert checks.first_moved(0, 0, np.array([0, 0.0, 0.0])) is None


def test_how_many_heads_look_at_the_same_token_is_counted(traces: list[Trace]) -> None:
    seen = set()
    for trace in traces:
        maps = trace.layer(1).attention.numpy()
        for query in range(1, len(trace)):
            for head in range(HEADS):
                question = checks.who_agrees(trace, trace.layer(1), head, query)
                key = maps[head, query].argmax()
                same = sum(int(each[query].argmax() == key) for each in maps)
                expected = "Only this head" if same == 1 else f"All {HEADS} heads" if same == HEADS else "Several heads"
                assert answer(question).text.startswith(expected)
                seen.add(expected)
    assert len(seen) > 1


def test_the_word_without_a_head_is_that_of_the_run_without_it() -> None:
    model = lab.load_model("lab-minilm")
    trace = lab.trace(model, KEYS)
    place = trace.token_ids.index(model.tokenizer.token_to_id("[MASK]"))
    off = lab.trace(model, trace.text, interventions=Interventions(zero_heads=frozenset({(4, 10)})))
    whole, without = (Prediction(place, None, each.logits(place)[0].double().numpy()) for each in (trace, off))
    right = answer(checks.word_without(whole, without, (4, 10), model.tokenizer))
    assert right.text == quoted(word_of(model.tokenizer, int(off.logits(place)[0].argmax())))
    assert "is" in right.text and "are" in right.why, "the story: without layer 5, head 11, are becomes is"


def test_heads_that_hardly_matter_are_counted() -> None:
    """By hand: a twentieth of 0.2 is 0.01."""
    few, most = np.full((2, 3), 0.2), np.full((2, 3), 0.3)
    assert answer(checks.how_many_matter("“are”", 0.2, few)).text.startswith("Most of them")
    assert answer(checks.how_many_matter("“are”", 0.2, most)).text.startswith("Few")
    half = np.array([[0.2, 0.2, 0.2], [0.3, 0.3, 0.3]])
    assert answer(checks.how_many_matter("“are”", 0.2, half)).text == "About half"
    assert checks.how_many_matter("“are”", 0.2, np.array([[0.2, 0.3, 0.3]])) is None, "a third"


def test_one_head_asks_only_what_it_can(traces: list[Trace]) -> None:
    trace = run(recut(random_toy(8, 8), 1), "c e b")
    added = head_sum(trace.layer(0))
    assert checks.who_agrees(trace, trace.layer(0), 0, 1) is None
    assert what_if.together(trace, added, 1) is None
    assert what_if.why_several(trace.model.config) is None
    assert answer(checks.parameters(trace.model.config, checks.other_cut(trace.model.config))).text == "4,224"
