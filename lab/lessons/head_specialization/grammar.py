"""The screen about grammar: how often a head finds a relation in many sentences, and whether it does in this one."""

from __future__ import annotations

from functools import partial

import pandas as pd
import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.course.pages import experiment_of
from lab.course.sentences.looks import look_head
from lab.course.words import escaped, head_name, mostly, quoted, resting_place
from lab.evidence import relation_cases
from lab.evidence.notable import Notable
from lab.evidence.own_sentence import Case, cases
from lab.evidence.verdicts import FEW
from lab.lessons.head_specialization import LESSON, checks, figures, meanings
from lab.lessons.head_specialization.relations import show_with_grammar
from lab.lessons.head_specialization.view import say_language
from lab.models.catalogue import DEFAULT_MODEL, twin_of
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.text.tags.pipeline import PipelineUnavailable
from lab.text.tags.tokens import parsed
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.frame.closing import meaning, try_this, way_to
from lab.ui.parameters import DEFAULT_TEXT, HEAD, LAYER, MODE, TEXT, TOKEN
from lab.ui.quiz.predictions import predict
from lab.ui.shared.head_jobs import show_head_jobs
from lab.ui.shared.one_head import OneHead
from lab.ui.tables import show_table
from lab.ui.terms import say

# Sentences to offer if the head is wrong in the learner's sentence.
_SHORT = ("She read the book.", "The girl saw a bird in the garden.")
_RELATION = "_relation"
# Each relation of Universal Dependencies as a sentence about two words.
_IN_WORDS = {
    "obj": "{dependent} is the object of {head}",
    "nsubj": "{dependent} is the subject of {head}",
    "det": "{dependent} belongs to {head}",
    "case": "{dependent} belongs to {head}",
}


def show_grammar(view: OneHead) -> None:
    """Show how often a head, and a rule that only counts places, find a relation, and one case in this sentence."""
    found = _measured(view)
    if not found:
        show_with_grammar(view, view.query, (view.layer.index, view.head))
        return
    try:
        runs.load_tagger()
        tagged = parsed(view.trace)
    except PipelineUnavailable as error:
        show_with_grammar(view, view.query, (view.layer.index, view.head))
        st.warning(escaped(str(error)), icon=":material/extension_off:")
        return
    here = [cases(view.trace, tagged, each.job, each.heads[0]) for each in found]
    at = _relation(view, found, here)
    each, doing, own = found[at], found[at].heads[0], here[at]
    shown = _clearest(view, each, own)
    query = view.query if TOKEN.chosen() or shown is None else shown.query
    show_with_grammar(view, query, (doing.layer, doing.head))
    say_language(view.trace)
    say(_the_claim(view, each, shown))
    if predict(LESSON, checks.beats_the_rule(each)):
        draw(figures.jobs(found, at), "jobs")
        st.caption("Strong bars show the best head for each relation; weak bars show the rule of one distance.")
        meaning(meanings.grammar(each, doing, own, shown))
        st.caption(_flattered(view.trace.model, (doing.layer, doing.head)))
        st.selectbox("Another job: the head that …", [one.job.does for one in found], at, key=_RELATION)
        _try(view, each, own)
        _folds(view, found, each, own)
        way_to("The experiment", experiment_of("grammar"))
    code(relation_cases.named_words, relation_cases.between_words)


def _flattered(model: LoadedModel, head: Head) -> str:
    """Warn that picking the best head flatters it; for the head of lesson 3, recall what it did there."""
    said = "The lab chose this head as the best of all heads on the same sentences, so its score is a little too good."
    if model.id != DEFAULT_MODEL or head != look_head(runs.run(model.id, DEFAULT_TEXT, "", Interventions())):
        return said
    also = "It also does other things: in lesson 3 it looked from *he* at *brother*, which no rule of grammar asks for."
    return f"{said} {also}"


def _measured(view: OneHead) -> tuple[Notable, ...]:
    """The relations that heads of this model find; if there are none, the reason is on screen."""
    model = view.trace.model
    if twin_of(model.id) is not None:
        st.info(
            "Random weights have learned no grammar. Choose the trained weights in the sidebar.", icon=":material/info:"
        )
        return ()
    known = runs.head_jobs(model)
    if known is None:
        st.info(
            f"Nobody has yet measured what the heads of {escaped(model.id)} find. Press “Find what each head does” in "
            "the sidebar; it takes a minute.",
            icon=":material/search:",
        )
        return ()
    found = meanings.grammatical(known)
    if not found:
        st.info(
            f"No head of {escaped(model.id)} finds one of these relations clearly more often than the rule that only "
            "counts places.",
            icon=":material/info:",
        )
    return found


def _relation(view: OneHead, found: tuple[Notable, ...], here: list[tuple[Case, ...]]) -> int:
    """Return the chosen relation, else the relation of the learner's head, else the first that its head finds here."""
    names = [each.job.does for each in found]
    if (chosen := st.session_state.get(_RELATION)) in names:
        return names.index(chosen)
    own = (view.layer.index, view.head)
    for at, each in enumerate(found):
        if own in [(doing.layer, doing.head) for doing in each.heads[:1]]:
            return at
    return max(range(len(here)), key=lambda at: (any(case.right for case in here[at]), bool(here[at]), -at))


