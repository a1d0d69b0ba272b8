"""The sentences that a learner labels: the lab's, or the learner's own, which the browser keeps."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from lab.analysis.tasks.few_examples import Examples
from lab.charts.base.chart_table import harmless, is_formula
from lab.course.sentences.news import NEWS
from lab.course.words import number_of, quoted
from lab.models.encoding import clean

# The most sentences of a learner, and the longest sentence and name of a label, in characters.
MOST, LONGEST, LONGEST_LABEL = 200, 300, 24
LAB_PAIRS = NEWS[:30]  # the lab's sentences in the list: as many as one can look through
LAB_TEXTS = tuple(text for pair in LAB_PAIRS for text in pair)
LAB_TRUTH = tuple(place % 2 == 0 for place in range(len(LAB_TEXTS)))
# Both sentences of a pair are one group, so that its number says what they are about.
LAB_GROUPS = tuple(place // 2 for place in range(len(LAB_TEXTS)))
SPLIT = 20  # pairs of which one sentence is labelled, so that its partner tests what was learned
Mark = bool | None
Value = TypeVar("Value")


@dataclass(frozen=True)
class VisitLabels:
    """What a visit has labelled. ``marks`` belong to the lab's sentences, ``own`` are the learner's with their marks.

    ``labels`` are the learner's names for the first and the second label.
    """

    marks: tuple[Mark, ...] = (None,) * len(LAB_TEXTS)
    own: tuple[tuple[str, Mark], ...] = ()
    labels: tuple[str, str] = ("yes", "no")

    def marked(self, place: int, mark: Mark) -> VisitLabels:
        """Label a sentence of the lab."""
        return replace(self, marks=_with(self.marks, place, mark))

    def own_marked(self, place: int, mark: Mark) -> VisitLabels:
        """Label one of the learner's sentences."""
        return replace(self, own=_with(self.own, place, (self.own[place][0], mark)))

    def dropped(self, place: int) -> VisitLabels:
        """Take out one of the learner's sentences."""
        return replace(self, own=(*self.own[:place], *self.own[place + 1 :]))


def _with(values: tuple[Value, ...], place: int, value: Value) -> tuple[Value, ...]:
    return (*values[:place], value, *values[place + 1 :])


def four_more(now: VisitLabels, count: int = 2) -> VisitLabels:
    """Label the next ``count`` pairs of the lab, both sentences of each, as they should be labelled."""
    for pair in range(len(LAB_PAIRS)):
        places = 2 * pair, 2 * pair + 1
        if count and all(now.marks[place] is None for place in places):
            count -= 1
            for place in places:
                now = now.marked(place, LAB_TRUTH[place])
    return now


def one_of_each_pair(way: int = 0) -> VisitLabels:
    """Label one sentence of each of :data:`SPLIT` pairs, as many of either label; ``way`` says which are drawn.

    Their partners are left for the test, and so are both sentences of the other pairs.
    """
    pairs = random.Random(way).sample(range(len(LAB_PAIRS)), SPLIT)
    places = {2 * pair + turn % 2 for turn, pair in enumerate(pairs)}
    return VisitLabels(tuple(LAB_TRUTH[i] if i in places else None for i in range(len(LAB_TEXTS))))


def lab_examples(now: VisitLabels) -> Examples:
    """The lab's sentences, as a classifier learns them."""
    return Examples(now.marks, LAB_TRUTH, LAB_GROUPS)


def own_examples(now: VisitLabels) -> Examples:
    """The learner's sentences: the learner's label is the truth; each is about a thing of its own."""
    count = len(now.own)
    return Examples(tuple(mark for _, mark in now.own), (None,) * count, tuple(range(count)))


