"""Questions that are written, not made from a run: fair options, each with a reason of its own."""

from __future__ import annotations

from collections import Counter
from functools import cache

import pytest

import lab
from lab.course.pages import LESSONS, lesson_of
from lab.course.sentences.looks import STORY_TEXT
from lab.lessons.open_lesson import askings
from lab.models.catalogue import DEFAULT_MODEL
from lab.questions.asking import Spot
from lab.questions.question import Question

TEXTS = (STORY_TEXT, lesson_of("inter-sentence-attention").text)
# Why each of them is right is computed again in tests/lessons.
RIGHT = {
    # Tokenization
    "next-in-the-list": "*hair*: the list is sorted in neither way",
    "in-capitals": "Nothing: the ids are the same",
    "another-word": "parisian · ##s",
    "why-this-cut": "Inside a word, only pieces with ## fit, and ##happily is none",
    "unknown-sign": "[UNK], as for any other sign that it does not know",
    # Embeddings
    "nearest-word": "*italy*, which is a country, too",
    "cosine-of-one": "They point the same way, but their lengths can differ",
    "what-changes": "Another place in the text",
    "without-places": "*france* or *paris*, about equally likely",
    "who-bit-whom": "Yes: the model gets the same tokens",
    "no-row-left": "It cannot read it: there is no vector for it",
    "moved-together": "It stays the same",
    # Self-attention
    "looks-back": "Less than 0.01: *france* looks in its own way",
    "value-gone": "The weight stays, and the word adds nothing",
    "one-score-up": "They get smaller",
    "what-a-weight-says": "The value of *france* goes into the head’s sum, times 0.96",
    "twice-as-long": "324",
    # Multi-head attention
    "why-several": "One head gives a token only one set of shares",
    "another-cut": "384 × 384, as it is now",
    "without-capital": "*french* and *france*, and no city leads",
    "two-heads-swapped": "*moscow*",
    "ten-others": "In this pair, they bring hardly anything of which country it is",
    "zero-or-mean": "What a removal shows depends on how the head is removed",
    # Attention metrics
    "at-how-many": "At 1.3",
    "one-weight-more": "It gets smaller",
    "over-the-whole-map": "Near the middle of the 72 heads",
    "maximum-is-one-row": "Most rows have no weight of 0.9 or more",
    "why-divided": "So that texts of different length can be compared",
    "rests-and-works": "Without 6-4: it rests in most rows, but not in the blank’s",
    # Head specialization
    "rim": "Of what its rows give to words, no other head of the layer gives names a larger share",
    "share-or-preference": "Names",
    "by-place": "At the token that now has the place before",
    "beats-kinds": "The rule",
    "same-as-distance": "The head may only look at the next word",
    "one-decides": "Without one of them",
    "what-shows-need": "The model’s words change without it",
    # Inter-sentence attention
    "whose-link": "If the blank cannot look at *France*",
    "longer-gets-more": "The longer one",
    "hidden-by-a-mean": "Most heads look elsewhere, and each counts as much",
    "one-token-back": "A head looks one token back, also across the end of a sentence",
    "no-border": "A mask between them",
    # Feed-forward and LayerNorm
    "without-network": "No: *france* itself comes first, and not its capital",
    "without-function": "The two matrices could do no more than one matrix",
    "what-a-list-shows": "The neuron fires at *and* in these twelve places",
    "scaled-input": "The same numbers as before",
    "without-sum": "What the vector said about its own token",
    # Masked-language model
    "others-fall": "It falls",
    "shifted": "Nothing",
    "when-it-learns": "Until layer 6, which brings it to the blank",
    "negated": "A probability says what fits such a text, not what is true",
    "why-hidden": "In sight, a word could be copied from its own place",
    # How it learns
    "halved": "By ln 2 = 0.69, whatever p is",
    "which-way": "It makes the weight smaller",
    "too-far": "The step was too long for the slope at its start",
    "where-it-looks": "From each letter, at the letter before it",
    "why-this-word": "They do not explain it",
    # A task of your own
    "only-the-thing": "About none of the partners",
    "better-or-luck": "Only more tests can tell a gain from luck",
    "looks-or-cut": "In about half of the sentences",
    "why-forgotten": "The same weights fill blanks, and no step kept them good at it",
}


@cache
def written() -> tuple[Question, ...]:
    """The written questions of the lessons on the course's sentences."""
    spot = Spot(lab.trace(lab.load_model(DEFAULT_MODEL), STORY_TEXT), 0, 0, 0, 0)
    asked = [each for lesson in LESSONS if lesson.text in TEXTS for each in askings(lesson) if each.always]
    return tuple(question for each in asked if (question := each(spot)) is not None)


@pytest.mark.parametrize("question", written(), ids=lambda question: question.id)
def test_each_option_has_a_reason_of_its_own(question: Question) -> None:
    whys = [option.why for option in question.options]
    assert all(whys) and len({*whys}) == len(whys) and question.hint


def test_the_right_option_is_the_one_that_was_written() -> None:
    assert {question.id: question.options[question.answer].text for question in written()} == RIGHT


def test_a_letter_is_right_as_often_as_another() -> None:
    letters = Counter(question.answer for question in written() if len(question.options) == 3)
    assert set(letters) == {0, 1, 2} and max(letters.values()) - min(letters.values()) <= 2, letters


def test_the_longest_option_is_right_no_more_often_than_by_chance() -> None:
    longest = [
        max(question.options, key=lambda option: len(option.text)).correct for question in written()
    ]  # ties count for the first option
    chance = sum(1 / len(question.options) for question in written())
    assert sum(longest) <= chance, f"{sum(longest)} of {len(longest)}"


def test_no_idea_is_asked_twice() -> None:
    assert len({question.id for question in written()}) == len(written())
