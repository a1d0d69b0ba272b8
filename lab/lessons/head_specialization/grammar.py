"""Grammar: how often a head finds the word that grammar asks for, beside two rules without grammar."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.attention import attention_map
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.pages import experiment_of
from lab.course.words import escaped, head_name, listed, mostly, number_of, quoted, resting_place
from lab.evidence import relation_cases
from lab.evidence.kind_rules import in_words, shipped
from lab.evidence.notable import JOBS, Doing, HeadJob, Notable
from lab.evidence.notable import shipped as shipped_jobs
from lab.evidence.own_sentence import Case, cases
from lab.evidence.published import CLARK
from lab.evidence.verdicts import FEW
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.relations import others_map, show_with_grammar, to_others
from lab.lessons.head_specialization.view import begun, show_language
from lab.models.catalogue import twin_of
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import Asking, asks
from lab.questions.basis import bet, derivable
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled
from lab.questions.spot import Spot
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
_NAMED = 3  # number of words that a sentence lists
# The words from and to which a head looks that finds each relation, short enough for an axis.
_BETWEEN = {
    "obj:head": "object → verb",
    "obj:dependent": "verb → object",
    "nsubj:head": "subject → verb",
    "nsubj:dependent": "verb → subject",
    "det:head": "the → noun",
    "det:dependent": "noun → the",
    "case:head": "in → noun",
    "case:dependent": "noun → in",
}


def grammatical(found: tuple[Notable, ...] | None) -> tuple[Notable, ...]:
    """The jobs of a model's heads that are relations of grammar."""
    return tuple(each for each in found or () if each.job.grammatical)


def in_100(share: float) -> str:
    """Write a share as a count: “68 of 100”."""
    return f"{100 * share:.0f} of 100"


def said(each: Notable, doing: Doing, here: tuple[Case, ...], shown: Case | None = None) -> str:
    """Say how often a head and a rule find a relation over many sentences, and how often the head does in this one.

    ``shown`` is the pair of this text that is drawn; if it is None, the first pair that is right is named.
    """
    name = begun(head_name((doing.layer, doing.head)))
    kinds = shipped()[each.job.id].share
    many = (
        f"{name} {each.job.does} in {in_100(doing.score)} cases. A rule that only counts places is right in "
        f"{in_100(each.chance or 0.0)}, and a rule that knows kinds of words is right in "
        f"**{in_100(kinds)}**{_so(doing.score, kinds)}"
    )
    if not here:
        return f"{many} Your sentence has no such pair."
    right = [case for case in here if case.right]
    case = shown or (right or list(here))[0]
    told = (
        f"from {quoted(case.asked)}, of all other words, it looks most at {quoted(case.named)}"
        if case.named
        else "it sees no other word"
    )
    verdict = "" if case.right else f", not at {quoted(case.sought)}"
    return f"{many} In your sentence it is right {len(right)} of {number_of(len(here), 'time')}: {told}{verdict}."


def _so(head: float, kinds: float) -> str:
    """Say what follows if the rule by kinds of words is at least as good as the head."""
    if head < kinds - MARGIN:
        return ". So what looks like grammar may be kinds of words and nearness."
    return "." if head > kinds + MARGIN else ", which is about as often as the head."


def too(case: Case) -> str:
    """Name the words that also look at the right word, though the job is not about them; "" if there are none."""
    if not case.right or not case.too:
        return ""
    rest = len(case.too) - _NAMED
    words = [quoted(word) for word in case.too[:_NAMED]] + ([f"{rest} more"] if rest > 0 else [])
    look, them = ("looks", "it") if len(case.too) == 1 else ("look", "them")
    return (
        f"But {listed(words)} {look} most at {quoted(case.sought)}, too, although the relation does not concern "
        f"{them}. So this sentence alone shows no grammar."
    )


def jobs(found: Sequence[Notable], chosen: int) -> Figure:
    """Draw how often the best head finds each relation, and below it, in weak colours, the two rules without grammar.

    ``chosen`` is the index of a relation, from 0, which comes first.
    """
    order = [found[chosen], *(each for at, each in enumerate(found) if at != chosen)]
    labels = [label for each in order for label in (_BETWEEN[each.job.id], "kinds of words", "same distance")]
    rules = shipped()
    values = np.ravel([(each.heads[0].score, rules[each.job.id].share, each.chance) for each in order])
    heads_of = [each.heads[0].name for each in order]
    drawn = bars(
        labels,
        values,
        Scale("Share of cases that are right", (0.0, 1.0), ".2f"),
        title="How often the best head finds the right word",
        highlight=range(0, len(labels), 3),
    )
    columns = {
        "head": heads_of,
        "right": [each.heads[0].score for each in order],
        "rule by kinds of words": [rules[each.job.id].share for each in order],
        "best fixed distance": [each.chance for each in order],
    }
    return replace(drawn, table=partial(pd.DataFrame, columns, [each.job.does for each in order]))


