"""What the page on needed heads says of a result is computed again from the result."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import lab
from lab.evidence.pairs import BLANK, ask
from lab.evidence.reasons import LABELS
from lab.evidence.verdicts import HOLDS, Verdict
from lab.experiments.needed_heads import learners_head, page
from lab.experiments.needed_heads.ablations import ABLATIONS
from lab.experiments.needed_heads.claims import EACH, FIFTH, GUESSES, HURTS, IMPORTANCE, NEEDED, ONE, PRUNED, name_of
from lab.experiments.needed_heads.measure import MeanEffects, NeededTest, known
from lab.experiments.needed_heads.page import effect_frame, effect_map, line
from lab.models.loading import LoadedModel
from lab.ui.experiments.claim_table import NOTHING
from tests.thorough import one_by_day
from tests.told import numbers


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


def with_row(found: NeededTest, claim: str, **changes: Any) -> NeededTest:
    """The result, with changes of one claim's row."""
    again = replace(found)
    again.__dict__["effect"] = found.effect
    again.__dict__["rows"] = tuple(replace(row, **changes) if row.id == claim else row for row in found.rows)
    return again


@one_by_day
def test_the_meaning_is_made_from_the_verdicts(found: NeededTest) -> None:
    said, table, each = page.meaning_of(found, "m"), effect_frame(found), found.row(EACH)
    assert f"**{(table['p (Holm)'] < 0.05).sum()}** of the {len(table)} heads" in said
    assert f" {round(min(each.zero.low, each.mean.low) * len(table))} of them clearly cost" in said
    assert (f"*{LABELS[each.judged.verdict]}*" in said) == (each.judged.verdict not in HOLDS)
    for row in found.rows[1:]:
        assert (f"“{page.CLAIMS[row.id]}”" in said) == (row.judged.verdict in HOLDS)
    nothing = with_row(found, EACH, p=0.9, p_below=0.9)
    verdict = nothing.row(EACH).judged.verdict
    assert verdict not in HOLDS and f"*{LABELS[verdict]}*" in page.meaning_of(nothing, "m")
    guesses = page.meaning_of(with_row(found, EACH, untestable=GUESSES, right=0.51), "m")
    assert "51%" in guesses and "**" not in guesses


@pytest.mark.parametrize(("share", "option"), [(0.0, 0), (0.4, 0), (0.5, None), (0.6, 1), (1.0, 1)])
def test_whether_most_heads_matter_is_answered_by_the_count(
    found: NeededTest, share: float, option: int | None
) -> None:
    clear = np.arange(found.effect.mean.size).reshape(found.shape) < share * found.effect.mean.size
    decided = page.decided(with_effect(found, np.zeros(found.shape), clear))
    assert (decided is None) == (option is None)
    if decided is not None:
        assert decided[0] == option and decided[1].startswith(f"{clear.sum()} of {clear.size} ")


def test_a_line_has_both_ways_in_percent(found: NeededTest) -> None:
    lines = {row.id: (row, line(row)) for row in found.rows}
    assert len(lines) == 6
    for row, told in lines.values():
        assert (told.count, told.judged) == (0 if row.id == PRUNED else row.count, row.judged)
        if row.id == PRUNED:
            assert told.here == told.twin == NOTHING and told.judged.verdict is Verdict.NOT_TESTABLE
            continue
        ways = [(way.ours, way.low, way.high) for way in (row.zero, row.mean)]
        assert numbers(told.here) == pytest.approx([100 * each for way in ways for each in way], abs=0.051)
        assert ("(bounds" in told.here) == (row.id in (EACH, ONE))
        assert (told.twin == NOTHING) == (row.id not in (NEEDED, HURTS))
        if row.beside_twin is not None:
            ends = [row.twin, row.beside_twin.low, row.beside_twin.high]
            assert numbers(told.twin) == pytest.approx([100 * each for each in ends], abs=0.051)
        assert all(name_of(head) in told.here for head in row.heads if row.id in (NEEDED, HURTS))
    fifth = lines[FIFTH][1].here
    assert f" {len(found.row(FIFTH).heads)} heads" in fifth


def test_a_loss_is_counted_by_hand(found: NeededTest) -> None:
    row, b = found.row(NEEDED), found.b
    (head,) = row.heads
    lost = ((found.plain[b] > 0).astype(float) - (found.changed[head][b] > 0)).mean()
    assert numbers(line(row).here)[0] == pytest.approx(100 * lost, abs=0.051)


@one_by_day
def test_each_template_has_its_line(found: NeededTest) -> None:
    """The heads that cost a template 5 points or more are counted by hand."""
    lines = page.by_template(found)[2:]
    assert len(lines) == len(found.rows_in) == len({pair.template for pair in found.pairs})
    for (template, (each, one)), told in zip(found.rows_in.items(), lines, strict=True):
        cells = [cell.strip() for cell in told.strip("|").split("|")]
        own = found.of(template)
        costly = [
            "-".join(str(part + 1) for part in head)
            for head in np.ndindex(found.shape)
            if ((found.plain > 0).astype(float) - (found.changed[head] > 0))[own].mean() >= 0.05
        ]
        assert cells[0] == template and cells[1] == (" ".join(costly) or NOTHING)
        assert (cells[4], cells[5]) == (LABELS[each.judged.verdict], name_of(one.heads[0]))
        assert cells[-2:] == [str(one.count), LABELS[one.judged.verdict]]


