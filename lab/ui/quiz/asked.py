"""Checks as they were asked: what is kept of them, so that they stay while the learner looks around."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.charts.base.figure import Figure
from lab.course.words import quoted
from lab.questions.progress import Shown
from lab.questions.question import Question, selected
from lab.ui import parameters, selection

# What is drawn beside a question, by the question's id.
Figures = Mapping[str, Callable[[], Figure]]


def hashed(*texts: object) -> str:
    """A short name for these texts in a widget's key."""
    return hashlib.sha256("\n".join(map(str, texts)).encode("utf-8", "replace")).hexdigest()[:12]


def fingerprint(question: Question) -> str:
    """Two questions are one where prompt, options, answer and explanations are: then so are the numbers behind them."""
    return hashed(question.prompt, *question.options)


@dataclass(frozen=True)
class Asked:
    """The checks of a lesson as they were asked, and what they were asked about.

    ``number`` counts how often new ones were wanted, ``seen`` are the wordings that were on screen so far. ``run``
    is :func:`lab.ui.selection.what_runs` of that moment, ``link`` the whole of it, ``of`` the layer and head.
    ``done``: the learner wants new ones.
    """

    questions: tuple[Question, ...]
    figures: Mapping[str, Figure]
    seed: int
    of: str
    run: tuple[object, ...]
    link: Mapping[str, str]
    number: int
    seen: tuple[str, ...]
    done: bool = False

    @classmethod
    def now(
        cls, pool: Sequence[Question], most: int, seed: int, of: str, figures: Figures, before: Asked | None = None
    ) -> Asked:
        """New ones out of ``pool``: those not seen ``before`` come first."""
        seen = () if before is None else before.seen
        drawn = selected(pool, len(pool), seed)
        drawn = sorted(drawn, key=lambda question: fingerprint(question) in seen)[:most]
        every = tuple(dict.fromkeys((*seen, *map(fingerprint, drawn))))
        return cls._of(drawn, seed, of, figures, 0 if before is None else before.number + 1, every)

    @classmethod
    def again(cls, pool: Sequence[Question], seed: int, of: str, figures: Figures, shown: Shown) -> Asked | None:
        """Those that were on screen before a reload; None where ``pool`` does not have them all in the same words."""
        known = {fingerprint(each): each for each in selected(pool, len(pool), seed)}
        if not shown.asked or not known.keys() >= set(shown.asked):
            return None
        return cls._of([known[wording] for wording in shown.asked], seed, of, figures, shown.number, shown.seen)

    @classmethod
    def _of(
        cls, drawn: Sequence[Question], seed: int, of: str, figures: Figures, number: int, seen: tuple[str, ...]
    ) -> Asked:
        drawn_beside = {each.id: figures[each.id]() for each in drawn if each.id in figures}
        run = selection.what_runs(selection.current())
        return cls(tuple(drawn), drawn_beside, seed, of, run, selection.link(), number, seen)

    def about_text(self, text: str) -> Asked:
        """These questions where they are about a ``text`` of the lesson's own; "" for the learner's."""
        return replace(self, link={**self.link, "text": text}) if text else self

    @property
    def wordings(self) -> tuple[str, ...]:
        """The questions by their wording."""
        return tuple(map(fingerprint, self.questions))


def about(link: Mapping[str, str], of: str = "") -> str:
    """What a check was asked about; a link that names no sentence means the one every visit begins with."""
    if link.get(parameters.MODE.name) == parameters.TOY:
        asked = "Asked about a toy"
    else:
        texts = [link.get(each.name, each.default) for each in (parameters.TEXT, parameters.PAIR)]
        asked = f"Asked about {' and '.join(quoted(text) for text in texts if text)}"
    return f"{asked}, {of}" if of else asked