def known_jobs(model: LoadedModel, chosen: int) -> Figure:
    """:func:`jobs` of the heads that ship with a model."""
    return jobs(grammatical(shipped_jobs(model) or ()), chosen)


def _beats_kinds(job: HeadJob) -> Asking:
    """Return what asks whether a model's best head for a job is right more often than the rule by kinds of words."""

    @asks(
        basis=bet(
            "The head has learned grammar, so it beats a rule that knows only kinds of words.",
            "Kinds of words and nearness are enough, so the rule is right at least as often.",
        ),
        hint="Which nouns are near a verb? Which of these nouns is its subject?",
    )
    def beats_kinds(spot: Spot) -> Question | None:
        found = next((each for each in shipped_jobs(spot.trace.model) or () if each.job == job), None)
        return None if found is None else against_kinds(found)

    return beats_kinds


def against_kinds(each: Notable) -> Question | None:
    """Ask which is right more often, the best head for a job or the rule by kinds of words; None if neither leads."""
    score, rule = each.heads[0].score, shipped()[each.job.id]
    if abs(score - rule.share) < MARGIN:
        return None
    why = f"The head is right in {in_100(score)} cases, and the rule is right in {in_100(rule.share)}."
    outcomes = {
        "The head: it has learned some grammar": score > rule.share,
        "The rule: kinds of words and nearness are enough": score < rule.share,
    }
    return which_holds("beats-kinds", "Which is right more often, the head or the rule?", why, outcomes)


# The question about each job of grammar, by the job's id.
BY_JOB = {job.id: _beats_kinds(job) for job in JOBS if job.grammatical}


@asks(
    basis=derivable(LESSON, "grammar", "the bars of a head and of a fixed distance"),
    hint="What does a rule know if it always chooses the word at one distance?",
)
def same_as_distance(spot: Spot) -> Question | None:
    """Ask what a score shows if a rule without any grammar reaches this score, too. The numbers are published."""
    found = next(each for each in CLARK if each.name == "nn")
    head, rule = (f"{100 * share:.1f}" for share in (found.accuracy, found.offset))
    return shuffled(
        "same-as-distance",
        f"In *dog food*, *dog* belongs to *food*. In BERT base, the best head for such pairs is right in {head} of "
        f"100 cases, and the rule “always the next word” is right in {rule} (Clark et al. 2019). What do the two "
        "numbers show together?",
        (
            Option(
                "The head may only look at the next word",
                f"A rule without grammar reaches {rule} as well, so {head} needs no grammar.",
                correct=True,
            ),
            Option(
                "The head knows which nouns belong together",
                f"You took a high score for knowledge. But a rule that only counts places is also right in {rule} "
                "cases.",
            ),
            Option(
                "The model does not know which nouns belong together",
                "You judged the whole model by one head. Other heads may know this, or the vectors may contain it.",
            ),
        ),
    )


def show(view: OneHead) -> None:
    """Show how often a head and two rules find a relation, and one case in this sentence."""
    found = _look_for_jobs(view)
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
    at = _chosen_relation(view, found, here)
    each, doing, own = found[at], found[at].heads[0], here[at]
    shown = clearest(view.trace, each, own)
    query = view.query if TOKEN.chosen() or shown is None else shown.query
    show_with_grammar(view, query, (doing.layer, doing.head))
    show_language(view.trace)
    say(claim(view.trace, each, shown))
    if predict(LESSON, BY_JOB[each.job.id](view.spot)):
        # Jobs that a visitor had measured are on this server only; jobs that ship with a model are in every copy.
        ships = shipped_jobs(view.trace.model) is not None
        draw(jobs(found, at), "jobs", again=partial(known_jobs, view.trace.model, at) if ships else None)
        st.caption(
            "Strong bars show the best heads. Weak bars show the rule by kinds of words, and a rule that always takes "
            "one distance. The lab chose the head on these same sentences, so its score is a bit too good."
        )
        meaning(said(each, doing, own, shown))
        st.selectbox("Another job: the head that …", [one.job.does for one in found], at, key=_RELATION)
        _show_another(view, each, own)
        _show_folds(view, found, each, own)
        way_to("The experiment", experiment_of("grammar"))
    code(relation_cases.named_words, relation_cases.between_words)


def _look_for_jobs(view: OneHead) -> tuple[Notable, ...]:
    """The relations that heads of this model find; if there are none, the reason is on screen."""
    model = view.trace.model
    if twin_of(model.id) is not None:
        st.info(
            "A model with random weights has learned no grammar. Choose the trained weights in the sidebar.",
            icon=":material/info:",
        )
        return ()
    known = runs.head_jobs(model)
    if known is None:
        st.info(
            f"Nobody has yet measured what the heads of {escaped(model.id)} can find. Press “Find what each head "
            "does” in the sidebar. This takes a minute.",
            icon=":material/search:",
        )
        return ()
    found = grammatical(known)
    if not found:
        st.info(
            f"No head of {escaped(model.id)} finds one of these relations clearly more often than the rule that only "
            "counts places.",
            icon=":material/info:",
        )
    return found


