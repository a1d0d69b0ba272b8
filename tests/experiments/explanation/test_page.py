"""What the page on explanations says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from lab.course.words import plain
from lab.evidence.reasons import LABELS
from lab.experiments.explanation import learners_order, page
from lab.experiments.explanation.learners_order import NAMES
from lab.experiments.explanation.measure import TELLS, ExplanationTest, OrderAgreement, asked_texts, known
from lab.experiments.explanation.methods import ATTENTION, AVERAGE, NEAR, ROLLOUT
from lab.experiments.explanation.page import layer_chart, layer_frame
from lab.models.loading import LoadedModel, load_model
from tests.told import numbers

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")


def model_and_result(model_id: str) -> tuple[LoadedModel, ExplanationTest]:
    found = known(load_model(model_id))
    assert found is not None
    return load_model(model_id), found


def with_rho(found: ExplanationTest, **values: float) -> ExplanationTest:
    """The result, had these methods this ρ in every text and layer."""
    changed = {name: np.full_like(found.own.rho[name], value) for name, value in values.items()}
    other = replace(found)
    other.__dict__["own"] = OrderAgreement({**found.own.rho, **changed}, found.own.terms)
    return other


@pytest.mark.parametrize("model_id", MODELS)
def test_the_meaning_and_the_table_have_the_result_s_numbers(model_id: str) -> None:
    _, found = model_and_result(model_id)
    said, rho = page.meaning_of(found, "m"), {name: each[:, -1].mean() for name, each in found.own.rho.items()}
    assert f"the order by blanking with a ρ of **{rho[ATTENTION]:.2f}**" in said
    assert f"over all layers, ρ is {rho[AVERAGE]:.2f}." in said
    assert f"has a ρ of {rho[NEAR]:.2f}, " in said
    beaten = [name for name, what in ((ATTENTION, "the last layer"), (AVERAGE, "the average")) if what in said[-50:]]
    assert beaten == [name for name in (ATTENTION, AVERAGE) if rho[NEAR] > rho[name]]
    for row in found.rows:
        line, effect = page.line(row), row.tested
        means = [row.first] if row.claim == TELLS else [row.first, row.second]
        assert numbers(line.here) == pytest.approx([effect.estimate, effect.low, effect.high, *means], abs=0.006)
        assert line.verdict == LABELS[row.judged.verdict] and line.count == len(found.texts)
    published = [page.line(row).published for row in found.rows]
    assert published[:2] == ["–", "–"]
    # Abnar & Zuidema: the means of the upper three layers, (0.62 + 0.70 + 0.71) / 3 − (−0.09 + 0.20 + 0.29) / 3.
    assert float(published[2]) == pytest.approx(2.03 / 3 - 0.40 / 3, abs=0.006)


@pytest.mark.parametrize(
    ("better", "option"), [({"attention": 0.9}, 0), ({"gradient": 0.9}, 1), ({"near": 0.95, "gradient": 0.9}, 2)]
)
def test_the_order_that_agrees_best_is_the_answer(better: dict[str, float], option: int) -> None:
    _, found = model_and_result("lab-gpt2")
    decided = page.decided(with_rho(found, **{"attention": 0.1, "gradient": 0.2, "near": 0.3, **better}))
    assert decided is not None and decided[0] == option
    assert f"is {max(better.values()):.2f}. The next best order, by " in decided[1].replace("+", "")


def test_where_two_are_best_there_is_no_answer() -> None:
    _, found = model_and_result("lab-gpt2")
    assert page.decided(with_rho(found, near=0.9, gradient=0.9)) is None


@pytest.mark.parametrize("model_id", MODELS)
def test_the_figures_have_the_means(model_id: str) -> None:
    model, found = model_and_result(model_id)
    drawn = layer_chart(model).data.groupby("line")["value"].apply(list).tolist()
    assert np.allclose(drawn[3], found.own.rho[ROLLOUT].mean(axis=0), atol=1e-6)
    assert np.allclose(drawn[1], found.own.rho[AVERAGE].mean(), atol=1e-6)
    layers = layer_frame(found)
    assert layers["published, rollout"].tolist() == [0.32, 0.38, 0.51, 0.62, 0.70, 0.71]
    assert np.allclose(layers[NAMES[ATTENTION]].dropna(), found.own.rho[ATTENTION].mean(axis=0))


def test_an_order_counts_from_the_first_pick_and_the_rest_share_a_rank() -> None:
    assert learners_order.own_order([4, 0, 2], 6).tolist() == [2, 0, 1, 0, 3, 0]


@pytest.mark.parametrize(("picked", "hits"), [([0, 1, 2], 3), ([2, 0, 1], 3), ([4, 0, 3], 1), ([4, 3, 2, 1], 3)])
def test_picks_are_counted_beside_guessing(picked: list[int], hits: int) -> None:
    """Guessing finds k of the k most important of 5 tokens with the chance k / 5 each."""
    said, count = learners_order.found_by(picked, np.array([5.0, 4.0, 3.0, 2.0, 1.0])), len(picked)
    assert said.startswith(f"**{hits} of your {count} tokens**") and f"find {count * count / 5:.1f} of them on" in said


@pytest.mark.parametrize("model_id", MODELS)
def test_the_text_to_order_is_short_and_its_tokens_are_told_apart(model_id: str) -> None:
    model, found = model_and_result(model_id)
    asked = asked_texts(model)[learners_order.example(model)][2]
    names = learners_order.token_names(model, asked)
    assert asked.text.startswith("This is one of my favorite places to")
    assert 8 <= len(asked.context) <= 13 and len(set(names)) == len(names) == len(asked.context)
    one = found.texts[learners_order.example(model)].importance
    frame = learners_order.order_frame(names, one, [1, 0, 2])
    assert frame["leave-one-out"].abs().is_monotonic_decreasing
    assert frame.set_index("token").loc[[names[1], names[0], names[2]], "your pick"].tolist() == [1, 2, 3]
    assert "your pick" not in learners_order.order_frame(names, one, [1])


@pytest.mark.parametrize("model_id", MODELS)
def test_the_marked_tokens_are_the_most_important_ones(model_id: str) -> None:
    model, found = model_and_result(model_id)
    for at in range(0, 40, 10):
        asked, one = asked_texts(model)[at][2], found.texts[at].importance
        said = page.marked(model, asked, one)
        assert said.count(":green-background[") == 1
        same = np.abs(one.left_out).argmax() == one.scores[ATTENTION][-1].argmax()
        assert said.count(":orange-background[") == 1 - same
        assert said.count(":blue-background[") == (model_id != "lab-gpt2")


@pytest.mark.parametrize("model_id", MODELS)
def test_a_marked_text_stands_as_it_was_written(model_id: str) -> None:
    model, found = model_and_result(model_id)
    for (_, _, asked), one in zip(asked_texts(model), found.texts, strict=True):
        said = page.marked(model, asked, one.importance)
        assert plain(re.sub(r":(\w+)-background\[((?:\\.|[^\]])*)\]", r"\2", said)) == " ".join(asked.text.split())
