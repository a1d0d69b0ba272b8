"""Every question about specialization has one right answer, recomputed here."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import lab
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.values import Values
from lab.evidence.kind_rules import shipped
from lab.evidence.notable import JOBS, Doing, Notable
from lab.evidence.notable import shipped as shipped_jobs
from lab.lessons.head_specialization.does_it_matter import decides, need
from lab.lessons.head_specialization.grammar import BY_JOB, against_kinds, same_as_distance
from lab.lessons.head_specialization.kinds_of_words import kind_of, larger_share, preferred
from lab.lessons.head_specialization.named_patterns import by_place, fits_best
from lab.lessons.head_specialization.radar import most_of, rim_of
from lab.models.interventions import Interventions
from lab.models.trace import changed
from lab.questions.question import Question
from lab.questions.spot import Spot
from tests.by_id import by_id
from tests.sentences import STORY

NEXT, SELF = by_id(PATTERNS, "next_token"), by_id(SPECIALIZATIONS, "self")


def right(question: Question | None) -> str:
    assert question is not None
    return question.options[question.answer].text


def test_kinds() -> None:
    assert [kind_of(tag, False) for tag in ("DET", "PROPN", "PUNCT", "SYM", None)] == [
        "Function words",
        "Content words",
        "Punctuation",
        "Other",
        "Other",
    ]
    assert kind_of("DET", True) == "Special tokens"


def test_looks_most() -> None:
    assert right(most_of(1, SELF, np.array([0.1, 0.5, 0.3]))) == "Head 2"
    assert most_of(1, SELF, np.array([0.1, 0.5, 0.48])) is None
    assert most_of(1, SELF, np.array([np.nan, np.nan])) is None


def test_best_head() -> None:
    scores = np.array([[0.1, 0.2], [0.9, 0.3]])
    assert right(fits_best(NEXT, scores)) == "Layer 2, head 1"
    assert fits_best(NEXT, scores * np.nan) is None


EVEN = np.array([0.5, 0.4, np.nan, 0.1, np.nan, 0.1, 0.1])


def shares(function: float, content: float, punctuation: float) -> Values:
    """What a head gives, in the order of SPECIALIZATIONS; the text has no names."""
    return np.array([function, content, np.nan, punctuation, np.nan, 0.1, 0.1])


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (shares(0.48, 0.49, 0.03), "Content words"),  # 0.96, 1.23 and 0.3 times
        (shares(0.5, 0.3, 0.2), "Punctuation"),  # 1, 0.75 and 2 times: the largest share is no preference
        (shares(0.5, 0.4, 0.1), None),
        (shares(0.54, 0.43, 0.03), None),  # 1.08 and 1.075 times
    ],
)
def test_the_preferred_kind_has_most_beside_a_uniform_head(given: Values, expected: str | None) -> None:
    question = preferred((4, 10), given, EVEN)
    assert (None if question is None else right(question)) == expected


def test_a_share_is_told_from_a_preference() -> None:
    heads = np.stack([shares(0.48, 0.49, 0.03), shares(0.5, 0.3, 0.2)])
    question = larger_share(2, heads, EVEN)
    assert question is not None and right(question) == "Punctuation"
    assert "Head 2 of layer 3 gives function words 50%" in question.prompt and "punctuation 20%" in question.prompt
    assert "20% is 2.0 times 10%" in question.options[question.answer].why
    assert larger_share(2, heads[:1], EVEN) is None


OBJECT = next(each for each in JOBS if each.id == "obj:head")


def job(score: float) -> Notable:
    return Notable(OBJECT, 0.36, (Doing(2, 0, score),))


@pytest.mark.parametrize(("lead", "expected"), [(-0.2, "The rule"), (-0.06, "The rule"), (0.06, "The head"), (0.0, "")])
def test_a_head_is_compared_with_the_rule_by_kinds_of_words(lead: float, expected: str) -> None:
    question = against_kinds(job(shipped()["obj:head"].share + lead))
    assert (question is None) == (not expected)
    assert question is None or right(question).startswith(expected)


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_each_job_of_a_shipped_model_is_asked_by_its_own_numbers(model: str) -> None:
    trace = lab.trace(lab.load_model(model), STORY)
    for each in shipped_jobs(trace.model) or ():
        if each.job.grammatical:
            question, lead = BY_JOB[each.job.id](Spot.of(trace)), each.heads[0].score - shipped()[each.job.id].share
            assert (question is None) == (abs(lead) < 0.05)
            assert question is None or right(question).startswith("The head" if lead > 0 else "The rule")


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_without_places_no_head_finds_a_neighbour(model: str) -> None:
    """By hand: the share of a row that goes to the token before, in a run of the model with its position table at 0."""
    trace = lab.trace(lab.load_model(model), STORY)
    question = by_place(Spot.of(trace))
    assert question is None or right(question).startswith("They no longer do")
    without = changed(trace, Interventions(no_positions=True))
    before, after = (
        max(float(torch.diagonal(layer, -1, 1, 2).mean(1).max()) for layer in maps)
        for maps in ([run.layer(at).attention for at in range(trace.model.config.layers)] for run in (trace, without))
    )
    assert before > 0.7 and after < 0.5


@pytest.mark.parametrize(("many", "expected"), [(0, "No"), (1, "Yes"), (3, "Yes")])
def test_whether_one_head_decides_is_answered_by_the_runs(many: int, expected: str) -> None:
    off = np.full((6, 4, 5), 0.9)
    off[:4].reshape(4, -1)[:, :many] = 0.1  # in four of six sentences
    assert right(decides([0.9] * 6, off)).startswith(expected)
    assert decides([0.9] * 3 + [0.1] * 3, off) is None
    off[:3, 3, 4] = 0.1  # in half of them: nearly in most
    assert (decides([0.9] * 6, off) is None) == (many == 0)


def test_a_rule_without_grammar_is_as_good() -> None:
    """Table 1 of Clark et al. 2019, "nn": 70.4 by head 4-10, 70.2 by the offset of 1."""
    question = same_as_distance(Spot.of(lab.trace(lab.load_model("lab-bert"), STORY)))
    assert question is not None and "70.4 of 100" in question.prompt and "in 70.2" in question.prompt
    assert "next word" in right(question)


def test_only_a_change_shows_what_is_needed() -> None:
    question = need(((4, 10), "finds the subject", 0.679))
    assert "In 68 of 100 cases, layer 5, head 11 finds the subject." in question.prompt
    assert right(question) == right(need(None))
    assert right(question).startswith("Without the head")


def test_rim_of_radar_is_about_the_largest_head() -> None:
    question = rim_of(0, SELF, (np.array([0.1, 0.4]), np.array([0.8, 3.2])))
    assert right(question) == ("This head gives each token itself more attention than any other head of the layer does")
    assert question is not None and "head 2 of layer 1" in question.prompt
    assert any("3.20 times" in option.why for option in question.options)
    assert rim_of(0, SELF, (np.array([0.1, 1.0]), np.array([0.8, 8.0]))) is None
    assert rim_of(0, SELF, (np.array([0.4]), np.array([0.8]))) is None
