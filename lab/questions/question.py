"""A question: its options, each with its reason, what it rests on, and the picture that may travel with it.

A question that rests on nothing can only be guessed, so a step's file cannot ask it.
"""

from __future__ import annotations

import hashlib
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from lab.course.words import with_minus

Kind = Literal["derivable", "bet", "own"]


@dataclass(frozen=True)
class Basis:
    """What the answer to a question rests on. Made by :func:`derivable`, :func:`bet` or :func:`own`.

    Attributes
    ----------
    kind
        ``derivable``: what is on screen, or was in an earlier step, is enough. ``bet``: people believe two or three
        things, and the answer decides between them. ``own``: the learner makes something, and the lab looks at it.
    of
        Derivable: the ids of lesson and step, and the figure or the sentence there. A bet: the beliefs. The learner's
        own: what is wanted.
    """

    kind: Kind
    of: tuple[str, ...]


def derivable(lesson: str, step: str, shown: str) -> Basis:
    """The answer follows from what a step shows: ``shown`` names its figure or its sentence."""
    return Basis("derivable", (lesson, step, shown))


def bet(*beliefs: str) -> Basis:
    """The answer decides between two or three beliefs, each a sentence that somebody may hold.

    Raises ValueError for another number of beliefs.
    """
    if not 2 <= len(beliefs) <= 3:
        raise ValueError(f"A bet is between two or three beliefs, not {len(beliefs)}.")
    return Basis("bet", beliefs)


def own(wanted: str) -> Basis:
    """The learner makes something that shows what is ``wanted``, and the lab looks whether it does."""
    return Basis("own", (wanted,))


MARGIN = 0.05
# The most characters of a picture, which every phone of a class fetches.
MOST_OF_PICTURE = 400_000
_SOURCE = re.compile(r"data:image/(svg\+xml|png);base64,[A-Za-z0-9+/]+=*", re.ASCII)
ALWAYS = "always"  # the subject of a question that is about no run
# The numbers and the marked words of a text: 0.48, *he*, **one**, “paris”, `x`.
_FACTS = re.compile(r"[−-]?\d(?:[\d.,]*\d)?|\*[^*]+\*|“[^”]*”|`[^`]*`")


@dataclass(frozen=True)
class QuestionPicture:
    """An image, and its description for readers who cannot see it.

    ``source`` is the image itself as an address, ``data:image/…;base64,…``. Raises ValueError for any other address,
    and for an image that is too large for a class's phones.
    """

    source: str
    alt: str

    def __post_init__(self) -> None:
        if len(self.source) > MOST_OF_PICTURE or not _SOURCE.fullmatch(self.source):
            raise ValueError(f"picture: an image of at most {MOST_OF_PICTURE:,} characters, written into its address.")


@dataclass(frozen=True)
class Option:
    """One possible answer, with a sentence that says, with this run's numbers, why the answer is right or wrong.

    ``place`` is the option's place before the options were shuffled; answers are kept by it. None: as it is on screen.
    """

    text: str
    why: str = ""
    correct: bool = False
    place: int | None = field(default=None, compare=False)


# The right option, from 0, and a sentence that says with numbers why it is right.
Right = tuple[int, str]


@dataclass(frozen=True)
class Question:
    """A prompt with two or more options, of which one is correct: from a step's file to the wall of a room.

    A question whose answer a measurement will give is open: no option is correct until it is :meth:`answered`.

    Attributes
    ----------
    id
        The question's name in its lesson.
    mixed
        Whether the order of the options means nothing.
    hint
        What to look at, or to think of, after a first wrong answer; "" if the question has no hint.
    lesson
        The id of the page that asks.
    subject
        A name for what the question is about: the run and the places that decide its answer.
    about
        The subject in words: the sentence, the model, the head.
    link
        The parameters of the page that shows the answer.
    picture
        For a class: the figure on which the answer rests. It never shows the answer itself.
    """

    id: str
    prompt: str
    options: tuple[Option, ...]
    mixed: bool = False
    hint: str = ""
    lesson: str = ""
    subject: str = ""
    about: str = ""
    link: Mapping[str, str] = field(default_factory=dict, hash=False)
    picture: QuestionPicture | None = None

    def __post_init__(self) -> None:
        texts = [option.text for option in self.options]
        right = sum(option.correct for option in self.options)
        if len(self.options) < 2:
            raise ValueError(f"{self.id}: a question needs at least two options.")
        if right != (not self.is_open):
            raise ValueError(f"{self.id}: exactly one option must be correct.")
        if len(set(texts)) < len(texts):
            raise ValueError(f"{self.id}: two options read the same: {texts}.")
        if not self.is_open and not all(option.why for option in self.options):
            raise ValueError(f"{self.id}: every option needs its explanation.")

    @property
    def always(self) -> bool:
        """Whether the question is about no run: who has answered it, has answered it for all (:class:`Asking`)."""
        return self.subject == ALWAYS

    @property
    def key(self) -> str:
        """A short name for the question about its subject, which no correction of its English changes.

        A question that names no subject is about the numbers and the marked words in its texts.
        """
        texts = " ".join((self.prompt, *(option.text for option in self.options)))
        return hashed(self.lesson, self.id, self.subject or _FACTS.findall(texts))

    @property
    def hint_after_wrong(self) -> str:
        """The hint after a first wrong answer; "" if there are only two options, so that nothing is left to choose."""
        return self.hint if len(self.options) > 2 else ""

    @property
    def is_open(self) -> bool:
        """True if the answer is not known yet, or hidden: no option is correct or explained."""
        return not any(option.correct or option.why for option in self.options)

    @property
    def answer(self) -> int:
        """Index of the correct option. Raises ValueError while the question is open."""
        if self.is_open:
            raise ValueError(f"{self.id}: nobody knows the answer yet.")
        return next(i for i, option in enumerate(self.options) if option.correct)

    def answered(self, right: int, why: str) -> Question:
        """Return this open question with its answer."""
        options = (replace(each, why=why, correct=i == right) for i, each in enumerate(self.options))
        return replace(self, options=tuple(options))

    def kept_as(self, choice: int) -> int:
        """The number under which an answer is kept: the option's place before shuffling, from the index on screen."""
        place = self.options[choice].place
        return choice if place is None else place

    def on_screen(self, kept: int | None) -> int | None:
        """The index on screen of an answer that was kept; None if there is none, or no such option any more."""
        return next((i for i in range(len(self.options)) if self.kept_as(i) == kept), None)

    def hidden(self) -> Question:
        """Return this question without anything that gives the answer away."""
        return replace(self, options=tuple(Option(option.text) for option in self.options), hint="", link={})


