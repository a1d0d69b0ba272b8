"""What the figures of the lesson are said to mean: every number and claim again, from Hugging Face's own tensors."""

from __future__ import annotations

import re
from functools import cache
from itertools import product

import numpy as np
import pytest

import lab
from lab.analysis.heads.attention import attention_row
from lab.analysis.layers.mistakes import moved_at_last
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import named
from lab.lessons.self_attention import claims, meanings
from lab.models.interventions import Interventions
from lab.models.trace import Trace, changed
from lab.toy.models import constructed_toy
from lab.toy.runs import number_run

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = [each.text for each in EXAMPLES[:4]] + ["a"]


@cache
def run(model: str, text: str) -> Trace:
    return lab.trace(lab.load_model(model), text)


def places(trace: Trace) -> list[tuple[int, int, int]]:
    """(layer, head, query): a few of each, the first token and the last among them."""
    config, n = trace.model.config, len(trace)
    return [(layer, head, q) for layer in (0, config.layers - 1) for head in (0, 4) for q in {0, n // 2, n - 1}]


def heads_of(trace: Trace, layer: int) -> np.ndarray:
    return np.asarray(trace.layer(layer).attention)


def numbers(text: str) -> list[float]:
    """The decimals of a sentence; a typographic minus counts."""
    return [float(each) for each in re.findall(r"-?\d+\.\d\d", text.replace("−", "-"))]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_collected_names_the_largest_weights(model: str, text: str) -> None:
    trace = run(model, text)
    for layer, head, query in places(trace):
        heads = trace.layer(layer).attention[:, query].numpy()
        weights = heads[head]
        seen = np.flatnonzero(weights > 0)
        said = meanings.collected(trace, layer, head, query)
        if len(seen) == 1:
            assert "only" in said
            continue
        first, second = np.argsort(-weights, kind="stable")[:2]
        assert numbers(said)[:2] == pytest.approx(weights[[first, second]], abs=0.0051)
        clear = weights[first] - weights[second] >= meanings.SEEN
        assert ("looks most at" in said) == clear
        if clear:
            assert f"looks most at {named(trace, int(first))}" in said
            assert (", half of it" in said) == (abs(weights[first] - 0.5) < meanings.SEEN)
            best = heads_of(trace, layer)[head].argmax(axis=1)
            same = int((np.delete(best, query) == first).sum())
            assert (f"{same} of the {len(best) - 1} other tokens" in said) == (same > 0)


def sharper(trace: Trace, layer: int, head: int, query: int) -> str:
    """What the division by √d_k is said to do to a row."""
    return claims.what_it_means(claims.sharper(trace, attention_row(trace.layer(layer), head, query), query))


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_built_and_sharper_say_what_softmax_does(model: str, text: str) -> None:
    trace = run(model, text)
    for layer, head, query in places(trace):
        inside = trace.layer(layer)
        weights = inside.attention[head, query].double().numpy()
        scores = (inside.key[head].double() @ inside.query[head, query].double()).numpy()
        scores[weights == 0] = -np.inf
        order = np.argsort(-weights, kind="stable")
        if (weights > 0).sum() > 1:
            said = meanings.built(trace, layer, head, query).replace(",", "")
            lead, ratio = numbers(said)[0], float(re.findall(r"\*\*([\d.]+)\*\*", said)[0])
            d_k = inside.query.shape[-1]
            assert lead == pytest.approx((scores[order[0]] - scores[order[1]]) / d_k**0.5, abs=0.0051)
            if weights[order[1]] > 1e-3:
                assert ratio == pytest.approx(weights[order[0]] / weights[order[1]], rel=0.02, abs=0.006)
        plain = np.exp(scores - scores.max())
        with_it, without = numbers(sharper(trace, layer, head, query))[:2]
        assert with_it == pytest.approx(weights.max(), abs=0.0051)
        assert without == pytest.approx((plain / plain.sum())[order[0]], abs=0.0051)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS)
def test_what_is_brought_comes_from_the_values(model: str, text: str) -> None:
    trace = run(model, text)
    for layer, head, query in places(trace):
        inside = trace.layer(layer)
        value, context = inside.value[head].double(), inside.context[head, query].double()
        seen = inside.attention[head, query] > 0
        like = (value @ context) / value.norm(dim=-1) / context.norm()
        like[~seen] = -2
        said = meanings.brought(trace, layer, head, query)
        assert f"the value of {named(trace, int(like.argmax()))}" in said
        assert numbers(said)[0] == pytest.approx(float(like.max()), abs=0.0051)
        if "brings only" in said:
            place = int(re.findall(r"\((\d+)\) has the weight", said)[0]) - 1
            lengths = inside.attention[head, query].double() * value.norm(dim=-1)
            part = float(lengths[place] / lengths.sum())
            weight = float(inside.attention[head, query, place])
            assert part < weight / 2 and weight >= 0.149 and f"only {part:.0%} of all" in said


def test_what_cls_brings_is_little_in_the_story() -> None:
    """The surprise of the lesson: [CLS] has a quarter of the weight, and its value is nearly 0."""
    story = run("lab-minilm", EXAMPLES[0].text)
    query = story.labels.index("he")
    said = meanings.brought(story, 4, 10, query)
    assert "\\[CLS\\]" in said and "has the weight 0.26" in said and "brings only" in said
    heads = heads_of(story, 4)[10]
    count = int((heads.argmax(axis=1) == 0).sum())
    assert meanings.resting(story, 4, 10).startswith(f"{count} of the {len(story)} tokens look most at")


def test_equal_scores_lead_nobody() -> None:
    """In the toy written by hand, many keys of a row have the same score: softmax then makes no ratio of them."""
    trace = number_run(constructed_toy(8, 8), "a b c a b a")
    for head, query in product(range(trace.model.config.heads), range(len(trace))):
        inside = trace.layer(0)
        scaled = np.sort(inside.scaled_scores[head, query].numpy())[::-1]
        said = meanings.built(trace, 0, head, query)
        assert ("larger than the score of" in said) == (scaled[0] - scaled[1] >= meanings.SEEN), (head, query)
        assert "is 0.00 larger" not in said


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("text", TEXTS[:2])
def test_each_stage_has_its_meaning_and_the_sharpest_is_a_word(model: str, text: str) -> None:
    trace = run(model, text)
    for layer, head, query in places(trace):
        inside = trace.layer(layer)
        scores = (inside.key[head].double() @ inside.query[head, query].double()).numpy()
        scores[(inside.attention[head, query] == 0).numpy()] = -np.inf
        stages = meanings.of_stages(trace, layer, head, query)
        assert f"belongs to {named(trace, int(scores.argmax()))}." in stages[0]
        assert numbers(stages[0])[0] == pytest.approx(scores.max(), abs=0.0051)
        d_k = inside.query.shape[-1]
        assert f"√{d_k} ≈ {d_k**0.5:.2f}" in stages[1]
        assert stages[2:] == tuple(each(trace, layer, head, query) for each in (meanings.built, meanings.brought))
        at = meanings.sharpest_word(trace, layer, head)
        weights = inside.attention[head].numpy()
        offered = [i for i, special in enumerate(trace.encoding.special) if not special and (weights[i] > 0).sum() > 1]
        assert at in offered and weights[at].max() == max(weights[i].max() for i in offered)


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_the_mistake_that_moves_most_is_found_from_the_streams(model: str) -> None:
    """The distances are computed again from the hidden states of both runs."""
    trace = lab.trace(lab.load_model(model), "She gave her brother the book that he wanted.")
    moved = {}
    for name, changes in (("a", Interventions(no_scaling=True)), ("b", Interventions(no_values=True))):
        right, broken = trace.hidden_states[-1], changed(trace, changes).hidden_states[-1]
        moved[name] = float(((broken - right).norm(dim=-1) / right.norm(dim=-1)).mean())
        assert moved_at_last(trace, changes) == pytest.approx(moved[name], rel=1e-4)
    question = claims.breaks_most(moved)
    assert question is not None and question.options[question.answer].text == max(moved, key=lambda name: moved[name])
    said = claims.what_breaks(moved)
    assert said.startswith("**b** moves the vectors most") == (moved["b"] > moved["a"])
    assert f"{max(moved.values()):.2f}" in said and f"{min(moved.values()):.2f}" in said
