"""What the page says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

import lab
from lab.course.words import plain
from lab.evidence.treebank import halves
from lab.evidence.verdicts import HOLDS, Because, Verdict
from lab.experiments.grammar import page, relation_sentences
from lab.experiments.grammar.measure import GrammarTest, RelationRow, known
from lab.experiments.grammar.page import as_frame, line, relation_chart
from tests.told import numbers


@pytest.fixture(params=["lab-minilm", "lab-bert", "lab-gpt2"])
def found(request: pytest.FixtureRequest) -> GrammarTest:
    result = known(lab.load_model(request.param))
    assert result is not None
    return result


def can_be_tested(found: GrammarTest) -> list[RelationRow]:
    return [row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]


def with_rule(row: RelationRow, better: bool) -> RelationRow:
    """The row, with an effect that is clear beside distance and twin, and clear or not beside the rule by kinds."""
    row = replace(row, right=row.count, offset_right=0, twin_right=0, low=0.9, high=1.0, reach=1.0)
    row = replace(row, twin_low=-0.1, twin_high=0.1, p=0.01, p_twin=0.01, p_rule=0.01 if better else 0.5)
    return replace(row, beyond_low=0.1 if better else -0.3, beyond_high=0.3 if better else -0.1)


def test_the_meaning_counts_by_the_verdicts(found: GrammarTest) -> None:
    rows = can_be_tested(found)
    held = [row for row in rows if row.judged.verdict in HOLDS]
    beyond = [row for row in rows if row.p < 0.05 and row.low > 0]
    said = page.meaning_of(found, "m")
    assert (f"**{len(held)} of {len(rows)}**" in said) == bool(held)
    assert (f"none of {len(rows)}" in said) == (not held)
    assert (f"as in the paper, the claim holds in {len(beyond)}; " in said) == (len(beyond) > len(held))
    shown = max(held or beyond, key=lambda row: (row.right - row.offset_right) / row.count)
    assert page.WORDS[shown.relation] in said and f"layer {shown.layer + 1}, head {shown.head + 1} " in said
    for right in (shown.right, shown.offset_right, shown.rule_right):
        assert f"in {100 * right / shown.count:.0f}" in said


@pytest.mark.parametrize("better", [True, False])
def test_a_relation_counts_only_beside_the_rule_by_kinds(found: GrammarTest, better: bool) -> None:
    changed = replace(found, rows=tuple(with_rule(row, better) for row in found.rows))
    rows = can_be_tested(changed)
    assert {row.judged.verdict in HOLDS for row in rows} == {better}
    assert {row.judged.because is Because.RULE_TOO for row in rows} == {not better}
    said = page.meaning_of(changed, "m")
    assert (f"**{len(rows)} of {len(rows)}**" in said) == better and (f"none of {len(rows)}" in said) != better
    assert (f"holds in {len(rows)}; there" in said) != better
    decided = page.decided(changed)
    assert decided is not None and decided[0] == int(not better)


def test_a_claim_that_nothing_supports_is_said_to_be_unsupported(found: GrammarTest) -> None:
    nothing = replace(found, rows=tuple(replace(row, p=1.0) for row in found.rows))
    rows = can_be_tested(nothing)
    assert page.meaning_of(nothing, "m").startswith(f"In none of {len(rows)} ")
    untestable = replace(found, rows=tuple(replace(row, reach=0.0) for row in found.rows))
    assert page.decided(untestable) is None and "m" in page.meaning_of(untestable, "m")


def test_the_rule_by_kinds_has_its_interval(found: GrammarTest) -> None:
    for row in found.rows:
        assert row.beyond_low <= row.accuracy - row.rule_accuracy <= row.beyond_high
        assert 0 <= row.where_rule_fails <= min(row.right, row.count - row.rule_right)
        # What both name right is at least what their shares leave no other room for.
        assert row.right - row.where_rule_fails >= row.right + row.rule_right - row.count
    subject = next(row for row in found.rows if row.relation == "nsubj")
    assert subject.gold_accuracy == pytest.approx(0.82, abs=0.03), "the referee: nearest noun or pronoun to the left"


def test_a_line_has_its_relation_s_numbers_in_percent(found: GrammarTest) -> None:
    for row in (*found.rows, *found.elsewhere):
        told = line(row)
        assert told.claim.startswith(f"{row.relation}: ") and told.here.startswith(f"{row.name}: ")
        assert numbers(told.published) == pytest.approx(
            [100 * row.published.accuracy, 100 * row.published.offset], abs=0.051
        )
        shares = [row.right / row.count, row.share_low, row.share_high]
        shares += [row.offset_right / row.count, row.rule_right / row.count]
        assert numbers(told.here) == pytest.approx([100 * share for share in shares], abs=0.051)
        share, *lifts = numbers(told.twin)
        assert share == pytest.approx(100 * row.twin_right / row.count, abs=0.051)
        lift = (row.twin_right - row.offset_right) / (row.count - row.offset_right)
        assert lifts == pytest.approx([lift, row.twin_low, row.twin_high], abs=0.0051)
        assert told.count == row.count and told.judged == row.judged
        assert bool(told.reason) == bool(row.judged.effect.untestable)


def test_det_of_the_paper_is_as_printed(found: GrammarTest) -> None:
    (told,) = [line(row) for row in found.rows if row.relation == "det"]
    assert numbers(told.published) == [94.3, 51.7]


def test_gum_has_a_line_for_each_relation(found: GrammarTest) -> None:
    lines = page.EXPERIMENT.tables["On GUM"](found)
    assert len(lines) == 2 + len(found.elsewhere)
    for row, told in zip(found.elsewhere, lines[2:], strict=True):
        assert f"| {row.relation}: " in told and f"| {row.count:,} |" in told


def test_the_answer_is_the_result_s(found: GrammarTest) -> None:
    subject = next(row for row in found.rows if row.relation == "nsubj")
    assert f"{subject.offset_right / subject.count:.0%}" in page.bet().prompt
    verdicts = [row.judged.verdict for row in can_be_tested(found)]
    held, unsure = sum(verdict in HOLDS for verdict in verdicts), verdicts.count(Verdict.INCONCLUSIVE)
    least, most = (2 * count > len(verdicts) for count in (held, held + unsure))
    decided = page.decided(found)
    assert (decided is None) == (least != most)
    if decided is not None:
        assert decided[0] == int(not least) and f"{held} of {len(verdicts)} " in decided[1]


@pytest.mark.parametrize(("better", "option"), [(1, 1), (6, 1), (7, 0), (12, 0)])
def test_most_relations_are_more_than_half(found: GrammarTest, better: int, option: int) -> None:
    """Twelve relations: so many are clearly better than rules and twin, and the others clearly are not."""
    row = with_rule(next(iter(can_be_tested(found))), better=True)
    none = replace(row, p=1.0, low=-0.01, high=0.01)
    assert row.judged.verdict in HOLDS and none.judged.verdict is Verdict.NOT_REPRODUCED
    decided = page.decided(replace(found, rows=(row,) * better + (none,) * (12 - better)))
    assert decided is not None and decided[0] == option and f"{better} of 12 " in decided[1]


def test_each_relation_has_a_name_of_its_own() -> None:
    assert set(page.SHORT) == set(page.WORDS) and len(set(page.SHORT.values())) == len(page.SHORT)
    assert set(relation_sentences.NOTES) <= set(page.WORDS)


def test_the_figure_has_the_rows_and_its_table_all_of_them() -> None:
    model = lab.load_model("lab-bert")
    figure, result = relation_chart(model), known(model)
    assert result is not None
    ours = figure.data[figure.data["line"] == 0]
    assert np.allclose(ours["value"], [row.accuracy for row in result.rows], atol=1e-6)
    assert ((ours["low"] <= ours["value"]) & (ours["value"] <= ours["high"])).all()
    table = figure.table()
    assert table.equals(as_frame(result))
    assert table["ours"].tolist() == [row.right / row.count for row in result.rows]
    assert table["on GUM"].tolist() == [row.right / row.count for row in result.elsewhere]
    assert table["rule by kinds"].tolist() == [row.rule_right / row.count for row in result.rows]


def test_every_case_shown_is_plain_and_marked(found: GrammarTest) -> None:
    b = halves()[1].sentences
    for row in found.rows:
        shown = relation_sentences.cases_of(found, row)
        assert len(shown) <= row.count
        for case in shown[:20]:
            assert case.sentence in b and not re.search(r"[0-9@<>]", case.text)
            marks = dict(re.findall(r":(\w+)-background\[([^\]]*)\]", plain(relation_sentences.marked(case))))
            assert (marks["blue"], marks["green"]) == (
                case.sentence.words[case.asked],
                case.sentence.words[case.sought],
            )
            assert ("orange" in marks) == (not case.right and case.named >= 0)
            ends = {case.asked, case.sought}
            dependent = next(at for at in ends if case.sentence.relations[at] == row.relation)
            assert case.sentence.heads[dependent] - 1 == (ends - {dependent}).pop()


def test_a_link_names_the_tokens_of_the_words() -> None:
    for model_id in ("lab-minilm", "lab-bert", "lab-gpt2"):
        model = lab.load_model(model_id)
        result = known(model)
        assert result is not None
        for case in relation_sentences.cases_of(result, result.rows[1])[:5]:
            trace = lab.trace(model, case.text)
            query = next(iter(relation_sentences.tokens_of(model, case).values()))
            word, label = case.sentence.words[case.asked].lower(), trace.labels[query - 1].strip("␣").lower()
            assert word.startswith(label)
