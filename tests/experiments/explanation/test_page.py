"""What the page on explanations says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from lab.course.words import plain
from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import Verdict
from lab.experiments.explanation import page
from lab.experiments.explanation.agreement import OrderAgreement
from lab.experiments.explanation.measure import ExplanationTest, asked_texts, known
from lab.experiments.explanation.methods import ATTENTION, AVERAGE, ROLLOUT
from lab.experiments.explanation.page import (
    NAMES,
    agreement_chart,
    as_frame,
    claim_frame,
    layer_chart,
    layer_frame,
    method_table,
)
from lab.figures.notebook import python_of
from lab.models.loading import LoadedModel, load_model

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
def test_the_meaning_has_the_table_s_numbers(model_id: str) -> None:
    _, found = model_and_result(model_id)
    said, full, table = page.meaning_of(found, "m"), page.in_full(found), as_frame(found).set_index("method")
    line = table.loc["raw attention"]
    assert f"the order by blanking with a ρ of **{line['ρ']:.2f}**" in said
    assert f"over all layers, ρ is {table.loc['attention, all layers', 'ρ']:.2f}." in said
    near = table.loc["nearness alone", "ρ"]
    assert said.endswith(f"{'does better, with' if near > line['ρ'] else 'reaches'} a ρ of {near:.2f}.")
    verdicts = page.verdict_of(found).splitlines()[1:]
    assert [verdict.split("**")[1] for verdict in verdicts] == [LABELS[row.judged.verdict] for row in found.rows]
    twin = f"{line['untrained twin']:z.2f}".replace("-", "−")
    assert f"{line['low']:.2f} to {line['high']:.2f}" in full
    assert (
        f"held fixed, attention still has a ρ of {line['beyond']:.2f}" in full
        and f"attention has a ρ of {twin}" in full
    )
    yardstick = page.yardstick_of(found)
    off = found.between[~np.eye(len(found.between), dtype=bool)]
    assert f"agree most (ρ = {off.max():.2f})" in yardstick and f"agree least (ρ = {off.min():.2f})" in yardstick
    for row in found.rows:
        told = (
            f"leads {page.COMPARED[row.claim][1]} by {row.effect:.2f}; in the twin, the lead is {row.twin:.2f}".replace(
                "-", "−"
            )
        )
        assert (told in full.replace("-", "−")) == (row.judged.verdict is Verdict.ALSO_UNTRAINED)


def test_a_verdict_says_what_was_compared() -> None:
    _, found = model_and_result("lab-gpt2")
    weak, tells, rolled = (page.compared(row) for row in found.rows)
    assert f"{found.rows[0].second:.2f} for attention of the last layer, τ." in weak
    assert f"the mean is {found.rows[1].first:.2f} for" in tells and ", and " not in tells
    assert rolled.startswith("Abnar & Zuidema 2020.") and "for rollout, upper layers" in rolled


def test_words_follow_the_numbers() -> None:
    _, found = model_and_result("lab-gpt2")
    assert "clearly more." in page.in_full(with_rho(found, attention=0.1, near=0.5))
    assert "clearly less." in page.in_full(with_rho(found, attention=0.5, near=0.1))
    assert "not clearly different" in page.in_full(with_rho(found, attention=0.3, near=0.3))


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
    table = layer_chart(model).table()
    assert np.allclose(table[NAMES[ROLLOUT]], found.own.rho[ROLLOUT].mean(axis=0), atol=1e-6)
    assert np.allclose(table[NAMES[AVERAGE]], found.own.rho[AVERAGE].mean(), atol=1e-6)
    assert np.allclose(agreement_chart(model).data["value"], found.between.reshape(-1), atol=1e-6)
    layers = layer_frame(found)
    assert layers["published, rollout"].tolist() == [0.32, 0.38, 0.51, 0.62, 0.70, 0.71]
    assert np.allclose(layers[NAMES[ATTENTION]].dropna(), found.own.rho[ATTENTION].mean(axis=0))
    assert claim_frame(found)["verdict"].tolist() == [LABELS[row.judged.verdict] for row in found.rows]


@pytest.mark.parametrize("call", [layer_chart, agreement_chart, method_table])
def test_figure_and_table_can_be_taken_home(call: Any) -> None:
    model, _ = model_and_result("lab-gpt2")
    setup, expression = python_of(partial(call, model))
    scope: dict[str, Any] = {}
    exec(setup, scope)
    again, here = eval(expression, scope), call(model)
    assert again.equals(here) if call is method_table else again.table().equals(here.table())


def test_an_order_counts_from_the_first_pick_and_the_rest_share_a_rank() -> None:
    assert page.own_order([4, 0, 2], 6).tolist() == [2, 0, 1, 0, 3, 0]


@pytest.mark.parametrize(("picked", "hits"), [([0, 1, 2], 3), ([2, 0, 1], 3), ([4, 0, 3], 1), ([4, 3, 2, 1], 3)])
def test_picks_are_counted_beside_guessing(picked: list[int], hits: int) -> None:
    """Guessing finds k of the k most important of 5 tokens with the chance k / 5 each."""
    said, count = page.found_by(picked, np.array([5.0, 4.0, 3.0, 2.0, 1.0])), len(picked)
    assert said.startswith(f"**{hits} of your {count} tokens**") and f"find {count * count / 5:.1f} of them on" in said


@pytest.mark.parametrize("model_id", MODELS)
def test_the_text_to_order_is_short_and_its_tokens_are_told_apart(model_id: str) -> None:
    model, found = model_and_result(model_id)
    asked = asked_texts(model)[page.example(model)][2]
    names = page.token_names(model, asked)
    assert asked.text.startswith("This is one of my favorite places to")
    assert 8 <= len(asked.context) <= 13 and len(set(names)) == len(names) == len(asked.context)
    one = found.texts[page.example(model)].importance
    frame = page.order_frame(names, one, [1, 0, 2])
    assert frame["leave-one-out"].abs().is_monotonic_decreasing
    assert frame.set_index("token").loc[[names[1], names[0], names[2]], "your pick"].tolist() == [1, 2, 3]
    assert "your pick" not in page.order_frame(names, one, [1])


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
