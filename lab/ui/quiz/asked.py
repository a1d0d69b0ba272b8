"""The checks on screen, which are kept with their sentence, so that they stay while the learner looks around."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from lab.charts.base.figure import Figure
from lab.course.words import quoted
from lab.questions.progress import Shown
from lab.questions.question import Question, selected
from lab.ui import parameters, selection

# The figures drawn beside questions, by the question's id.
Figures = Mapping[str, Callable[[], Figure]]


def hashed(*texts: object) -> str:
    """Return a short name for these texts, for use in a widget's key."""
    return hashlib.sha256("\n".join(map(str, texts)).encode("utf-8", "replace")).hexdigest()[:12]


def fingerprint(question: Question) -> str:
    """Return a hash of prompt, options, answer and explanations; questions with equal hashes have equal numbers."""
    return hashed(question.prompt, *question.options)


@dataclass(frozen=True)
class Asked:
    """The checks of a lesson as they were asked, and the selection that they were asked about.

    ``number`` counts how often the learner wanted new checks; ``seen`` are the wordings that were on screen so far.
    ``run`` is :func:`lab.ui.selection.what_runs` at the time of asking, ``link`` the whole selection, ``of`` the layer
    and head. ``done``: the learner wants new checks.
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
        """Draw new checks from ``pool``; checks that were not seen ``before`` come first."""
        seen = () if before is None else before.seen
        drawn = selected(pool, len(pool), seed)
        drawn = sorted(drawn, key=lambda question: fingerprint(question) in seen)[:most]
        every = tuple(dict.fromkeys((*seen, *map(fingerprint, drawn))))
        return cls._of(drawn, seed, of, figures, 0 if before is None else before.number + 1, every)

    @classmethod
    def again(cls, pool: Sequence[Question], seed: int, of: str, figures: Figures, shown: Shown) -> Asked | None:
        """Return the checks on screen before a reload; None unless ``pool`` has all of them in the same words."""
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
        """Return these checks, noted as being about the lesson's own ``text``; "" means the learner's text."""
        return replace(self, link={**self.link, "text": text}) if text else self

    @property
    def wordings(self) -> tuple[str, ...]:
        """The fingerprints of the questions' wordings."""
        return tuple(map(fingerprint, self.questions))


def about(link: Mapping[str, str], of: str = "") -> str:
    """Name the texts of a check, for its caption; a link without a sentence means the sentence of a new visit."""
    if link.get(parameters.MODE.name) == parameters.TOY:
        asked = "Asked about a toy"
    else:
        texts = [link.get(each.name, each.default) for each in (parameters.TEXT, parameters.PAIR)]
        asked = f"Asked about {' and '.join(quoted(text) for text in texts if text)}"
    return f"{asked}, {of}" if of else asked
