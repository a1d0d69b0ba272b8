"""The effect of cuts: the rule by hand, the ways that three cuts tell, and what is no effect."""

from __future__ import annotations

import pytest

import lab
from lab.analysis.flow.cuts import Cuts, Way
from lab.analysis.flow.ways_in import CutEffect, Needed, Ways, effect, ways
from tests.sentences import BOYS, KEYS


def lost(kept: float, was: float = 0.6, first: bool = True) -> CutEffect:
    """A cut after which the word has ``kept`` of ``was``, and is still the first or not."""
    return CutEffect(word=1, was=was, kept=kept, best=1 if first else 2, leads=max(kept, 0.3))


@pytest.mark.parametrize(
    ("found", "matters", "little"),
    [
        (lost(0.6), False, True),
        (lost(0.55), False, True),
        (lost(0.65), False, True),
        (lost(0.53), False, False),  # more than a tenth
        (lost(0.67), False, False),  # a gain of more than a tenth
        (lost(0.31), False, False),  # not yet half, and still the first
        (lost(0.3), True, False),  # half
        (lost(0.47, first=False), True, False),  # no longer the first, and a fifth is lost
        (lost(0.49, first=False), False, False),  # no longer the first, but less than a fifth is lost
        (lost(0.59, first=False), False, False),  # another word is first by a hair: that is no little change
        (lost(0.9, was=0.2, first=False), False, False),
    ],
)
def test_a_cut_matters_by_half_or_by_a_fifth_and_the_first_place(found: CutEffect, matters: bool, little: bool) -> None:
    assert (found.matters, found.is_little) == (matters, little)


@pytest.mark.parametrize(
    ("direct", "around", "both", "needed", "costlier"),
    [
        (0.597, 0.458, 0.103, Needed.EITHER, Way.AROUND),  # dogs
        (0.493, 0.645, 0.019, Needed.EITHER, None),  # of .6, as if keys
        (0.1, 0.55, 0.1, Needed.DIRECT, Way.DIRECT),
        (0.55, 0.1, 0.1, Needed.AROUND, Way.AROUND),
        (0.2, 0.25, 0.1, Needed.BOTH, None),
        (0.1, 0.55, 0.5, None, Way.DIRECT),  # the cut of both does not matter, so nothing is said of one
    ],
)
def test_the_ways_that_are_needed(
    direct: float, around: float, both: float, needed: Needed | None, costlier: Way | None
) -> None:
    was = 0.771 if direct == 0.493 else 0.633
    found = Ways(*(lost(kept, was) for kept in (direct, around, both)))
    assert found.needed is needed
    assert needed is None or found.costlier is costlier or abs(direct - around) / was >= 0.2


@pytest.mark.parametrize(
    ("text", "word", "needed"),
    [
        ("The dogs that chased the cat [MASK] tired.", "dogs", Needed.EITHER),
        (KEYS, "keys", Needed.EITHER),
        (BOYS, "boys", None),
        ("The capital of France is [MASK].", "france", Needed.DIRECT),
    ],
)
def test_the_refereed_sentences(text: str, word: str, needed: Needed | None) -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), text)
    mask = trace.model.mask
    assert mask is not None
    assert ways(trace, trace.token_ids.index(mask[1]), trace.labels.index(word)).needed is needed


def test_in_a_causal_model_the_token_just_before_has_no_way_around() -> None:
    trace = lab.trace(lab.load_model("lab-gpt2"), "The capital of France is")
    watched = len(trace) - 1
    found = ways(trace, watched, watched - 1)
    assert found.around.kept == pytest.approx(found.around.was, abs=1e-6)
    assert found.direct.kept == pytest.approx(found.both.kept, abs=1e-6)


def test_without_cuts_nothing_is_lost() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), "A robin is a [MASK].")
    found = effect(trace, 5, Cuts())
    assert (found.lost, found.changed, found.is_little) == (0, False, True)
