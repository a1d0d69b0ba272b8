"""The figures of the lesson: each number of theirs is computed again from the run."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.ablation import head_off
from lab.figures.multi_head import concatenation
from lab.lessons.multi_head_attention.all_heads import COLUMNS, drawn, rows_of_heads
from lab.lessons.multi_head_attention.each_head_off import effect_on_word, words_together
from lab.lessons.multi_head_attention.join import joined, lengths_of_heads
from lab.lessons.multi_head_attention.one_head_off import TOP, best_words
from lab.models.interventions import Interventions
from tests.sentences import KEYS, STORY

SHIP = "The ship will [MASK] across the sea."


@pytest.mark.parametrize(("model", "text"), [("lab-minilm", STORY), ("lab-gpt2", STORY), ("lab-bert", "dog " * 60)])
def test_a_row_is_a_head_from_the_chosen_word(model: str, text: str) -> None:
    run = lab.trace(lab.load_model(model), text)
    query = len(run) - 3
    seen = query + 1 if run.model.config.causal else len(run)
    rows = run.layer(1).attention[:, query, :seen].numpy()
    figure, shown = rows_of_heads(run, 1, 2, query), drawn(run, 1, query)
    np.testing.assert_array_equal(figure.values, rows[:, shown])
    assert len(shown) == min(COLUMNS, seen) and query in shown and set(rows.argmax(axis=1)) <= set(shown)
    left_out = np.delete(rows.max(axis=0), shown)
    assert not left_out.size or left_out.max() <= np.sort(rows.max(axis=0)[shown])[run.model.config.heads + 1]
    if len(shown) == seen:
        np.testing.assert_allclose(figure.values.sum(axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("how", ["on", "zero", "mean"])
def test_the_word_that_the_model_says_keeps_its_bar(how: str) -> None:
    run = lab.trace(lab.load_model("lab-bert"), SHIP)
    word = int(run.logits(4)[0].argmax())
    for head in ((0, 1), (2, 3), (3, 7)):
        drawn = best_words(run, *head, 4, how)
        logits = run.logits(4)[0].numpy() if how == "on" else head_off(run, *head, 4, how == "mean").logits
        chances = torch.from_numpy(np.asarray(logits)).double().softmax(-1).numpy()
        order = np.argsort(-chances)
        best = [*order[:TOP]] + ([word] if word not in order[:TOP] else [])
        np.testing.assert_allclose(drawn.table().iloc[:, -1].to_numpy(), chances[best], rtol=1e-5)
        assert list(np.flatnonzero(drawn.data["chosen"])) == [best.index(word)]


def test_four_vectors_lead_from_the_heads_to_the_sum() -> None:
    run = lab.trace(lab.load_model("lab-minilm"), STORY)
    side, output, before, after = joined(run, 4, 8).data["value"].to_numpy().reshape(4, -1)
    weights = run.layer(4).weights
    np.testing.assert_allclose(side @ weights.w_o.numpy() + weights.b_o.numpy(), output, atol=1e-5)
    np.testing.assert_array_equal(before, run.hidden_states[4][8].numpy())
    np.testing.assert_allclose(before + output, after, atol=1e-5)
    lengths = lengths_of_heads(run, 4, 8).table().iloc[:, -1].to_numpy()
    assert lengths[-1] == pytest.approx(np.linalg.norm(output - weights.b_o.numpy()), rel=1e-4)
    assert len(lengths) == run.model.config.heads + 1


def test_the_map_of_all_heads_has_the_changes_of_runs_without_them() -> None:
    run = lab.trace(lab.load_model("lab-minilm"), KEYS)
    place = run.labels.index("[MASK]")
    drawn = effect_on_word(run, 4, 10, place)
    off = lab.trace(run.model, KEYS, interventions=Interventions(zero_heads=frozenset({(4, 10)})))
    with_head, without = (each.logits(place)[0].double().softmax(-1) for each in (run, off))
    word = int(with_head.argmax())
    assert drawn.values[4, 10] == pytest.approx(float(without[word] - with_head[word]), abs=1e-5)
    assert np.abs(drawn.values).argmax() == 4 * run.model.config.heads + 10
    bars = words_together(run, place).table().iloc[:, -1].to_numpy()
    assert len(bars) == 5 and bars[0] == pytest.approx(float(with_head[word]), abs=1e-5)


def test_each_head_stands_alone_in_its_own_place_of_the_concatenation() -> None:
    run = lab.trace(lab.load_model("lab-bert"), "The cat sat.")
    heads, d_k = run.model.config.heads, run.model.config.head_width
    concat, *alone = concatenation(run, 1, 2).data["value"].to_numpy().reshape(1 + heads, -1)
    np.testing.assert_array_equal(concat, run.layer(1).context_concat[2].numpy())
    for head, strip in enumerate(alone):
        own = slice(head * d_k, (head + 1) * d_k)
        np.testing.assert_array_equal(strip[own], run.layer(1).context[head, 2].numpy())
        assert not np.delete(strip, np.r_[own]).any()
