"""What the page on needed heads says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import lab
from lab.evidence.lexicon import TEMPLATES
from lab.evidence.pairs import BLANK, ask
from lab.evidence.reasons import LABELS
from lab.experiments.needed_heads import page
from lab.experiments.needed_heads.ablations import ABLATIONS
from lab.experiments.needed_heads.claims import EACH, FIFTH, HURTS, IMPORTANCE, NEEDED
from lab.experiments.needed_heads.measure import MeanEffects, NeededTest, known
from lab.experiments.needed_heads.page import (
    ablation_frame,
    ablation_map,
    agreement,
    claim_frame,
    effect_frame,
    effect_map,
    name_in,
    pruning_chart,
    template_claims,
    template_frame,
)
from lab.figures.notebook import python_of
from lab.models.loading import LoadedModel
from tests.thorough import some


@pytest.fixture(scope="module", params=["lab-minilm", "lab-bert", "lab-gpt2"])
def model(request: pytest.FixtureRequest) -> LoadedModel:
    return lab.load_model(request.param)


@pytest.fixture(scope="module")
def found(model: LoadedModel) -> NeededTest:
    result = known(model)
    assert result is not None
    return result


def with_effect(found: NeededTest, mean: np.ndarray, clear: np.ndarray) -> NeededTest:
    """The result, had each head this mean effect, clear or not."""
    again = replace(found)
    again.__dict__["effect"] = MeanEffects("zero", mean, mean - 0.01, mean + 0.01, np.where(clear, 0.01, 0.5))
    again.__dict__["rows"] = found.rows
    return again


def test_the_meaning_has_the_tables_numbers(found: NeededTest) -> None:
    said = page.meaning_of(found, "m").replace("**", "").replace("−", "-")
    full = page.in_full(found, "m").replace("**", "").replace("−", "-")
    table, each, needed = effect_frame(found), found.row(EACH), found.row(NEEDED)
    clear = table[table["p (Holm)"] < 0.05]
    assert f"Of the {len(table)} heads of m, {len(clear)} clearly change" in said
    assert f"{round(min(each.zero.low, each.mean.low) * len(table))} clearly cost less" in said
    chosen = [part + 1 for part in needed.heads[0]]
    lost = f"without layer {chosen[0]}, head {chosen[1]}: {100 * needed.zero.ours:.0f} points if this head writes 0, "
    assert (lost + f"{100 * needed.mean.ours:.0f} if it writes its mean" in said) == (
        min(needed.zero.ours, needed.mean.ours) > 0
    )
    told = page.verdict_of(found).splitlines()
    for row in found.rows:
        (line,) = [line for line in told if page.CLAIMS[row.id] in line]
        assert f"**{LABELS[row.judged.verdict]}**" in line
    assert f"{len(clear)} of {len(table)} heads have an effect that clearly differs from 0" in full
    assert f"Without {(clear['change'] < 0).sum()} of these heads, the logit difference falls" in full
    assert f"without {(clear['change'] > 0).sum()}, it rises" in full
    most, before = table.iloc[0], found.plain.mean()
    assert f"without head {most['head']}. Without it, the mean logit difference goes from {before:.2f} to" in full
    assert (
        f"{before + most['change']:.2f}, and the accuracy changes by {100 * most['change of the accuracy']:+.1f}"
    ) in full
    head = tuple(int(part) - 1 for part in most["head"].split("-"))
    turned = (found.changed[head] > 0).astype(float) - (found.plain > 0)
    changes = [100 * turned[found.of(each.id)].mean() for each in found.templates if not each.refused]
    assert (
        f"Among the templates, this change ranges from {min(changes):+.0f} ("
    ) in full and f" to {max(changes):+.0f} (" in full
    assert f"prefers the good form in {(found.plain > 0).sum()} of {len(found.plain)} pairs" in full


def test_templates_below_guessing_are_named_and_no_others(found: NeededTest) -> None:
    said, table = page.in_full(found, "m"), template_frame(found)
    for row in table.itertuples():
        assert (f"{row.template}, {row.accuracy:.0%}" in said) == (row.high < 0.5)
    right = replace(found, plain=np.abs(found.plain))
    assert "worse than guessing" not in page.in_full(right, "m")


def test_heads_that_a_mean_over_templates_hides_are_named(found: NeededTest) -> None:
    """Counted by hand: a head that costs a template 5 points or more, and less than that on average."""
    hidden = set()
    for each in found.templates:
        own = found.of(each.id)
        for head in np.ndindex(found.shape):
            lost = (found.plain > 0).astype(float) - (found.changed[head] > 0)
            if own.any() and lost[own].mean() >= 0.05 > lost.mean():
                hidden.add("-".join(str(part + 1) for part in head))
    told = page.by_template(found)
    assert hidden == set(re.findall(r"\d+-\d+", told))
    table = template_claims(found)
    assert set(table["template"]) == {name_in(each.id) for each in found.templates if not each.refused}
    assert hidden <= set(", ".join(table["costly heads"]).split(", "))


def test_where_nothing_is_lost_nothing_is_said_to_be(found: NeededTest) -> None:
    nothing = np.zeros(found.shape)
    said = page.in_full(with_effect(found, nothing + 0.1, nothing > 0), "m")
    assert "Removing a single head never lowers the mean logit difference" in said and "**0 of" in said


@pytest.mark.parametrize(("share", "option"), [(0.0, 0), (0.4, 0), (0.5, None), (0.6, 1), (1.0, 1)])
def test_whether_most_heads_matter_is_answered_by_the_count(
    found: NeededTest, share: float, option: int | None
) -> None:
    clear = np.arange(found.effect.mean.size).reshape(found.shape) < share * found.effect.mean.size
    told = f"{clear.sum()} of {clear.size} heads clearly change the model’s preference for the right form."
    decided = page.decided(with_effect(found, np.zeros(found.shape), clear))
    assert decided == (None if option is None else (option, told))


@pytest.mark.parametrize("step", some([1, 4, 5, 8, 10, 16], 3))
def test_how_many_can_go(found: NeededTest, step: int) -> None:
    """Until a step every pair stays as it was; from there the bad form wins."""
    every = found.effect.mean.size
    plain = found.plain[found.b]
    curve = np.stack([plain if at < step else -np.abs(plain) for at in range(len(found.away))])
    cut = replace(found, curves={**found.curves, IMPORTANCE: curve})
    assert page.last_for_nothing(cut) == found.away[step - 1]
    assert f"The {found.away[step - 1]} least important heads can be removed together" in page.meaning_of(cut, "m")
    assert page.last_for_nothing(replace(cut, curves={**cut.curves, IMPORTANCE: curve * 0 + plain})) == every


def spearman(one: np.ndarray, two: np.ndarray) -> float:
    """1 − 6 Σd² / (n³ − n), d the differences of ranks; there are no ties (Spearman 1904)."""
    ranks = [{value: rank for rank, value in enumerate(sorted(each))} for each in (one, two)]
    squares = sum((ranks[0][a] - ranks[1][b]) ** 2 for a, b in zip(one, two, strict=True))
    return float(1 - 6 * squares / (len(one) ** 3 - len(one)))


def test_the_ablations_agree_as_their_ranks_do(found: NeededTest) -> None:
    table, means = agreement(found), {each.name: each.mean.ravel() for each in found.effects}
    expected = [[spearman(means[one], means[two]) for two in ABLATIONS] for one in ABLATIONS]
    assert np.allclose(table, expected)
    low, (one, two) = page.least_alike(found)
    assert low == pytest.approx(spearman(means[one], means[two])) and low == pytest.approx(np.min(expected))
    assert f"rank correlation is {low:.2f}" in page.agreement_of(found)
    largest = {each.largest for each in found.effects if each.name in ABLATIONS}
    assert ("In all five ways, removing the same head" in page.agreement_of(found)) == (len(largest) == 1)


def test_choosing_is_said_to_flatter_only_where_it_does(found: NeededTest) -> None:
    def moved(by: float) -> NeededTest:
        again = replace(found)
        again.__dict__["rows"] = tuple(replace(row, on_a=row.zero.ours + by) for row in found.rows)
        return again

    assert "no visible bias" in page.bias_of(moved(-0.01))
    assert "selection bias" in page.bias_of(moved(0.01))


def test_every_claim_and_template_has_its_line(found: NeededTest, model: LoadedModel) -> None:
    claims, templates, ways = claim_frame(found), template_frame(found), ablation_frame(found)
    assert claims["verdict"].tolist() == [LABELS[row.judged.verdict] for row in found.rows]
    assert np.allclose(claims["A − B"], claims["on A"] - claims["ours"], equal_nan=True)
    for template, row in zip(found.templates, templates.to_dict("records"), strict=True):
        own = found.of(template.id)
        assert (row["drawn"], row["dropped"], row["pairs"]) == (template.drawn, template.dropped, own.sum())
        if own.any():
            assert row["accuracy"] == pytest.approx((found.plain[own] > 0).mean())
            assert row["low"] <= row["accuracy"] <= row["high"] and row["different"] <= row["pairs"]
    assert templates["why not"].any() == model.config.causal
    assert len(ways) == len(ABLATIONS) + 1 and (ways["fall"] + ways["rise"] == ways["heads told from 0"]).all()


def test_the_curve_has_the_accuracies(found: NeededTest, model: LoadedModel) -> None:
    table = pruning_chart(model).table()
    assert table["Heads taken away"].tolist() == found.away.tolist()
    assert table["lowest I_h first"][0] == pytest.approx((found.plain[found.b] > 0).mean(), abs=1e-6)
    fifth = found.row(FIFTH)
    lost = table["lowest I_h first"][0] - table["lowest I_h first"][found.fifth]
    assert lost == pytest.approx(fifth.zero.ours, abs=1e-6)


@pytest.mark.parametrize("template", [each.id for each in TEMPLATES])
def test_the_map_of_a_template_is_of_its_pairs(found: NeededTest, model: LoadedModel, template: str) -> None:
    own = [at for at, pair in enumerate(found.pairs) if pair.template == template]
    if not own:
        return  # what a model that reads from left to right cannot be asked
    table = effect_map(model, template).table()
    assert set(table.columns) == set(effect_map(model).table().columns)
    for row in table.itertuples():
        layer, head = (int(each) - 1 for each in str(row.head).split("-"))
        changes = [found.changed[layer, head, at] - found.plain[at] for at in own]
        assert row.change == pytest.approx(np.mean(changes), abs=1e-5)
        assert row.low - 1e-6 <= row.change <= row.high + 1e-6


def test_the_head_that_a_template_needs_most_is_named_where_it_is_clear(found: NeededTest, model: LoadedModel) -> None:
    said, needed = page.needed_where(found), {}
    for each in TEMPLATES:
        if found.of(each.id).any():
            first = effect_map(model, each.id).table().iloc[0]
            if first["change"] < 0 and first["p (Holm)"] < 0.05:
                needed[each.name] = str(first["head"])
    assert needed
    for name, head in needed.items():
        part = next(part for part in said.split("; ") if f"*{name}*" in part)
        assert head in part
    assert said.count("*") == 2 * len(needed) + (4 if len({*needed.values()}) > 1 else 0)
    assert ("depends on the template" in said) == (len({*needed.values()}) > 1)


@pytest.mark.parametrize("call", [effect_map, pruning_chart, ablation_map, partial(effect_map, template="reflexive")])
def test_figures_can_be_taken_home(call: Any, model: LoadedModel) -> None:
    setup, expression = python_of(partial(call, model))
    scope: dict[str, Any] = {}
    exec(setup, scope)
    assert eval(expression, scope).table().equals(call(model).table())


def test_what_a_link_takes_along_is_what_the_model_read(found: NeededTest, model: LoadedModel) -> None:
    for pair in found.pairs[::25]:
        text, place, deciding = page.read(model, pair)
        trace, asked = lab.trace(model, text), ask(model, pair)
        assert asked is not None and trace.encoding.token_ids == asked.encoding.token_ids
        assert (place, deciding) == (asked.place, asked.deciding)
        logits = trace.logits(place)[0]
        at = found.pairs.index(pair)
        assert float(logits[asked.good] - logits[asked.bad]) == pytest.approx(found.plain[at], abs=1e-3)
        assert pair.text.split(BLANK)[0].strip() in text


def test_pairs_that_turn_come_first(found: NeededTest) -> None:
    heads = page.heads_of(found)
    assert (
        heads[0] == found.row(NEEDED).heads[0] and found.row(HURTS).heads[0] in heads and len(heads) == len(set(heads))
    )
    for template in found.templates:
        if template.refused:
            continue
        shown = page.pairs_of(found, template.id, heads[0])
        turned = [each.turns for each in shown]
        assert turned == sorted(turned, reverse=True) and len(shown) == int((found.of(template.id) & found.b).sum())
        for each in shown:
            at = found.pairs.index(each.pair)
            assert found.b[at] and (each.plain, each.without) == (found.plain[at], found.changed[heads[0]][at])


def test_a_sentence_is_marked_with_both_forms(found: NeededTest) -> None:
    pair = found.pairs[0]
    said = page.marked(pair)
    assert f":green-background[{pair.good}]" in said and f":orange-background[{pair.bad}]" in said
    assert all(word in said for word in pair.text.replace(BLANK, "").replace(".", "").split())
