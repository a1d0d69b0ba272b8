"""Grammar: a head that finds the subject where a simple rule fails, and how often both are right in a treebank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.one_row import attention_map
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.pages import experiment_of
from lab.course.sentences.examples import ATTRACTIONS
from lab.course.words import escaped, head_name, quoted
from lab.evidence import relation_cases
from lab.evidence.kind_rules import in_words, shipped
from lab.evidence.notable import Notable
from lab.evidence.notable import shipped as shipped_jobs
from lab.evidence.own_sentence import Case, cases
from lab.evidence.verdicts import CLARK
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization.relations import show_with_grammar, to_others
from lab.lessons.head_specialization.view import show_language
from lab.models.catalogue import DEFAULT_MODEL, twin_of
from lab.models.encoding import BLANK, MASK
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet, derivable
from lab.text.tags.pipeline import PipelineUnavailable
from lab.text.tags.token_tags import parsed
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.parameters import TOKEN
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, way_to
from lab.ui.shared.one_head import OneHead

# The step's own example: the first of six sentences in which a noun of the other number is nearer to the verb.
KEYS = ATTRACTIONS[0].filled(MASK)
SUBJECT = "nsubj:dependent"
CLAIM_KEYS = """
A verb must fit its subject: *the keys … are*. The noun *cabinet* is nearer. Here the verb is hidden, and from its
place, head **5-11** gives *keys* {weight:.2f} of its attention to other words. In all six such sentences of the lab,
this head looks most at the subject, not at the nearer noun. Has it learned grammar?"""
CLAIM = """
Green arcs are grammar. The best head of this model that {does} is **{head}**. A simple rule for the same takes
**{rule}**."""
READING = """
In a treebank, {head} {does} in **{score:.0f}** of 100 cases, a rule that counts places in {chance:.0f}, and the rule by
kinds of words in **{kinds:.0f}**."""
CASE = "In this sentence, from {asked}, it looks most at {named} of all other words{sought}."
NO_CASE = "This sentence has no such pair."
STORY = """
So over many sentences, a rule that knows kinds of words is right more often. In the six sentences of the lab, which
were written so that this rule fails, the head is right six times, and the rule never. So the head does something else
than the rule. A score alone does not show this; sentences in which the two differ do."""
CHOSEN = """
Strong bars: the best heads; weak bars: the rule by kinds of words. The heads were chosen and measured on all of UD
English EWT (dev), a collection of parsed sentences (a treebank), so their scores are a bit too good. The rules were
chosen on one half and measured on the other. (For a treebank, the subject belongs to the predicate, which is a verb in
three of four cases.)"""
_RELATION = "_relation"
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


def show(view: OneHead) -> None:
    """Show one case of a head for a relation; after the question, how often heads and two rules find each relation."""
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
    at, keys = _chosen_relation(view, found, here), is_keys(view.trace)
    each, doing = found[at], found[at].heads[0]
    shown = clearest(view.trace, each, here[at])
    query = view.query if TOKEN.chosen() or shown is None else shown.query
    show_with_grammar(view, query, (doing.layer, doing.head))
    show_language(view.trace)
    keys = keys and each.job.id == SUBJECT
    say(claim_of_keys(view) if keys else claim(each))
    if predict(LESSON, beats_kinds()):
        # Jobs that a visitor had measured are on this server only; jobs that ship with a model are in every copy.
        ships = shipped_jobs(view.trace.model) is not None
        draw(jobs(found, at), "jobs", again=partial(known_jobs, view.trace.model, at) if ships else None)
        told = reading(each, here[at], shown)
        meaning(f"{told.removesuffix(NO_CASE).strip()} {STORY}" if keys else told)
        caption(CHOSEN)
        st.selectbox("Another job: the head that …", [one.job.does for one in found], at, key=_RELATION)
        way_to("The experiment", experiment_of("grammar"))
    code(relation_cases.named_words, relation_cases.between_words)


def grammatical(found: tuple[Notable, ...] | None) -> tuple[Notable, ...]:
    """The jobs of a model's heads that are relations of grammar."""
    return tuple(each for each in found or () if each.job.grammatical)


def is_keys(trace: Trace) -> bool:
    """Return whether a run is the step's own example, in the default model and unchanged."""
    told = trace.model.id == DEFAULT_MODEL and trace.interventions.changes_nothing
    return told and trace.text == KEYS and trace.pair is None


def reading(each: Notable, here: tuple[Case, ...], shown: Case | None) -> str:
    """State how often a head and two rules find a relation, and what the head finds in the pair on screen."""
    doing = each.heads[0]
    told = READING.format(
        head=head_name((doing.layer, doing.head)),
        does=each.job.does,
        score=100 * doing.score,
        chance=100 * (each.chance or 0.0),
        kinds=100 * shipped()[each.job.id].share,
    ).strip()
    if shown is None or not here:
        return f"{told} {NO_CASE}"
    if not shown.named:
        return told
    sought = "" if shown.right else f", not at {quoted(shown.sought)}"
    return f"{told} {CASE.format(asked=quoted(shown.asked), named=quoted(shown.named), sought=sought)}"


