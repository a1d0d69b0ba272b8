"""The sentences behind a number: some in which the chosen head is right, and some in which it is wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import streamlit as st

from lab.course.words import escaped
from lab.evidence.relation_cases import encode_words
from lab.evidence.treebank import Sentence, halves
from lab.evidence.verdicts import HOLDS
from lab.experiments.grammar.figures import DIRECTIONS
from lab.experiments.grammar.meanings import WORDS
from lab.experiments.grammar.measure import GrammarTest, RelationRow
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.ui import runs
from lab.ui.experiments.page import look_there
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, HEADS, KEY_TOKEN, LAYER, TOKEN, UNITS
from lab.ui.parameters import WORDS as BETWEEN_WORDS

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


def show(model: LoadedModel, found: GrammarTest) -> Trace | None:
    """Draw the choice of a relation, its verdict and its sentences; returns the first sentence's run."""
    rows = {row.relation: row for row in found.rows}
    held = [row for row in found.rows if row.judged.verdict in HOLDS] or list(found.rows)
    best = max(held, key=lambda row: row.lift if np.isfinite(row.lift) else -1).relation
    chosen = st.selectbox(
        "Relation", list(rows), list(rows).index(best), key=_RELATION, format_func=lambda name: f"{name}: {WORDS[name]}"
    )
    row = rows.get(chosen, rows[best])
    st.markdown(
        f"**{row.judged.verdict.value.capitalize()}.** {row.judged.why} Head {row.name}, {DIRECTIONS[row.end]}, "
        f"is right in {row.right} of {row.count} cases." + f" {row.published.note}" * bool(row.published.note)
    )
    st.caption("These are the sentences of half B with 6 to 18 words and without numbers or addresses, shortest first.")
    cases = cases_of(found, row)
    kinds = {
        title: [case for case in cases if case.right == right] for title, right in (("Right", True), ("Wrong", False))
    }
    none = "None of the short sentences is of this kind."
    shown = two_kinds(kinds, lambda case, key: _case(model, row, case, key), "Other sentences", none)
    return runs.run(model.id, shown[0].text, "", Interventions()) if shown else None


def _case(model: LoadedModel, row: RelationRow, case: ShownCase, key: str) -> None:
    with st.container(border=True):
        st.markdown(marked(case))
        words = case.sentence.words
        asked, sought = escaped(words[case.asked]), escaped(words[case.sought])
        said = f"names **{escaped(words[case.named])}**" if case.named >= 0 else "names nothing: it sees no other word"
        st.caption(f"From **{asked}** the head should name **{sought}**; it {said}.")
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
