"""The screen about grammar: which head follows a relation, how often, and whether it does here."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.course.pages import experiment_of, step_name
from lab.course.words import beside, escaped, quoted
from lab.evidence.grammar import accuracy
from lab.evidence.grammar.own_sentence import Case, cases
from lab.evidence.notable import Doing, Notable
from lab.evidence.verdicts import FEW
from lab.lessons.head_specialization import LESSON, figures, meanings
from lab.lessons.head_specialization.relations import show_with_grammar
from lab.lessons.head_specialization.view import say_language
from lab.models.catalogue import twin_of
from lab.models.interventions import Interventions
from lab.text.tags.pipeline import PipelineUnavailable
from lab.text.tags.tokens import parsed
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.frame.script import meaning, try_this, way_to
from lab.ui.parameters import HEAD, LAYER, MODE, STEP, TEXT
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import SHARE, show_table

EXAMPLE = "She gave her brother the book that he wanted."
# Where a head that is wrong in the learner's sentence may be right.
_SHORT = ("She read the book.", "The girl saw a bird in the garden.")
_RELATION = "_relation"
_FIXED, _ALSO = "best fixed distance", "also"


def show_grammar(view: OneHead) -> None:
    """The heads that find a relation, and one of them on the learner's sentence."""
    show_with_grammar(view)
    model = view.trace.model
    if twin_of(model.id) is not None:
        st.info(
            "Random weights have learned no grammar. Choose the trained ones in the sidebar.", icon=":material/info:"
        )
        return
    st.markdown(
        "In *She read the book*, *book* is the **object** of the verb *read*. People have written such relations down "
        "for many sentences. On these a head can be tested: from one of the two words, does it look most at the other? "
        "What goes to special tokens, and to the word itself, does not count."
    )
    known = runs.head_jobs(model)
    if known is None:
        st.info(
            f"What the heads of {escaped(model.id)} find is not measured yet. Press “Find what each head does” in the "
            "sidebar; it takes a minute.",
            icon=":material/search:",
        )
        return
    found = meanings.grammatical(known)
    if not found:
        st.info(
            f"No head of {escaped(model.id)} finds one of these relations clearly more often than a fixed distance "
            "does.",
            icon=":material/info:",
        )
        return
    _table(found)
    try:
        runs.load_tagger()
        tagged = parsed(view.trace)
    except PipelineUnavailable as error:
        st.warning(escaped(str(error)), icon=":material/extension_off:")
        return
    say_language(view.trace)
    here = [cases(view.trace, tagged, each.job, each.heads[0]) for each in found]
    at = _relation(found, here)
    _on_this_text(view, found[at], here[at])
    code(accuracy.named_words, accuracy.between_words)


def _table(found: tuple[Notable, ...]) -> None:
    rows = [
        {
            "what it does": each.job.does,
            "best head": each.heads[0].name,
            "right": each.heads[0].score,
            _FIXED: each.chance,
            _ALSO: ", ".join(f"{doing.name} ({doing.score:.0%})" for doing in each.heads[1:]),
        }
        for each in found
    ]
    percent = dict.fromkeys(("right", _FIXED), SHARE)
    show_table(pd.DataFrame(rows), formats=percent)
    st.caption(
        "Measured on UD English EWT, sentences that the lab’s own models were not trained on. Head 3-1 is head 1 of "
        "layer 3. A head that finds the object of a verb starts from the verb; one that finds the verb of an object, "
        "from the object. Best fixed distance: a rule that always takes the word at one distance, of all distances the "
        "best; it is right equally often in both directions. Only heads "
        f"at least 10 points above it are listed, of relations with {FEW} cases or more. The best of many heads is "
        "picked on the same sentences, which flatters it a little; the experiment chooses on one half and measures on "
        "the other."
    )
    way_to("The experiment", experiment_of("grammar"))


def _relation(found: tuple[Notable, ...], here: list[tuple[Case, ...]]) -> int:
    """Which relation is drawn; before anybody chose, the first whose best head is right here, or has a case at all."""
    names = [each.job.does for each in found]
    start = max(range(len(here)), key=lambda at: (any(case.right for case in here[at]), bool(here[at]), -at))
    chosen = st.selectbox("Draw the best head that …", names, start, key=_RELATION)
    return names.index(chosen) if chosen in names else 0


def _on_this_text(view: OneHead, each: Notable, here: tuple[Case, ...]) -> None:
    """The best head's map with one pair outlined, and every pair of the text."""
    doing = each.heads[0]
    if here:
        first = next((case for case in here if case.right), here[0])
        draw(partial(figures.others_map, view.trace, doing.layer, doing.head, first.query, first.key), "grammar-map")
        st.caption(_what_is_drawn(view, doing, first))
        _cases(here)
    meaning(meanings.grammar(each, doing, here))
    shows = None if any(case.right for case in here) else _sentence_for(view, each)
    if shows is not None:
        try_this("A sentence in which this head is right.", "Take that sentence", {MODE: MODE.default, TEXT: shows})
    elif here:
        try_this(
            "Look at the same head on the radar. Does any axis say what it finds?",
            f"Open head {doing.name} on the radar",
            {LAYER: doing.layer + 1, HEAD: doing.head + 1, STEP: step_name(LESSON, "radar")},
        )
    else:
        try_this(
            "A sentence with objects, subjects and prepositions.",
            "Take that sentence",
            {MODE: MODE.default, TEXT: EXAMPLE},
        )


def _what_is_drawn(view: OneHead, doing: Doing, case: Case) -> str:
    """What the map leaves out, and how much that is in the row of a case."""
    found = figures.to_others(view.trace, doing.layer, doing.head)
    left = float(found.given[found.of_token[case.query]].sum())
    special = "special tokens and " if any(view.trace.encoding.special) else ""
    return (
        f"Left out is what a word gives {special}itself; each row is divided by what is left. In the row of "
        f"{quoted(case.asked)} that is {beside(left, 0.0)} of 1."
    )


def _sentence_for(view: OneHead, each: Notable) -> str | None:
    """The first of a few sentences in which the best head of a job is right; None where it is in none."""
    for text in (*_SHORT, EXAMPLE):
        traced = runs.run(view.trace.model.id, text, "", Interventions())
        if any(case.right for case in cases(traced, parsed(traced), each.job, each.heads[0])):
            return text
    return None


def _cases(here: tuple[Case, ...]) -> None:
    table = pd.DataFrame(
        {
            "from": [case.asked for case in here],
            "should find": [case.sought for case in here],
            "looks most at": [case.named for case in here],
            "": ["right" if case.right else "wrong" for case in here],
        }
    )
    show_table(table)