def jobs(found: Sequence[Notable], chosen: int) -> Figure:
    """Draw how often the best head finds each relation, and below it, in a weak colour, the rule by kinds of words.

    ``chosen`` is the index of a relation, from 0, which comes first.
    """
    order = [found[chosen], *(each for at, each in enumerate(found) if at != chosen)]
    labels = [label for each in order for label in (_BETWEEN[each.job.id], "kinds of words")]
    rules = shipped()
    values = np.ravel([(each.heads[0].score, rules[each.job.id].share) for each in order])
    heads_of = [each.heads[0].name for each in order]
    drawn = bars(
        labels,
        values,
        Scale("Share of cases that are right", (0.0, 1.0), ".2f"),
        title="How often the best head finds the right word",
        highlight=range(0, len(labels), 2),
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


@asks(
    basis=bet(
        "The head has learned grammar, so it beats a rule that knows only kinds of words.",
        "In most sentences, the nearest noun before a verb is its subject.",
    ),
    hint="How often does another noun come between a subject and its verb?",
)
def beats_kinds() -> Question:
    """Ask whether the head for subjects is right more often than a rule by kinds of words."""
    return Question(
        "beats-kinds",
        "In a treebank of many sentences, head 5-11 of lab-minilm and a rule look for the subject of a verb. The "
        "rule takes the nearest noun or pronoun to the left. Which of the two is right more often?",
        (
            Option(
                "The head",
                "It is right in 68 of 100 cases, the rule in 81: the sentence of the keys was written so that the "
                "rule fails.",
            ),
            Option(
                "Both alike: the head looks at the nearest noun",
                "In the sentence of the keys, it does not: *cabinet* is nearer than *keys*.",
            ),
            Option(
                "The rule",
                "It is right in 81 of 100 cases, the head in 68. Mostly, the nearest noun is the subject.",
                correct=True,
            ),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "grammar", "the bars of a head and of a fixed distance"),
    hint="What does a rule know if it always chooses the word at one distance?",
)
def same_as_distance() -> Question:
    """Ask what a score shows if a rule without any grammar reaches this score, too. The numbers are published."""
    found = next(each for each in CLARK if each.name == "nn")
    head, rule = (f"{100 * share:.1f}" for share in (found.accuracy, found.offset))
    return Question(
        "same-as-distance",
        f"In *dog food*, *dog* belongs to *food*. In BERT base, the best head for such pairs is right in {head} of 100 "
        f"cases, and the rule “always the next word” is right in {rule} (Clark et al. 2019). What do the two numbers "
        f"show "
        "together?",
        (
            Option(
                "The head may only look at the next word",
                f"A rule without grammar reaches {rule} as well, so {head} needs no grammar.",
                correct=True,
            ),
            Option(
                "The head knows which nouns belong together",
                f"A high score looks like knowledge. But a rule that only counts places is right in {rule} cases, too.",
            ),
            Option(
                "The model does not know which nouns belong together",
                "One head does not speak for the model. Other heads may know this, or the vectors may contain it.",
            ),
        ),
        mixed=True,
    )


def claim(each: Notable) -> str:
    """Name the best head for a relation, and the rule by kinds of words."""
    doing, rule = each.heads[0], shipped()[each.job.id].rule
    head = head_name((doing.layer, doing.head))
    return CLAIM.format(does=each.job.does, head=head, rule=in_words(rule))


def claim_of_keys(view: OneHead) -> str:
    """Say where the head for subjects looks from the hidden verb of the step's example."""
    weights = to_others(view.trace, 4, 10).of_tokens
    at, keys = (view.trace.labels.index(each) for each in (BLANK, "keys"))
    return CLAIM_KEYS.format(weight=weights[at, keys])


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
    """Return the chosen relation; in the example that of subjects; else the first that its head finds here."""
    names = [each.job.does for each in found]
    if (chosen := st.session_state.get(_RELATION)) in names:
        return names.index(chosen)
    ids = [each.job.id for each in found]
    if is_keys(view.trace) and SUBJECT in ids:
        return ids.index(SUBJECT)
    return max(range(len(here)), key=lambda at: (any(case.right for case in here[at]), bool(here[at]), -at))


def clearest(trace: Trace, each: Notable, here: tuple[Case, ...]) -> Case | None:
    """The pair that is drawn: of the pairs that the head finds, or of all pairs if it finds none, the heaviest."""
    doing = each.heads[0]
    weights = attention_map(trace.layer(doing.layer), doing.head)
    return max(here, key=lambda case: (case.right, float(weights[case.query, case.key])), default=None)
