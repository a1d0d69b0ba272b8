"""The checks on screen, which are kept with their sentence, so that they stay while the learner looks around."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lab.charts.base.figure import Figure
from lab.course.words import quoted
from lab.questions.progress import CheckList
from lab.questions.question import Question, selected
from lab.ui import parameters, selection

# The figures drawn beside questions, by the question's id.
Figures = Mapping[str, Callable[[], Figure]]


@dataclass(frozen=True)
class OnScreen:
    """The checks of a lesson as they were asked, and the selection that they were asked about.

    ``listed`` is what the learner's progress keeps of them. ``run`` is :func:`lab.ui.selection.what_runs` at the time
    of asking, ``link`` the whole selection, ``of`` the layer and head. ``done``: the learner wants new checks.
    """

    questions: tuple[Question, ...]
    figures: Mapping[str, Figure]
    seed: int
    of: str
    run: tuple[object, ...]
    link: Mapping[str, str]
    listed: CheckList
    done: bool = False

    @classmethod
    def now(
        cls, pool: Sequence[Question], most: int, seed: int, of: str, figures: Figures, before: OnScreen | None = None
    ) -> OnScreen:
        """Draw new checks from ``pool``; checks that were not seen ``before`` come first."""
        seen = () if before is None else before.listed.seen
        drawn = selected(pool, len(pool), seed)
        drawn = sorted(drawn, key=lambda question: question.key in seen)[:most]
        keys = tuple(question.key for question in drawn)
        number = 0 if before is None else before.listed.number + 1
        return cls._of(drawn, seed, of, figures, CheckList(number, keys, tuple(dict.fromkeys((*seen, *keys)))))

    @classmethod
    def again(
        cls, pool: Sequence[Question], seed: int, of: str, figures: Figures, listed: CheckList
    ) -> OnScreen | None:
        """Return the checks on screen before a reload; None unless ``pool`` has all of them."""
        known = {each.key: each for each in selected(pool, len(pool), seed)}
        if not listed.asked or not known.keys() >= set(listed.asked):
            return None
        return cls._of([known[key] for key in listed.asked], seed, of, figures, listed)

    @classmethod
    def _of(cls, drawn: Sequence[Question], seed: int, of: str, figures: Figures, listed: CheckList) -> OnScreen:
        drawn_beside = {each.id: figures[each.id]() for each in drawn if each.id in figures}
        run = selection.what_runs(selection.current())
        return cls(tuple(drawn), drawn_beside, seed, of, run, selection.link(), listed)


_SHOWN = 120  # characters of a text that a caption names


def about(link: Mapping[str, str], of: str = "", says: str = "Asked about") -> str:
    """Name the texts of a check, for its caption; a link without a sentence means the sentence of a new visit."""
    if link.get(parameters.MODE.name) == parameters.TOY:
        asked = f"{says} a toy"
    else:
        texts = [link.get(each.name, each.default) for each in (parameters.TEXT, parameters.PAIR)]
        shown = [text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…" for text in texts if text]
        asked = f"{says} {' and '.join(map(quoted, shown))}"
    return f"{asked}, {of}" if of else asked