def _clearest(view: OneHead, each: Notable, here: tuple[Case, ...]) -> Case | None:
    """The pair that is drawn: of the pairs that the head finds, or of all pairs if it finds none, the heaviest."""
    doing = each.heads[0]
    weights = attention_map(view.trace.layer(doing.layer), doing.head)
    return max(here, key=lambda case: (case.right, float(weights[case.query, case.key])), default=None)


def _the_claim(view: OneHead, each: Notable, case: Case | None) -> str:
    """Say which word the head should find, with a pair from this sentence if there is one."""
    relation, end = each.job.id.split(":")
    told = "The green arcs are grammar. "
    if case is not None:
        dependent, head = (case.asked, case.sought) if end == "head" else (case.sought, case.asked)
        pair = _IN_WORDS[relation].format(dependent=quoted(dependent), head=quoted(head))
        told += f"Here {pair}. {_not_counted(view, each, case)}"
    doing = each.heads[0]
    return (
        f"{told}Does a head **{_infinitive(each.job.does)}** in any sentence? The best candidate is "
        f"{head_name((doing.layer, doing.head))}. In sentences whose grammar people have annotated, a rule that always "
        f"chooses one place, such as the word before, is right in {meanings.in_100(each.chance or 0.0)} cases."
    )


def _infinitive(does: str) -> str:
    """Return the job as an infinitive: "find the subject of a verb"."""
    return does.replace("finds ", "find ", 1)


def _not_counted(view: OneHead, each: Notable, case: Case) -> str:
    """Say which share of the first word's attention the arcs leave out."""
    doing = each.heads[0]
    found = figures.to_others(view.trace, doing.layer, doing.head)
    left = 1 - float(found.given[found.of_token[case.query]].sum())
    where = f"{resting_place(view.trace)} and to the word itself" if any(view.trace.encoding.special) else "itself"
    return f"The blue arcs leave out the {mostly(left)} that {quoted(case.asked)} gives to {where}. "


def _try(view: OneHead, each: Notable, here: tuple[Case, ...]) -> None:
    """Offer a sentence in which the head is right, if it is not right in the learner's; otherwise offer the head."""
    doing = each.heads[0]
    if not here:
        why, text = "a sentence with objects, subjects and prepositions.", DEFAULT_TEXT
        try_this(why, "Take that sentence", {MODE: MODE.default, TEXT: text})
    elif not any(case.right for case in here):
        shows = _sentence_for(view, each)
        if shows is not None:
            try_this("a sentence in which this head is right.", "Take that sentence", {MODE: MODE.default, TEXT: shows})
    else:
        name = head_name((doing.layer, doing.head))
        try_this(
            "take this head along to the next steps.", f"Open {name}", {LAYER: doing.layer + 1, HEAD: doing.head + 1}
        )


def _sentence_for(view: OneHead, each: Notable) -> str | None:
    """Return the first of a few sentences in which the best head for a job is right.

    Returns None if the head is wrong in all.
    """
    for text in (*_SHORT, DEFAULT_TEXT):
        traced = runs.run(view.trace.model.id, text, "", Interventions())
        if any(case.right for case in cases(traced, parsed(traced), each.job, each.heads[0])):
            return text
    return None


def _folds(view: OneHead, found: tuple[Notable, ...], each: Notable, here: tuple[Case, ...]) -> None:
    """Draw, folded, every pair of this sentence with the head's map, and every relation of the model."""
    if here:
        with st.expander("Every pair in your sentence", icon=":material/table:", on_change="rerun", key="_pairs") as x:
            if x.open:
                _show_pairs(view, each, here)
    with st.expander("Every relation, and how it was measured", on_change="rerun", key="_relations") as relations:
        if relations.open:
            _show_table(found)


def _show_pairs(view: OneHead, each: Notable, here: tuple[Case, ...]) -> None:
    """Show the pairs of a relation in the text, the word that the head names for each, and its map among words."""
    table = pd.DataFrame(
        {
            "from": [case.asked for case in here],
            "should find": [case.sought for case in here],
            "looks most at": [case.named for case in here],
            "": ["right" if case.right else "wrong" for case in here],
        }
    )
    show_table(table)
    case, doing = _clearest(view, each, here), each.heads[0]
    assert case is not None  # there are pairs
    if said := meanings.too(case):
        say(said)
    draw(partial(figures.others_map, view.trace, doing.layer, doing.head, case.query, case.key), "grammar-map")
    special = "special tokens and to " if any(view.trace.encoding.special) else ""
    st.caption(f"The attention of a word to {special}itself is left out, and each row is divided by its remaining sum.")


def _show_table(found: tuple[Notable, ...]) -> None:
    """Draw one row per relation: the best head, the rule, and other heads that find the relation."""
    show_head_jobs(found, score="right", chance="best fixed distance")
    st.caption(
        "Measured on UD English EWT, on sentences that the lab’s own models were not trained on. Head 3-1 is head 1 "
        "of layer 3. The best of all fixed distances is shown. Only heads that are at least 10 points above that rule "
        f"are listed, for relations with at least {FEW} cases. The experiment chooses heads on one half of the "
        "sentences and measures them on the other."
    )