def hashed(*texts: object) -> str:
    """Return a short name for these texts, of 12 hexadecimal digits."""
    return hashlib.sha256("\n".join(map(str, texts)).encode("utf-8", "replace")).hexdigest()[:12]


def open_question(id: str, prompt: str, texts: Sequence[str]) -> Question:
    """Make a question whose answer nobody knows before a measurement."""
    return Question(id, prompt, tuple(map(Option, texts)))


def letter(index: int) -> str:
    """The letter on screen for the option with this index, from 0."""
    return chr(ord("A") + index)


def with_letter(index: int, text: str) -> str:
    """Write an option as it is on screen: "**A** · brother"."""
    return f"**{letter(index)}** · {text}"


def lettered(question: Question, index: int) -> str:
    """Write the option of a question with this index, from 0, as it is on screen."""
    return with_letter(index, question.options[index].text)


def clear_winner(values: Sequence[float], margin: float = MARGIN) -> int | None:
    """The index of the largest value if it leads by at least ``margin``, otherwise None."""
    order = sorted(range(len(values)), key=lambda i: -values[i])
    if len(order) < 2 or values[order[0]] - values[order[1]] < margin:
        return None
    return order[0]


def shuffled(id: str, prompt: str, options: Sequence[Option]) -> Question:
    """Make a question with its options in an order that depends only on the prompt, so that all links show the same."""
    mixed = [replace(option, place=place) for place, option in enumerate(options)]
    random.Random(prompt).shuffle(mixed)
    return Question(id, prompt, tuple(mixed), mixed=True)


def reordered(question: Question, seed: int) -> Question:
    """Return the question with options in the order of a class's seed; unchanged for 0, or if their order matters."""
    if not seed or not question.mixed:
        return question
    options = list(question.options)
    random.Random(f"{seed} {question.prompt}").shuffle(options)
    return replace(question, options=tuple(options))


def selected(questions: Sequence[Question | None], most: int, seed: int = 0) -> list[Question]:
    """Return at most ``most`` questions, leaving out None: the first questions, or those that a class's seed draws."""
    asked = [question for question in questions if question is not None]
    if seed:
        random.Random(f"{seed} {[question.prompt for question in asked]}").shuffle(asked)
    return [reordered(question, seed) for question in asked[:most]]


def which_holds(id: str, prompt: str, why: str, outcomes: Mapping[str, bool], *, mixed: bool = False) -> Question:
    """Ask which of ``outcomes`` is true; one explanation serves all options.

    Outcomes that have an order keep it. All others must be ``mixed``, so that the right one is not always the first.
    """
    options = tuple(Option(text, why, correct=right) for text, right in outcomes.items())
    return shuffled(id, prompt, options) if mixed else Question(id, prompt, options)


def ranked(
    id: str,
    prompt: str,
    values: Sequence[float],
    name: Callable[[int], str],
    why: Callable[[int, int], str],
) -> Question | None:
    """Ask which of ``values`` is the largest; the wrong options are the next three.

    ``name(index)`` names a value, and ``why(index, best)`` explains it. None without a clear winner, so that no two
    options are right.
    """
    if clear_winner(values) is None:
        return None
    order = sorted(range(len(values)), key=lambda i: -values[i])[:4]
    options = [Option(name(i), with_minus(why(i, order[0])), correct=i == order[0]) for i in order]
    return shuffled(id, prompt, options)