def added(now: VisitLabels, typed: str) -> tuple[VisitLabels, list[str]]:
    """Add sentences, one a line; a label may follow a sentence after a tab, as in the file of this step.

    Returns what is taught then, and a sentence for everything that was left out or changed.
    """
    rows = [_row(line) for line in typed.splitlines() if line.strip()]
    now, notes = _named(now, rows), list[str]()
    own, full = dict(now.own), 0
    for text, label in rows:
        if len(text) > LONGEST:
            notes.append(f"A sentence of {len(text)} characters was left out: {LONGEST} are the most.")
        elif text not in own and len(own) >= MOST:
            full += 1
        else:
            own[text] = _mark(now, text, label, own.get(text), notes)
    if full:
        were = "was" if full == 1 else "were"
        notes.append(f"{number_of(full, 'sentence')} {were} left out, because a list has at most {MOST}.")
    if not rows:
        notes.append("Write a sentence first.")
    return replace(now, own=tuple(own.items())), notes


def left_out(now: VisitLabels, typed: str) -> str:
    """The lines of ``typed`` whose sentences are not in the list."""
    there = dict(now.own)
    return "\n".join(line for line in typed.splitlines() if line.strip() and _row(line)[0] not in there)


def _row(line: str) -> tuple[str, str]:
    """The sentence and the label of a line, with single spaces, and without the apostrophe of a file."""
    text, label = (" ".join(each.split()) for each in clean(line).partition("\t")[::2])
    text, label = (each[1:] if each[:1] == "'" and is_formula(each[1:]) else each for each in (text, label))
    return text, label[:LONGEST_LABEL]


def _mark(now: VisitLabels, text: str, label: str, before: Mark, notes: list[str]) -> Mark:
    """The mark of a sentence that comes with a label; a sentence that is there already keeps its own without one."""
    if label and label not in now.labels:
        notes.append(f"{quoted(label[:LONGEST_LABEL])} is none of your two labels, so its sentence has no label.")
        return before
    mark = None if not label else label == now.labels[0]
    if mark is not None and before is not None and mark is not before:
        notes.append(f"{quoted(text[:40])} came with both labels. The later one counts.")
    return before if mark is None else mark


def _named(now: VisitLabels, rows: Sequence[tuple[str, str]]) -> VisitLabels:
    """Take over the names of the labels that come with the sentences, if nothing was labelled before."""
    names = list(dict.fromkeys(label for _, label in rows if label))
    fresh = all(mark is None for _, mark in now.own)
    other = len(names) == 2 and set(names) != set(now.labels)
    return replace(now, labels=(names[0], names[1])) if fresh and other else now


def renamed(now: VisitLabels, first: str, second: str) -> tuple[VisitLabels, list[str]]:
    """Give the two labels other names; returns a sentence if a name is missing, or if both are the same."""
    names = [" ".join(clean(each).split())[:LONGEST_LABEL] for each in (first, second)]
    if not all(names):
        return now, ["Each label needs a name, so the old names stay."]
    if names[0] == names[1]:
        return now, ["The two labels need different names, so the old names stay."]
    return replace(now, labels=(names[0], names[1])), []


def as_file(now: VisitLabels) -> str:
    """The learner's sentences as a file: a sentence, a tab and its label on each line, none of them a formula."""
    names = {True: now.labels[0], False: now.labels[1], None: ""}
    return "".join(f"{harmless(text)}\t{harmless(names[mark])}".rstrip() + "\n" for text, mark in now.own)


def as_kept(now: VisitLabels) -> str:
    """What the browser keeps of the learner's sentences."""
    return json.dumps({"labels": now.labels, "own": now.own}, ensure_ascii=False)


def from_kept(now: VisitLabels, text: str) -> VisitLabels:
    """Take over what the browser has kept; anybody may have written it, so nothing is taken over that is not valid."""
    try:
        told = json.loads(text)
        labels = [str(each) for each in told["labels"]]
        rows = [(str(sentence), mark) for sentence, mark in told["own"]][:MOST]
    except (ValueError, KeyError, TypeError, RecursionError):
        return now
    if len(labels) != 2 or not all(mark is None or isinstance(mark, bool) for _, mark in rows):
        return now
    found, _ = renamed(now, *labels)
    found, _ = added(found, "\n".join(sentence for sentence, _ in rows))
    marks = {_row(sentence)[0]: mark for sentence, mark in rows}
    return replace(found, own=tuple((sentence, marks.get(sentence)) for sentence, _ in found.own))
