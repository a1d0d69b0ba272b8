"""What the lesson on head specialization says of its figures, held to the tensors."""

from __future__ import annotations

import re
from collections import Counter

import numpy as np
import pytest

import lab
from lab.analysis.heads.named import trace_chance, trace_names
from lab.analysis.heads.patterns import PATTERNS, trace_patterns
from lab.analysis.heads.specialization import SPECIALIZATIONS, specialization
from lab.evidence.grammar.own_sentence import Case, cases
from lab.evidence.notable import FILE, Doing, HeadJob, Notable, shipped
from lab.lessons.head_specialization import meanings
from lab.lessons.head_specialization.checks import ABOUT, pattern_name
from lab.models.trace import Trace
from lab.text.tags.pipeline import pipeline

MODELS = ("lab-minilm", "lab-bert", "lab-gpt2")
TEXTS = ("She gave her brother the book that he wanted.", "The sleepy cat sat on the mat.")


@pytest.fixture(scope="module", params=[(model, text) for model in MODELS for text in TEXTS])
def trace(request: pytest.FixtureRequest) -> Trace:
    model, text = request.param
    return lab.trace(lab.load_model(model), text)


def test_the_commonest_kind_is_counted() -> None:
    said = meanings.kinds(["Other", "Content words", "Content words"])
    assert said.startswith("Content words are 2 of 3 tokens")


def test_the_largest_share_is_told_from_what_a_head_prefers(trace: Trace) -> None:
    every = specialization(trace, only_words=True)
    shares = [at for at, each in enumerate(SPECIALIZATIONS) if each.id != "long_range"]
    kept = int((~np.asarray(trace.encoding.special)).sum())
    told = set()
    for head in np.ndindex(*every.removed.shape):
        raw, corrected = every.raw[head], every.corrected[head]
        said = meanings.seven(raw, corrected, every.even[head[0]], head)
        largest, most = shares[int(np.nanargmax(raw[shares]))], int(np.nanargmax(corrected))
        about = [ABOUT[SPECIALIZATIONS[at].id] for at in (largest, most)]
        assert f"largest share to {about[0]}: {raw[largest]:.2f}, where" in said
        assert ("none of these more" in said) == (corrected[most] <= 1)
        assert (f"prefers most is {about[1]}: {raw[most]:.2f}" in said) == (corrected[most] > 1 and most != largest)
        assert ("These it prefers most, too" in said) == (corrected[most] > 1 and most == largest)
        told.add(most == largest)
        if SPECIALIZATIONS[most].id == "self" and not trace.model.config.causal:
            # Of each row an even head gives the diagonal one cell.
            assert f"gives {1 / kept:.2f} (" in said
    assert told == {True, False}
    nothing = np.full(7, np.nan)
    assert "nothing of any of these kinds" in meanings.seven(nothing, nothing, nothing, (0, 0))


def test_the_rim_of_the_radar_is_told_from_a_preference() -> None:
    axes, relative, raw = ["a", "b", "c"], [0.93, 0.2, 0.1], [0.357, 0.141, 0.3]
    said = meanings.rim(0, [relative, raw, [0.93, 1.83, 1.0]], axes)
    assert "On **a** head 1 is nearest to the rim, at 0.93: its value is 0.357, 0.93 times what a head without" in said
    assert "most on **b**, 1.83 times as much, and stands at 0.20 there" in said
    assert "it has most there beside such a head, too" in meanings.rim(0, [relative, raw, [1.9, 1.8, 1.0]], axes)


def test_named_heads_are_counted(trace: Trace) -> None:
    names = trace_names(trace)
    said, counts = meanings.patterns(names), Counter(names.ravel().tolist())
    mixed = counts.pop("mixed", 0)
    if not counts:
        assert f"None of the {names.size} heads" in said
        return
    most = counts.most_common(1)[0][1]
    assert said.startswith(f"{names.size - mixed} head")
    told = re.search(r"“(.+)” \((\d+); (\d+) of \d+ in layer (\d+)\)", said)
    assert told is not None and int(told[2]) == most
    inside = [sum(pattern_name(name) == told[1] for name in layer) for layer in names]
    assert int(told[3]) == inside[int(told[4]) - 1] == max(inside)
    assert any(pattern_name(name) == told[1] for name, count in counts.items() if count == most)
    assert re.search(rf"{mixed} heads? stays? mixed", said)