def _chosen_relation(view: OneHead, found: tuple[Notable, ...], here: list[tuple[Case, ...]]) -> int:
    """Return the chosen relation, else the relation of the learner's head, else the first that its head finds here."""
    names = [each.job.does for each in found]
    if (chosen := st.session_state.get(_RELATION)) in names:
        return names.index(chosen)
    own = (view.layer.index, view.head)
    for at, each in enumerate(found):
        if own in [(doing.layer, doing.head) for doing in each.heads[:1]]:
            return at
    return max(range(len(here)), key=lambda at: (any(case.right for case in here[at]), bool(here[at]), -at))


def clearest(trace: Trace, each: Notable, here: tuple[Case, ...]) -> Case | None:
    """The pair that is drawn: of the pairs that the head finds, or of all pairs if it finds none, the heaviest."""
    doing = each.heads[0]
    weights = attention_map(trace.layer(doing.layer), doing.head)
    return max(here, key=lambda case: (case.right, float(weights[case.query, case.key])), default=None)


def claim(trace: Trace, each: Notable, case: Case | None) -> str:
    """Say which word the head should find, with a pair from this sentence if there is one, and name the rules."""
    relation, end = each.job.id.split(":")
    told = "Green arcs are grammar. "
    if case is not None:
        dependent, head = (case.asked, case.sought) if end == "head" else (case.sought, case.asked)
        pair = _IN_WORDS[relation].format(dependent=quoted(dependent), head=quoted(head))
        told += f"Here {pair}. {not_counted(trace, each, case)}"
    doing, rule = each.heads[0], shipped()[each.job.id].rule
    return (
        f"{told}Is there a head that **{each.job.does}**? The best candidate is "
        f"{head_name((doing.layer, doing.head))}. A simple rule knows only kinds of words: it takes "
        f"**{in_words(rule)}**."
    )


def not_counted(trace: Trace, each: Notable, case: Case) -> str:
    """Say which share of the first word's attention the arcs leave out."""
    doing = each.heads[0]
    found = to_others(trace, doing.layer, doing.head)
    left = 1 - float(found.given[found.of_token[case.query]].sum())
    where = f"{resting_place(trace)} and to itself" if any(trace.encoding.special) else "itself"
    return f"Blue arcs leave out the {mostly(left)} that {quoted(case.asked)} gives to {where}. "


def _show_another(view: OneHead, each: Notable, here: tuple[Case, ...]) -> None:
    """Offer a sentence in which the head is right, if it is not right in the learner's; otherwise offer the head."""
    doing = each.heads[0]
    if not here:
        why, text = "a sentence with objects, subjects and prepositions.", DEFAULT_TEXT
        try_this(why, "Take that sentence", {MODE: MODE.default, TEXT: text})
    elif not any(case.right for case in here):
        shows = _look_for_sentence(view, each)
        if shows is not None:
            try_this("a sentence in which this head is right.", "Take that sentence", {MODE: MODE.default, TEXT: shows})
    else:
        name = head_name((doing.layer, doing.head))
        try_this(
            "take this head along to the next steps.", f"Open {name}", {LAYER: doing.layer + 1, HEAD: doing.head + 1}
        )


def _look_for_sentence(view: OneHead, each: Notable) -> str | None:
    """Return the first of a few sentences in which the best head for a job is right.

    Returns None if the head is wrong in all.
    """
    for text in (*_SHORT, DEFAULT_TEXT):
        traced = runs.run(view.trace.model.id, text, "", Interventions())
        if any(case.right for case in cases(traced, parsed(traced), each.job, each.heads[0])):
            return text
    return None


def _show_folds(view: OneHead, found: tuple[Notable, ...], each: Notable, here: tuple[Case, ...]) -> None:
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
    case, doing = clearest(view.trace, each, here), each.heads[0]
    assert case is not None  # there are pairs
    if said := too(case):
        say(said)
    draw(partial(others_map, view.trace, doing.layer, doing.head, case.query, case.key), "grammar-map")
    special = "special tokens and to " if any(view.trace.encoding.special) else ""
    st.caption(
        f"The lab leaves out the attention of a word to {special}itself, and divides each row by its remaining sum."
    )


def _show_table(found: tuple[Notable, ...]) -> None:
    """Draw one row per relation: the best head, the rule, and other heads that find the relation."""
    show_head_jobs(found, score="right", chance="best fixed distance")
    st.caption(
        "The scores were measured on sentences of UD English EWT on which the lab’s own models were not trained. "
        "Head 3-1 is head 1 of layer 3. The table shows the best of all fixed distances. It lists only heads that "
        f"are at least 10 points above that rule, for relations with at least {FEW} cases. The experiment chooses "
        "heads on one half of the sentences and measures them on the other."
    )
