"""What the lesson on head specialization says of its figures, held to the tensors."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

import lab
from lab.analysis.heads.specialization import SPECIALIZATIONS, WORD_KINDS, specialization
from lab.course.words import number_of
from lab.evidence.kind_rules import shipped as rules
from lab.evidence.notable import FILE, JOBS, Doing, Notable, shipped
from lab.evidence.own_sentence import Case, cases
from lab.figures.specialization import names_of
from lab.lessons.head_specialization import does_it_matter, grammar, kinds_of_words, named_patterns, radar
from lab.lessons.head_specialization.view import ABOUT
from lab.models.trace import Trace
from lab.text.tags.pipeline import pipeline
from tests.sentences import STORY

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = (STORY, "The sleepy cat sat on the mat.")


@pytest.fixture(scope="module", params=[(model, text) for model in MODELS for text in TEXTS])
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def test_a_preferred_kind_has_its_share_and_that_of_a_uniform_head(trace: Trace) -> None:
    every = specialization(trace, only_words=True)
    kinds = [at for at, each in enumerate(SPECIALIZATIONS) if each.id in WORD_KINDS]
    told = set()
    for head in np.ndindex(*every.removed.shape):
        raw, even = every.raw[head], every.even[head[0]]
        said = kinds_of_words.said(head, raw, even)
        here = [at for at in kinds if np.isfinite(raw[at])]
        assert all(f"**{raw[at]:.0%}**" in kinds_of_words.shares_given(head, raw) for at in here)
        most = max(here, key=lambda at: raw[at] / even[at])
        prefers = raw[most] / even[most] >= 1.1
        assert ("prefers none" in said) == (raw[most] <= even[most])
        assert ("no clear preference" in said) == (even[most] < raw[most] < 1.1 * even[most])
        if not prefers:
            assert kinds_of_words.preferred(head, raw, even) is None  # the question would contradict the sentence
            assert raw[most] <= even[most] or f"only {raw[most] / even[most]:.2f} times" in said
        if prefers:
            assert (
                f"{ABOUT[SPECIALIZATIONS[most].id]} {raw[most]:.0%} of its attention. A uniform head would give them "
                f"{even[most]:.0%}" in said
            )
        told.add(prefers)
    assert told == {True, False}
    nothing = np.full(7, np.nan)
    assert "no words of these kinds" in kinds_of_words.said((0, 0), nothing, nothing)


def test_the_rim_of_the_radar_is_told_from_a_preference() -> None:
    axes, relative, raw = ["a", "b", "c"], [0.93, 0.2, 0.1], [0.357, 0.141, 0.3]
    said = radar.said((0, 0), [relative, raw, [0.93, 1.83, 1.0]], axes)
    assert (
        "nearest to the rim on **a**: 0.9 times" in said and "strongest preference is on **b**, with 1.8 times" in said
    )
    assert "strongest" not in radar.said((0, 0), [relative, raw, [1.9, 1.8, 1.0]], axes)
    assert "strongest" not in radar.said((0, 0), [relative, raw, [1.21, 1.23, 1.0]], axes)  # on screen, both are 1.2
    said = radar.said((0, 0), [[1.0, 0.2, 0.1], raw, raw], axes)
    assert "the largest value" in said and "on **a**" in said and "nearest" not in said


@pytest.mark.parametrize("only_words", [False, True])
def test_named_heads_are_counted(trace: Trace, only_words: bool) -> None:
    names = names_of(trace, only_words)
    counts = Counter(names.ravel().tolist())
    counts.pop("mixed", None)
    for head in ((0, 0), (1, 5), (3, 7)):
        said = named_patterns.said(names, head)
        if not counts:
            assert f"None of the {names.size} heads" in said
            continue
        assert said.startswith(f"{counts.total()} head")
        for name, count in counts.items():
            assert f"{count} {named_patterns.DOES[name][count == 1]}" in said
        own = str(names[head])
        assert ("is one of them" in said) == (own != "mixed")


def test_relations_of_grammar_are_told_from_patterns() -> None:
    for name in MODELS:
        found = shipped(lab.load_model(name))
        assert found is not None
        jobs = grammar.grammatical(found)
        assert jobs and all(each.job.id.split(":")[0] in ("obj", "nsubj", "det", "case") for each in jobs), FILE


def test_a_relation_is_told_with_its_score_chance_and_cases(trace: Trace) -> None:
    tagged = pipeline().tag(trace.text)
    for each in grammar.grammatical(shipped(trace.model)):
        doing = each.heads[0]
        here = cases(trace, tagged, each.job, doing)
        said = grammar.said(each, doing, here)
        assert each.chance is not None
        assert f"in {100 * doing.score:.0f} of 100 cases" in said and f"right in {100 * each.chance:.0f} of 100" in said
        assert doing.score > each.chance
        rule = rules()[each.job.id].share
        assert f"in **{100 * rule:.0f} of 100**" in said
        assert ("may be kinds of words" in said) == (doing.score < rule - 0.05)
        assert ("about as often" in said) == (abs(doing.score - rule) <= 0.05)
        if here:
            wanted = f"right {sum(case.right for case in here)} of {number_of(len(here), 'time')}:"
            assert wanted in said
        else:
            assert "has no such pair" in said


def test_a_wrong_case_is_called_wrong() -> None:
    object_of = next(each for each in JOBS if each.id == "obj:head")
    each = Notable(object_of, 0.3, (Doing(1, 2, 0.6),))
    wrong = Case("book", "gave", "the", False, 3, 1)
    assert "“\u2068the\u2069”, not at “\u2068gave\u2069”" in grammar.said(each, each.heads[0], (wrong,))
    right = Case("book", "gave", "gave", True, 3, 1, ("a", "the", "in", "."))
    said = grammar.too(right)
    assert (
        "But “\u2068a\u2069”, “\u2068the\u2069”, “\u2068in\u2069” and 1 more look most at “\u2068gave\u2069”, too"
        in said
    )
    one = Case("book", "gave", "gave", True, 3, 1, ("a",))
    assert (
        "But “\u2068a\u2069” looks most at “\u2068gave\u2069”, too, although the relation does not concern it"
        in grammar.too(one)
    )
    assert not grammar.too(wrong)
    unseen = Case("book", "gave", "", False, 3, 1)
    assert "sees no other word" in grammar.said(each, each.heads[0], (unseen,))


def test_what_happens_without_a_head_is_counted() -> None:
    off = np.full((6, 2, 3), 0.9)
    off[:, 1, 2] = 0.1
    before = [0.9] * 6
    said = does_it_matter.said(before, off, (1, 2))
    assert (
        "Without layer 2, head 3, the model prefers *was* in 6 of 6 sentences; with this head, it does so in 0." in said
    )
    assert "Without any single other head, it never does so." in said
    off[:2, 0, 0] = 0.2
    assert "it does so in at most 2" in does_it_matter.said(before, off, (1, 2))
    said = does_it_matter.said(before, off, (0, 1))
    assert "no answer changes" in said and "Without layer 2, head 3, it does so in 6 of 6" in said
