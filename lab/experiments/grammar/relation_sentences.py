"""The sentences behind a relation: the choice of a relation, and the words that its head names in single sentences."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from lab.course.words import escaped
from lab.evidence.relation_cases import encode_words
from lab.evidence.treebank import Sentence, halves
from lab.experiments.grammar.measure import GrammarTest, RelationRow
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.claim_table import two_kinds
from lab.ui.experiments.page import look_there
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, HEADS, KEY_TOKEN, LAYER, TOKEN, UNITS
from lab.ui.parameters import WORDS as BETWEEN_WORDS

DIRECTIONS = ("dependent → head", "head → dependent")
# The two words of each relation, the dependent first.
WORDS = {
    "case": "a preposition and its noun",
    "det": "a determiner and its noun",
    "nsubj": "a subject and its verb",
    "obj": "an object and its verb",
    "amod": "an adjective and its noun",
    "advmod": "an adverb and the word that it modifies",
    "compound": "two nouns in a row, as in *dog food*",
    "mark": "a conjunction, or *to*, and the verb of its clause",
    "aux": "an auxiliary and its verb",
    "cop": "*is* and the noun or adjective after it",
    "nmod:poss": "an owner and the thing owned",
    "ccomp": "the verb of a clause and the verb that it is about",
    "aux:pass": "the auxiliary of a passive and its verb",
    "compound:prt": "a particle and its verb, as in *give up*",
}
# The known difference between a relation and the paper's, or between the paper's table and its authors' notebook.
NOTES = {
    "case": (
        "Universal Dependencies reverse the roles: the noun is the head of its preposition. The pair of words is the "
        "same."
    ),
    "nsubj": "Here, the relation includes the subjects of passive verbs.",
    "mark": "Here, the relation includes the “to” of infinitives, which is aux in the paper’s treebank.",
    "aux": "Here, the relation does not include the “to” of infinitives.",
    "cop": "This relation is not in the paper, but the authors’ notebook prints it.",
    "aux:pass": (
        "The paper prints 82.5 with an offset of 40.5. The authors’ notebook prints 94.1 with 82.5, and 72.2 with "
        "40.5 for cop, so the paper’s row seems to pair two offsets. This table has the notebook’s figures."
    ),
}
_RELATION = "_experiment_relation"
# Number of words of a sentence that is quick to read, and characters that occur in addresses and numbers.
_SHORT = range(6, 19)
_NOT_PLAIN = re.compile(r"[0-9@/\\_<>#]|\.\w")


@dataclass(frozen=True)
class ShownCase:
    """One case: the sentence, the word from which the head looks, the word to name, the word it names (or −1)."""

    sentence: Sentence
    asked: int
    sought: int
    named: int

    @property
    def text(self) -> str:
        return " ".join(self.sentence.words)

    @property
    def right(self) -> bool:
        return self.named == self.sought


def cases_of(found: GrammarTest, row: RelationRow) -> list[ShownCase]:
    """The cases of half B in sentences of 6 to 18 words without numbers and addresses, the shortest first."""
    b = halves()[1].sentences
    shown = []
    for sentence, dependent, head, named in found.cases[row.relation].tolist():
        if len(b[sentence].words) in _SHORT and not _NOT_PLAIN.search(" ".join(b[sentence].words)):
            asked, sought = (dependent, head) if row.end == 0 else (head, dependent)
            shown.append(ShownCase(b[sentence], asked, sought, named))
    return sorted(shown, key=lambda case: len(case.sentence.words))


def show_cases(model: LoadedModel, found: GrammarTest) -> Trace | None:
    """Draw the choice of a relation and its sentences; returns the first sentence's run."""
    rows = {row.relation: row for row in found.rows}
    chosen = st.selectbox("Relation", list(rows), key=_RELATION, format_func=lambda name: f"{name}: {WORDS[name]}")
    row = rows.get(chosen, found.rows[0])
    st.markdown(
        f"Head {row.name}, {DIRECTIONS[row.end]}, is right in {row.right} of {row.count} cases. "
        f"{NOTES.get(row.relation, '')}".rstrip()
    )
    st.caption(
        "These are the sentences of half B that have 6 to 18 words and no numbers or addresses. The shortest come "
        "first."
    )
    cases = cases_of(found, row)
    kinds = {
        title: [case for case in cases if case.right == right] for title, right in (("Right", True), ("Wrong", False))
    }
    none = "There is no short sentence of this kind."
    shown = two_kinds(kinds, lambda case, key: _show_case(model, row, case, key), "Other sentences", none)
    return runs.run(model.id, shown[0].text, "", Interventions()) if shown else None


def _show_case(model: LoadedModel, row: RelationRow, case: ShownCase, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(case))
        words = case.sentence.words
        asked, sought = escaped(words[case.asked]), escaped(words[case.sought])
        said = (
            f"names **{escaped(words[case.named])}**"
            if case.named >= 0
            else "names nothing, because it sees no other word"
        )
        st.caption(f"Starting from **{asked}**, the head should name **{sought}**. It {said}.")
        here: dict[Parameter[Any], Any] = {LAYER: row.layer + 1, HEAD: row.head + 1, **tokens_of(model, case)}
        with st.container(horizontal=True):
            heads = here | {HEADS: str(row.head + 1), UNITS: BETWEEN_WORDS}
            look_there("head-view", case.text, heads, f"_experiment.view.{key}")
            look_there("head-specialization", case.text, here, f"_experiment.lesson.{key}", "grammar")


def marked(case: ShownCase) -> str:
    """The sentence as Markdown: the word that looks is blue, the word to name green, a wrong word orange."""
    colours = {case.named: "orange", case.sought: "green", case.asked: "blue"}
    return " ".join(
        f":{colours[at]}-background[{escaped(word)}]" if at in colours else escaped(word)
        for at, word in enumerate(case.sentence.words)
    )


def tokens_of(model: LoadedModel, case: ShownCase) -> dict[Parameter[Any], int]:
    """Query and key for a link, from 1: the first token of the word that looks, and of the word that it names."""
    found = encode_words(model, case.sentence.words)
    if found is None:
        return {}
    named = case.named if case.named >= 0 else case.sought
    pieces = [np.flatnonzero(found[1] == word) for word in (case.asked, named)]
    return {
        parameter: int(each[0]) + 1 for parameter, each in zip((TOKEN, KEY_TOKEN), pieces, strict=True) if len(each)
    }