def test_one_mixed_head_stays_mixed() -> None:
    names = np.array([["previous_token", "mixed"]])
    assert "1 head stays mixed: it may" in meanings.patterns(names)


def test_the_rule_for_a_name_is_shown_on_the_pattern_that_the_head_is_nearest_to(trace: Trace) -> None:
    patterns, names, chance = trace_patterns(trace), trace_names(trace), trace_chance(trace)
    scores = np.stack([getattr(patterns, pattern.id) for pattern in PATTERNS])
    for layer, head in np.ndindex(names.shape):
        said = meanings.worked(scores, chance, (layer, head))
        shown = re.search(r"“(.+?)”: a head that prefers nothing scores (\d\.\d\d) here", said)
        assert shown is not None
        at = [pattern.name for pattern in PATTERNS].index(shown[1])
        assert shown[2] == f"{chance.uniform[at]:.2f}"
        needed = (1 + chance.uniform[at]) / 2
        if "gets the name" in said:
            assert PATTERNS[at].id == names[layer, head]
            assert scores[at, layer, head] >= needed and scores[at, layer, head] > chance.untrained[at]
        elif "too little" in said:
            assert scores[at, layer, head] < needed and names[layer, head] == "mixed"
        else:
            assert scores[at, layer, head] <= chance.untrained[at]


def test_a_delimiter_head_parks_or_has_something_left() -> None:
    assert "begins at 0.58 in this text, parking at 90%" in meanings.delimiter(0.58, 0.67)
    assert "it has 0.33 left for words" in meanings.delimiter(0.58, 0.67)
    assert "This head parks." in meanings.delimiter(0.58, 0.95)


def test_the_radar_names_the_job_of_a_head_that_has_one() -> None:
    for name in MODELS:
        model = lab.load_model(name)
        found = shipped(model)
        assert found is not None
        grammar = meanings.grammatical(found)
        assert grammar and all(each.job.id.split(":")[0] in ("obj", "nsubj", "det", "case") for each in grammar), FILE
        working = {(doing.layer, doing.head) for each in grammar for doing in each.heads}
        for head in np.ndindex(model.config.layers, model.config.heads):
            said = meanings.radar(found, head)
            assert ("Over many sentences" in said) == (head in working)
            for each in grammar:
                if head == (each.heads[0].layer, each.heads[0].head) and each.job.does in said:
                    assert f"right in {each.heads[0].score:.0%} of cases" in said
                    assert f"at one fixed distance is right in {each.chance:.0%} at best" in said
    assert "which head finds the verb" in meanings.radar(None, (0, 0))


def test_a_relation_is_told_with_its_score_chance_and_cases(trace: Trace) -> None:
    tagged = pipeline().tag(trace.text)
    for each in meanings.grammatical(shipped(trace.model)):
        doing = each.heads[0]
        here = cases(trace, tagged, each.job, doing)
        said = meanings.grammar(each, doing, here)
        assert each.chance is not None
        assert f"right in {doing.score:.0%} of cases; the best fixed distance, in {each.chance:.0%}" in said
        assert doing.score > each.chance and "may follow another rule" in said
        if here:
            assert f"right {sum(case.right for case in here)} of {len(here)} times" in said
        else:
            assert "finds no such pair" in said


def test_a_wrong_case_is_called_wrong() -> None:
    each = Notable(HeadJob("obj:head", "finds the verb of an object"), 0.3, (Doing(1, 2, 0.6),))
    wrong = Case("book", "gave", "the", False, 3, 1)
    assert "“\u2068the\u2069”, not at “\u2068gave\u2069”" in meanings.grammar(each, each.heads[0], (wrong,))
    right = Case("book", "gave", "gave", True, 3, 1, ("a", "the", "in", "."))
    said = meanings.grammar(each, each.heads[0], (right,))
    assert (
        "But “\u2068a\u2069”, “\u2068the\u2069”, “\u2068in\u2069” and 1 more look most at “\u2068gave\u2069”, too"
        in said
    )
    one = Case("book", "gave", "gave", True, 3, 1, ("a",))
    assert "But “\u2068a\u2069” looks most at “\u2068gave\u2069”, too, and the job is not about it" in meanings.grammar(
        each, each.heads[0], (one,)
    )
    unseen = Case("book", "gave", "", False, 3, 1)
    assert "sees no other word" in meanings.grammar(each, each.heads[0], (unseen,))
