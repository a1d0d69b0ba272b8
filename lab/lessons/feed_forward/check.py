"""Check: three questions about earlier steps, and a sentence of one's own to test a guess about a neuron."""

from __future__ import annotations

from functools import partial

from lab.course.sentences.looks import STORY_TEXT
from lab.course.words import quoted, signed
from lab.lessons.feed_forward import LESSON
from lab.lessons.feed_forward.excited_by import what_a_list_shows
from lab.lessons.feed_forward.neurons import without_function
from lab.lessons.feed_forward.residual import without_sum
from lab.lessons.feed_forward.view import FAVOURITE, FeedForwardView
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import LoadedModel
from lab.models.trace import trace
from lab.ui.quiz.draw_check import ChallengeVerdict, draw_challenge, draw_checks

WANTED = """
Neuron {neuron} of layer {layer} fires at *of* in *The capital of France*: its activation is {least}. Write a sentence
in which an *of* excites it more, after a word that you have not seen there: not {shown}."""
NO_WORD = "Your sentence has no *of* after a word that is one token."
LISTED = "{word} comes before *of* in the list of **Excited by**, so this tests no guess. Take another word."
MET = "At *of* after {word}, the activation is {value}, more than {least}. Does your guess explain this place, too?"
NOT_MET = """
At *of* after {word}, the activation is {value}, which is not more than {least}. Read the list again: what comes before
*of*, and what after it?"""
# The words before *of* at the strongest places of the neuron in the short texts, and in the course's sentence.
SHOWN = frozenset({"president", "duke", "capital", "day", "man", "library", "session", "asked"})

SEEN = f"{', '.join(f'*{each}*' for each in sorted(SHOWN)[:-1])} or *{max(SHOWN)}*"


def show(view: FeedForwardView) -> None:
    """Ask the three questions, and offer the challenge, which is about the course's model."""
    draw_checks(LESSON, [each() for each in (without_function, what_a_list_shows, without_sum)])
    model = view.trace.model
    if model.id == DEFAULT_MODEL:
        layer, neuron = (number + 1 for number in FAVOURITE)
        wanted = WANTED.format(neuron=neuron, layer=layer, least=signed(in_story(model)), shown=SEEN)
        draw_challenge(LESSON, wanted, "A sentence with of", partial(look_at, model))


def strongest(model: LoadedModel, text: str, but: frozenset[str] = frozenset()) -> tuple[float, str] | None:
    """Return the largest activation of :data:`FAVOURITE` at an *of* after a word, and this word.

    None without an *of* after a word that is not one of ``but``. Raises TextError for a text that cannot be read.
    """
    run = trace(model, text)
    active = run.layer(FAVOURITE[0]).ffn_activation[:, FAVOURITE[1]].tolist()
    after = ((active[at], run.tokens[at - 1]) for at, token in enumerate(run.tokens) if token == "of" and at > 1)
    return max((found for found in after if found[1].isalpha() and found[1] not in but), default=None)


def in_story(model: LoadedModel) -> float:
    """Return the activation of :data:`FAVOURITE` at the *of* of the course's sentence."""
    found = strongest(model, STORY_TEXT)
    assert found is not None
    return found[0]


def look_at(model: LoadedModel, entry: str) -> ChallengeVerdict:
    """Look whether an *of* of the entry excites the neuron more than the one of the course's sentence."""
    found = strongest(model, entry, SHOWN)
    if found is None:
        listed = strongest(model, entry)
        return ChallengeVerdict(met=False, said=NO_WORD if listed is None else LISTED.format(word=quoted(listed[1])))
    (value, word), least = found, in_story(model)
    told = MET if value > least else NOT_MET
    digits = 2 if signed(value) != signed(least) else 4  # with four digits, the two differ
    said = told.format(word=quoted(word), value=signed(value, digits), least=signed(least, digits))
    return ChallengeVerdict(met=value > least, said=said)
