"""Short sentences of the treebanks with a label that their annotators gave: past or present, question or statement.

They ship as ``data/labelled.json``, chosen by ``python -m training.evaluation.labelled`` from UD English EWT dev and
from GUM (:mod:`lab.evidence.treebank`). No model of this lab learned from the annotations.
"""

from __future__ import annotations

import json
import lzma
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from lab.analysis.tasks.logistic import LabelledTask
from lab.evidence.treebank import EWT, GUM

FILE = Path(__file__).parent / "data" / "labelled.json"
TENSE, QUESTION = "tense", "question"
LABELS: Mapping[str, tuple[str, str]] = {TENSE: ("past", "present"), QUESTION: ("question", "statement")}
_SHORTEST, _LONGEST, _EACH = 4, 12, 64  # words of a sentence; sentences of each label
_SEED = 0


@dataclass(frozen=True)
class Annotated:
    """A sentence of a treebank: its document, its text, and its labels by task, true for the first label."""

    document: str
    text: str
    marks: Mapping[str, bool]


def annotated(path: Path) -> Iterator[Annotated]:
    """Read the short sentences with a finite verb that end with "." or "?", without that sign, which would tell."""
    document, text, verbs, words = "", "", set[str](), 0
    for line in lzma.decompress(path.read_bytes()).decode().split("\n"):
        if line.startswith("# newdoc id = "):
            document = line.partition(" = ")[2]
        elif line.startswith("# text = "):
            text, verbs, words = line.partition(" = ")[2].strip(), set(), 0
        elif (columns := line.split("\t"))[0].isdigit():
            words += columns[3] != "PUNCT"
            verbs |= {each for each in ("Tense=Past", "Tense=Pres") if _finite(columns[5], each)}
        elif not line and text:
            if _SHORTEST <= words <= _LONGEST and verbs and text[0].isupper() and text[-1] in ".?":
                yield Annotated(document, text.rstrip(".?! "), _marks(text, verbs))
            text = ""


def _finite(features: str, tense: str) -> bool:
    return "VerbForm=Fin" in features and tense in features


def _marks(text: str, verbs: set[str]) -> Mapping[str, bool]:
    """The labels of a sentence: of the tense only if all of its finite verbs agree, and if it is no question."""
    tense = {TENSE: verbs == {"Tense=Past"}} if len(verbs) == 1 and text[-1] == "." else {}
    return {**tense, QUESTION: text[-1] == "?"}


def chosen(task: str) -> LabelledTask:
    """Choose the sentences of a task from the treebanks: as many of either label, no text twice, in an order of chance.

    The sentences of one document are one group.
    """
    every = [each for path in (EWT, GUM) for each in annotated(path) if task in each.marks]
    once = {each.text.casefold(): each for each in every}
    found: list[Annotated] = []
    for label in (True, False):
        some = sorted((each for each in once.values() if each.marks[task] is label), key=lambda each: each.text)
        found += random.Random(_SEED).sample(some, _EACH)
    random.Random(_SEED).shuffle(found)
    documents = sorted({each.document for each in found})
    return LabelledTask(
        task,
        LABELS[task],
        tuple(each.text for each in found),
        tuple(each.marks[task] for each in found),
        tuple(documents.index(each.document) for each in found),
    )


def as_record(task: LabelledTask) -> dict[str, object]:
    """Return a task as it ships."""
    rows = zip(task.texts, task.marks, task.groups, strict=True)
    return {"labels": task.labels, "sentences": [[text, int(mark), group] for text, mark, group in rows]}


@cache
def shipped(task: str) -> LabelledTask:
    """Return the sentences of a task, from the file that ships."""
    record = json.loads(FILE.read_text("utf-8"))["tasks"][task]
    texts, marks, groups = zip(*record["sentences"], strict=True)
    return LabelledTask(task, tuple(record["labels"]), texts, tuple(map(bool, marks)), groups)