def test_heads_taken_away_together_have_their_accuracies(found: NeededTest) -> None:
    table = [line.strip("|").split("|") for line in page.together(found)[2:]]
    assert [int(row[0]) for row in table] == found.away.tolist()
    first, shares = found.curves[IMPORTANCE], np.array([[float(each) for each in row[1:]] for row in table])
    assert np.allclose(shares[:, 0], [100 * np.mean(each > 0) for each in first], atol=0.051)
    assert np.allclose(shares[0], 100 * (found.plain[found.b] > 0).mean(), atol=0.051)
    lost = shares[0, 0] - shares[found.fifth, 0]
    assert lost == pytest.approx(100 * found.row(FIFTH).zero.ours, abs=0.11)
    assert np.allclose(shares[:, 2], 100 * found.random.mean(axis=0), atol=0.051)


def test_each_way_counts_its_clear_heads(found: NeededTest) -> None:
    lines = page.five_ways(found)[2:]
    assert len(lines) == len(ABLATIONS) + 1 and set(page.WAYS) == set(ABLATIONS)
    for each, told in zip(found.effects, lines, strict=True):
        cells = [cell.strip() for cell in told.strip("|").split("|")]
        clear = each.p < 0.05
        assert cells[1] == f"{clear.sum()} of {clear.size}" and int(cells[2]) + int(cells[3]) == clear.sum()
        assert int(cells[2]) == (each.mean[clear] < 0).sum()
        assert cells[4] == name_of(each.largest)
        assert abs(float(cells[5].replace("−", "-"))) == pytest.approx(np.abs(each.mean).max(), abs=0.0051)


def test_the_map_is_of_all_pairs(found: NeededTest, model: LoadedModel) -> None:
    table = effect_map(model).table()
    assert table["change"].is_monotonic_increasing and len(table) == found.effect.mean.size
    for row in table.itertuples():
        layer, head = (int(each) - 1 for each in str(row.head).split("-"))
        assert row.change == pytest.approx(np.mean(found.changed[layer, head] - found.plain), abs=1e-5)
        assert row.low - 1e-6 <= row.change <= row.high + 1e-6


def test_what_a_link_takes_along_is_what_the_model_read(found: NeededTest, model: LoadedModel) -> None:
    for pair in found.pairs[::25]:
        text, place, deciding = learners_head.read(model, pair)
        trace, asked = lab.trace(model, text), ask(model, pair)
        assert asked is not None and trace.encoding.token_ids == asked.encoding.token_ids
        assert (place, deciding) == (asked.place, asked.deciding)
        logits = trace.logits(place)[0]
        at = found.pairs.index(pair)
        assert float(logits[asked.good] - logits[asked.bad]) == pytest.approx(found.plain[at], abs=1e-3)
        assert pair.text.split(BLANK)[0].strip() in text


def test_any_head_can_be_removed_and_pairs_that_turn_come_first(found: NeededTest) -> None:
    heads = learners_head.heads_of(found)
    assert len(heads) == len(set(heads)) == found.effect.mean.size
    assert heads[0] == found.row(NEEDED).heads[0] and found.row(HURTS).heads[0] in heads[:2]
    for head in (heads[0], heads[-1]):
        shown = learners_head.pairs_of(found, head)
        turned = [each.turns for each in shown]
        assert turned == sorted(turned, reverse=True) and len(shown) == len(found.pairs)
        for each in shown:
            at = found.pairs.index(each.pair)
            assert (each.plain, each.without) == (found.plain[at], found.changed[head][at])
        assert learners_head.in_sight(found, head) == shown[: min(2, sum(turned))]


def test_what_is_said_of_a_head_is_counted_by_hand(found: NeededTest) -> None:
    head = learners_head.heads_of(found)[0]
    said = learners_head.without(found, head)
    effect = found.effect
    assert numbers(said) == pytest.approx([each[head] for each in (effect.mean, effect.low, effect.high)], abs=0.0051)
    right, wins = found.plain > 0, found.changed[head] > 0
    assert f" {len(right)} pairs" in said and f" {wins.sum()} of " in said and f" {right.sum()}." in said
    assert f" {(right != wins).sum()} pair" in said


def test_a_sentence_is_marked_with_both_forms(found: NeededTest) -> None:
    pair = found.pairs[0]
    said = learners_head.marked(pair)
    assert f":green-background[{pair.good}]" in said and f":orange-background[{pair.bad}]" in said
    assert all(word in said for word in pair.text.replace(BLANK, "").replace(".", "").split())
