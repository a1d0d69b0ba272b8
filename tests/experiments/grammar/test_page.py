"""What the page says of a result is computed again from the result."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import lab
from lab.course.words import plain
from lab.evidence.reasons import LABELS
from lab.evidence.treebank import halves
from lab.evidence.verdicts import HOLDS, Verdict
from lab.experiments.grammar import page
from lab.experiments.grammar.measure import GrammarTest, known
from lab.experiments.grammar.page import as_frame, relation_chart
from lab.figures.notebook import python_of


@pytest.fixture(params=["lab-minilm", "lab-bert", "lab-gpt2"])
def found(request: pytest.FixtureRequest) -> GrammarTest:
    result = known(lab.load_model(request.param))
    assert result is not None
    return result


def test_the_meaning_counts_what_the_table_says(found: GrammarTest) -> None:
    said, table, gum = page.meaning_of(found, "m"), as_frame(found), as_frame(found, gum=True)
    held = [LABELS[verdict] for verdict in HOLDS]
    testable = table[table["verdict"] != "not testable here"]
    clear = testable[testable["verdict"].isin(held)]
    assert f"**{len(clear)} of {len(testable)}** relations" in said
    told = page.verdict_of(found)
    for verdict, count in table["verdict"].value_counts().items():
        assert f"**{verdict}** for {count}" in told
    also = gum[gum["verdict"].isin(held) & gum["relation"].isin(clear["relation"])]
    assert (
        f"the same heads are again better than the distance in {len(also)} of {len(clear)} relations."
        in page.in_full(found, "m")
    )
    assert table["on the other treebank"].tolist() == gum["verdict"].tolist()
    full = page.in_full(found, "m")
    points = 100 * (clear["ours"] - clear["best fixed distance"])
    best = clear.loc[points.idxmax()]
    assert f"lead is in {best['relation']}, {page.WORDS[best['relation']]}. Head {best['head']} names" in full
    layer, head = best["head"].split("-")
    ours, rule = (f"{100 * best[each]:.0f}" for each in ("ours", "best fixed distance"))
    assert f"layer {layer}, head {head} is right in {ours} of 100 cases, the best distance in {rule}." in said
    assert f"the head leads by {points.max():.1f} points" in full
    smaller = (clear["verdict"] == "smaller").sum()
    assert (
        "all of these relations" if smaller == len(clear) else (f"{smaller} of these relations")
    ) in full or not smaller
    other = table["verdict"].isin(["not reproduced", "opposite"]).sum()
    assert (f"{other} relations are not reproduced. That is a finding about m" in full) == (other > 1)
    left_open = table.loc[table["verdict"] == "inconclusive", "relation"].tolist()
    assert (f"For {', '.join(left_open)}, the interval is too wide" in full) == bool(left_open)
    bias = float((table["on A"] - table["ours"]).mean())
    assert f"{100 * abs(bias):.1f} points {'more' if bias > 0 else 'less'}" in full


def test_the_rule_by_kinds_is_counted_by_its_intervals(found: GrammarTest) -> None:
    table = as_frame(found)
    testable = table[table["verdict"] != "not testable here"]
    said = page.beside_kinds([row for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE])
    worse, better = (testable["above the rule, high"] < 0).sum(), (testable["above the rule, low"] > 0).sum()
    assert f"But in **{worse} of {len(testable)}**, a rule that knows only kinds of words is clearly better" in said
    assert (
        f"In {better} relations, the head is clearly better than the rule that knows only kinds of words."
        in page.in_full(found, "m")
    )
    for row in found.rows:
        assert row.beyond_low <= row.accuracy - row.rule_accuracy <= row.beyond_high
        assert 0 <= row.where_rule_fails <= min(row.right, row.count - row.rule_right)
        # What both name right is at least what their shares leave no other room for.
        assert row.right - row.where_rule_fails >= row.right + row.rule_right - row.count
    subject = next(row for row in found.rows if row.relation == "nsubj")
    assert subject.gold_accuracy == pytest.approx(0.82, abs=0.03), "the referee: nearest noun or pronoun to the left"


def test_a_claim_that_nothing_supports_is_said_to_be_unsupported(found: GrammarTest) -> None:
    rows = tuple(replace(row, p=1.0, on_a=0.0) for row in found.rows)
    nothing = replace(found, rows=rows)
    assert "In none of" in page.meaning_of(nothing, "m")
    assert "points less on half A" in page.in_full(nothing, "m")
    untestable = replace(found, rows=tuple(replace(row, reach=0.0) for row in found.rows))
    assert "No part of the claim can be tested" in page.meaning_of(untestable, "m")


def test_the_answer_is_the_result_s(found: GrammarTest) -> None:
    subject = next(row for row in found.rows if row.relation == "nsubj")
    assert f"right in {subject.offset_right / subject.count:.0%}" in page.bet().prompt
    verdicts = [row.judged.verdict for row in found.rows if row.judged.verdict is not Verdict.NOT_TESTABLE]
    held, unsure = sum(verdict in HOLDS for verdict in verdicts), verdicts.count(Verdict.INCONCLUSIVE)
    least, most = (2 * count > len(verdicts) for count in (held, held + unsure))
    told = f"In {held} of {len(verdicts)} relations, a head is clearly better than the best rule."
    assert page.decided(found) == ((int(not least), told) if least == most else None)


@pytest.mark.parametrize(("better", "option"), [(1, 1), (6, 1), (7, 0), (12, 0)])
def test_most_relations_are_more_than_half(found: GrammarTest, better: int, option: int) -> None:
    """Twelve relations: so many are clearly better than rule and twin, and the others clearly are not."""
    row = next(row for row in found.rows if row.judged.verdict in HOLDS)
    none = replace(row, p=1.0, low=-0.01, high=0.01)
    assert none.judged.verdict is Verdict.NOT_REPRODUCED
    twelve = replace(found, rows=(row,) * better + (none,) * (12 - better))
    assert page.decided(twelve) == (
        option,
        f"In {better} of 12 relations, a head is clearly better than the best rule.",
    )


def test_what_cannot_be_tested_says_why(found: GrammarTest) -> None:
    told = page.untestable(found)
    for row in found.rows:
        assert (f"{row.relation}, {page.WORDS[row.relation]}. {page.why_of(row)}" in told) == (
            row.judged.verdict is Verdict.NOT_TESTABLE
        )
    assert set(page.SHORT) == set(page.WORDS)
    assert len(set(page.SHORT.values())) == len(page.SHORT)


def test_the_figure_has_the_rows_and_its_table_all_of_them() -> None:
    model = lab.load_model("lab-bert")
    figure, result = relation_chart(model), known(model)
    assert result is not None
    ours = figure.data[figure.data["line"] == 0]
    assert np.allclose(ours["value"], [row.accuracy for row in result.rows], atol=1e-6)
    assert ((ours["low"] <= ours["value"]) & (ours["value"] <= ours["high"])).all()
    assert figure.table().equals(as_frame(result))


def test_the_figure_can_be_taken_home() -> None:
    setup, expression = python_of(partial(relation_chart, lab.load_model("lab-bert")))
    scope: dict[str, Any] = {}
    exec(setup, scope)
    again = eval(expression, scope)
    assert again.table().equals(relation_chart(lab.load_model("lab-bert")).table())


def test_every_case_shown_is_plain_and_marked(found: GrammarTest) -> None:
    b = halves()[1].sentences
    for row in found.rows:
        cases = page.cases_of(found, row)
        assert len(cases) <= row.count
        for case in cases[:20]:
            assert case.sentence in b and not re.search(r"[0-9@<>]", case.text)
            marks = dict(re.findall(r":(\w+)-background\[([^\]]*)\]", plain(page.marked(case))))
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
        for case in page.cases_of(result, result.rows[1])[:5]:
            trace = lab.trace(model, case.text)
            query = next(iter(page.tokens_of(model, case).values()))
            word, label = case.sentence.words[case.asked].lower(), trace.labels[query - 1].strip("␣").lower()
            assert word.startswith(label)
