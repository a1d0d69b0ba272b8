"""Build a row: the sentences of its four stages, and the questions about it, from the tensors of the row."""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import lab
from lab.course.words import VISIBLE, named
from lab.lessons.self_attention import build_a_row as step
from lab.models.trace import Trace
from lab.questions.returning import Spot
from lab.toy.models import constructed_toy
from lab.toy.runs import number_run
from tests.checkpoints import write_checkpoint
from tests.lessons.self_attention.runs import MODELS, TEXTS, answer, asked, numbers, run, spots
from tests.sentences import STORY


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_each_stage_says_what_its_tensors_hold(model: str, text: str) -> None:
    for spot in spots(run(model, text)):
        inside = spot.traced
        weights = inside.attention[spot.head, spot.query].double().numpy()
        scores = (inside.key[spot.head].double() @ inside.query[spot.head, spot.query].double()).numpy()
        scores[weights == 0] = -np.inf
        largest, divided, built, brought = step.said(spot)
        assert f"belongs to {named(spot.trace, int(scores.argmax()))}." in largest
        assert numbers(largest)[0] == pytest.approx(scores.max(), abs=0.0051)
        d_k = inside.query.shape[-1]
        assert f"√{d_k} ≈ {d_k**0.5:.2f}" in divided and brought == step.brought(spot)
        order = np.argsort(-weights, kind="stable")
        if (weights > 0).sum() > 1:
            plain = built.replace(",", "")
            lead, ratio = numbers(plain)[0], float(re.findall(r"\*\*([\d.]+)\*\*", plain)[0])
            assert lead == pytest.approx((scores[order[0]] - scores[order[1]]) / d_k**0.5, abs=0.0051)
            if weights[order[1]] > 1e-3:
                assert ratio == pytest.approx(weights[order[0]] / weights[order[1]], rel=0.02, abs=0.051)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_brought_comes_from_the_values(model: str, text: str) -> None:
    for spot in spots(run(model, text)):
        inside, query = spot.traced, spot.query
        value, context = inside.value[spot.head].double(), inside.context[spot.head, query].double()
        weights = inside.attention[spot.head, query].double()
        like = (value @ context) / value.norm(dim=-1) / context.norm()
        like[weights == 0] = -2
        said = step.brought(spot)
        assert f"the value of {named(spot.trace, int(like.argmax()))}" in said
        assert numbers(said)[0] == pytest.approx(float(like.max()), abs=0.0051)
        if "brings little" in said:
            place = int(re.findall(r"\((\d+)\) has the weight", said)[0]) - 1
            lengths = weights * value.norm(dim=-1)
            assert float(lengths[place] / lengths.sum()) < weights[place] / 2 and weights[place] >= 0.149
            most = int(lengths.argmax())
            assert f"of the length {value[place].norm():.2f}" in said
            longer = f"and the value of {named(spot.trace, most)} has {value[most].norm():.2f}"
            assert (longer in said) == (value[most].norm() > value[place].norm())


def test_what_cls_brings_is_little_in_the_story() -> None:
    """The surprise of the lesson: [CLS] has a quarter of the weight, and its value is nearly 0."""
    story = run("lab-minilm", STORY)
    said = step.brought(Spot(story, 4, 10, story.labels.index("he"), 0))
    assert "\\[CLS\\]" in said and "has the weight 0.26" in said and "brings little" in said


def test_equal_scores_lead_nobody() -> None:
    """In the toy written by hand, many keys of a row have the same score: softmax then makes no ratio of them."""
    trace = number_run(constructed_toy(8, 8), "a b c a b a")
    for head, query in product(range(trace.model.config.heads), range(len(trace))):
        scaled = np.sort(trace.layer(0).scaled_scores[head, query].numpy())[::-1]
        said = step.built(Spot(trace, 0, head, query, 0))
        assert ("larger than the score of" in said) == (scaled[0] - scaled[1] >= VISIBLE), (head, query)
        assert "is 0.00 larger" not in said


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS[:2])
def test_the_sharpest_is_a_word(model: str, text: str) -> None:
    trace = run(model, text)
    for spot in spots(trace):
        weights = spot.traced.attention[spot.head].numpy()
        offered = [i for i, special in enumerate(trace.encoding.special) if not special and (weights[i] > 0).sum() > 1]
        at = step.sharpest_word(spot)
        assert at in offered and weights[at].max() == max(weights[i].max() for i in offered)


def test_a_value_of_0_leaves_the_weights(traces: list[Trace]) -> None:
    """With the value of the largest weight at 0, the same weights give another sum."""
    for spot, question in asked(traces, step.value_gone):
        assert answer(question).text.startswith("The weight stays")
        values = spot.row.values.copy()
        values[spot.row.weights.argmax()] = 0
        assert not np.allclose(spot.row.weights @ values, spot.row.context, atol=1e-3)


def test_if_one_score_grows_the_other_weights_shrink(traces: list[Trace]) -> None:
    for spot, question in asked(traces, step.one_score_up):
        raised, most = (int(place) - 1 for place in re.findall(r"\((\d+)\)", question.prompt)[-2:])
        scores = spot.row.scaled.astype(np.float64)
        scores[raised] += 1
        after = np.exp(scores) / np.exp(scores).sum()
        assert after[most] < spot.row.weights[most] and answer(question).text == "It gets smaller"


def test_a_weight_is_a_factor_of_a_value(traces: list[Trace]) -> None:
    for spot, question in asked(traces, step.what_a_weight_says):
        assert answer(question).text.endswith(f"with the factor {spot.row.weights.max():.2f}")
        np.testing.assert_allclose(spot.row.weights @ spot.row.values, spot.row.context, atol=1e-5)


def test_a_single_token_decides_nothing(tmp_path: Path) -> None:
    trace = lab.trace(lab.load_model(write_checkpoint(tmp_path / "gpt2", "gpt2")), "a")
    for asking in (step.value_gone, step.one_score_up, step.what_a_weight_says):
        assert asking(Spot(trace, 0, 0, 0, 0)) is None
