"""Where does it look?: what is said and asked about a row and a map, computed again from the weights."""

from __future__ import annotations

import numpy as np
import pytest

from lab.course.sentences.looks import look_head
from lab.course.words import VISIBLE, named, told_apart
from lab.lessons.self_attention import map as step
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.trace import Trace
from lab.questions.question import MARGIN
from lab.questions.returning import Spot
from tests.lessons.self_attention.runs import MODELS, TEXTS, answer, asked, numbers, run, spots
from tests.sentences import STORY


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_said_names_the_largest_weights(model: str, text: str) -> None:
    trace = run(model, text)
    for spot in spots(trace):
        head = trace.layer(spot.layer).attention[spot.head].numpy()
        weights = head[spot.query]
        said = step.said(step.looks(spot))
        if (weights > 0).sum() == 1:
            assert "only" in said
            continue
        first, second = np.argsort(-weights, kind="stable")[:2]
        assert numbers(said)[:2] == pytest.approx(weights[[first, second]], abs=0.0051)
        clear = weights[first] - weights[second] >= VISIBLE
        assert ("looks most at" in said) == clear
        if clear:
            assert f"looks most at {named(trace, int(first))}" in said
            assert ("half of its attention" in said) == (abs(weights[first] - 0.5) < VISIBLE)
            best = head.argmax(axis=1)
            same = int((np.delete(best, spot.query) == first).sum())
            others = len(best) - 1
            who = (
                f"all {others}" if same == others > 2 else "both" if same == others == 2 else f"{same} of the {others}"
            )
            assert (f"{who} other tokens" in said) == (same > 0)


def test_many_tokens_rest_on_one_in_the_story() -> None:
    story = run("lab-minilm", STORY)
    count = int((story.layer(4).attention[10].numpy().argmax(axis=1) == 0).sum())
    assert step.resting(Spot(story, 4, 10, 8, 0)).startswith(f"{count} of the {len(story)} tokens look most at")


def test_most_attended_names_the_largest_weight(traces: list[Trace]) -> None:
    for spot, question in asked(traces, step.most_attended, heads=2):
        weights = np.asarray(spot.traced.attention[spot.head, spot.query])
        assert answer(question).text.endswith(f"({weights.argmax() + 1})")


def given(back: float) -> str:
    return "**less than 0.01**" if 0 < back < 0.005 else f"**{back:.2f}**"


def test_what_is_given_back_is_the_transposed_cell(traces: list[Trace]) -> None:
    for spot, question in asked(traces, step.looks_back):
        head = spot.traced.attention[0].numpy()
        key = int(head[spot.query].argmax())
        there, back = head[spot.query, key], head[key, spot.query]
        assert answer(question).text.startswith("A different share") and given(back) in answer(question).why
        assert min(abs(there - back), abs(1 - there - back)) >= MARGIN and f"{there:.2f} of its" in question.prompt
        assert ("a mask hides" in answer(question).why) == (spot.trace.model.config.causal and key < spot.query)


def test_the_head_of_the_story_is_the_one_that_the_page_opens() -> None:
    story = run(DEFAULT_MODEL, STORY)
    assert look_head(story) == step.STORY_HEAD
    row = story.layer(4).attention[10, story.labels.index("he")]
    assert story.labels[int(row.argmax())] == "brother"


def test_column_head_and_row_questions_agree_with_the_maps(traces: list[Trace]) -> None:
    for trace in traces:
        for head in range(4):
            spot, attention = Spot(trace, 1, head, 0, 0), trace.layer(1).attention.numpy()
            if (question := step.most_attended_overall(spot)) is not None:
                assert answer(question).text.endswith(f"({attention[head].sum(0).argmax() + 1})")
            if (question := step.previous_token_head(spot)) is not None:
                before = [np.mean([each[i, i - 1] for i in range(1, len(trace))]) for each in attention]
                assert answer(question).text == f"Head {int(np.argmax(before)) + 1}"
            if (question := step.most_even(spot)) is not None:
                assert answer(question).text.endswith(f"({attention[head].max(axis=-1).argmin() + 1})")


def test_the_head_of_the_story_may_rest_in_another_sentence() -> None:
    """The sentence is said where, and only where, the largest weight is a special token's."""
    said = 0
    for text in (*TEXTS, "He gave her a book.", "The trophy does not fit into the suitcase because it is too big."):
        trace = run(DEFAULT_MODEL, text)
        for query in range(len(trace)):
            best = int(trace.layer(4).attention[10, query].argmax())
            told = step.rests_here(Spot(trace, 4, 10, query, 0))
            assert bool(told) == (text != STORY and bool(trace.encoding.special[best]))
            assert not told or told_apart(trace, best) in told
            said += bool(told)
    assert said and not step.rests_here(Spot(run("lab-bert", TEXTS[1]), 3, 3, 0, 0))
