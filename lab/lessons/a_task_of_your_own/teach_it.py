"""Teach it: the learner labels sentences, and after each one the classifier has learned again."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.tasks import logistic
from lab.analysis.tasks.few_examples import (
    Examples,
    LearningCurve,
    Standing,
    learned,
    of_new,
    partners,
    products_of,
    rise,
    standing,
)
from lab.analysis.tasks.logistic import Array
from lab.analysis.tasks.sentence_vectors import Brief, brief, encoded, middle, together, untrained_together
from lab.charts.base.figure import Figure
from lab.charts.components.teach import TaughtSentence, Teach
from lab.course.sentences.news import BAD, GOOD
from lab.course.words import escaped
from lab.figures.learning_curve import learning_curve
from lab.figures.notebook import argument
from lab.lessons.a_task_of_your_own import LESSON
from lab.lessons.a_task_of_your_own.mark import is_written_about, mark_name
from lab.lessons.a_task_of_your_own.taught import (
    LAB_PAIRS,
    LAB_TEXTS,
    LAB_TRUTH,
    LONGEST,
    LONGEST_LABEL,
    MOST,
    SPLIT,
    VisitLabels,
    added,
    as_file,
    as_kept,
    four_more,
    from_kept,
    lab_examples,
    left_out,
    one_of_each_pair,
    own_examples,
    renamed,
)
from lab.models.encoding import TextError
from lab.models.loading import LoadedModel
from lab.models.twin import untrained_twin
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import selection
from lab.ui.components import mount
from lab.ui.drawing import code, draw, file
from lab.ui.parameters import TAUGHT, TAUGHT_LAB
from lab.ui.play import LessonRun
from lab.ui.quiz.step_questions import ask_beside
from lab.ui.reports import PictureActed, SentencesKept, heard
from lab.ui.screen import caption, meaning, say

IDEA = """
Give a few sentences a **label**. A **classifier** reads one vector of each sentence, the mean of its words in the
middle of the model, and has a weight for each number of this vector. After each label, a new one has learned from all
of them, and says what it thinks of the others. The model does not change."""
READING = "After {labelled} examples, the classifier gets **{right} of {tested}** other sentences right."
COIN = " A coin would get half of them right."
OF_PAIRS = """
After {labelled} examples, the classifier gets **{right} of {tested}** partners right: each is about a thing of which it
has learned the other sentence. Of the sentences about other things, it gets **{others} of {rest}** right.
"""
# Means over a thousand ways to choose, in the course's model; tests compute them again.
ON_PARTNERS, ON_OTHERS, WHOLE_PAIRS, THIRTY, THIRTY_MARK = 10, 15, 16, 25, 24
ELSEWHERE = {"lab-bert": 19, "lab-gpt2": 21}
WRITTEN = f"""
**The thing or the news?** The lab has labelled one sentence of {SPLIT} pairs in 1,000 ways. On average, the classifier
gets {ON_OTHERS} of 20 sentences about other things right: it has learned some of the news. Of 20 partners, it gets
{ON_PARTNERS} right, like a coin: it has learned some of the things, too. With both sentences of ten pairs, it gets
{WHOLE_PAIRS} of 20 others right."""
WHICH_VECTOR = f"""
**Which vector?** From 30 examples, both sentences of 15 pairs, the mean of the words after layer 3 gets
{THIRTY} of 30 others right (in lab-bert {ELSEWHERE["lab-bert"]}, in lab-gpt2 {ELSEWHERE["lab-gpt2"]}), and [CLS] after
the last layer {THIRTY_MARK}. That says nothing about BERT in general: all-MiniLM-L6-v2, from which this model comes,
was trained with the mean of its tokens as a sentence’s vector (Reimers & Gurevych 2019)."""
_STATE, _LIST, _ASKED, _TYPED, _NEW = "_taught_state", "_taught_list", "_taught_asked", "_taught_typed", "_taught_new"
_VECTORS, _TWIN, _WAY = "_taught_vectors", "_taught_twin", "_taught_way"
_LARGEST_TWIN = 200_000_000  # bytes; a larger model is not kept a second time for a learner's own sentences
_FEW = 6  # sentences; with fewer to test it, a share means nothing


def show(view: LessonRun) -> None:
    """Show the list with its labels on the left, and the score of the classifier on the right."""
    say(IDEA)
    lab = TAUGHT.choose("Sentences") == TAUGHT_LAB
    model = view.trace.model
    if lab:
        _show_shortcuts()
    else:
        _choose_readable(model)
        _show_own_controls(model)
    labels = chosen_labels()
    labels = VisitLabels(marks=labels.marks) if lab else VisitLabels(own=labels.own, labels=labels.labels)
    taught = lab_class(model, labels) if lab else chosen_own_class(model, labels)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _show_list(taught, lab)
    with right:
        again = partial(rise_of, model, argument(lab_class if lab else own_class, model, labels))
        _show_learned(model, taught, again)
    asked = lab and ask_beside(LESSON, only_the_thing())
    if asked and taught.examples.ready and is_written_about(model, own=False):
        say(WRITTEN)
        say(WHICH_VECTOR)
    if taught.examples.ready:
        code(logistic.fit)


def _show_learned(model: LoadedModel, taught: Class, again: partial[Figure]) -> None:
    """Draw the curve, say what it means, and let the learner try a new sentence; ``again`` makes the curve again."""
    found = rises(model, taught)
    if found:
        draw(learning_curve(found), "taught", again=again)
        caption(
            "Each point is the mean over many random draws of this number of examples. The band holds four fifths of "
            "the draws."
        )
    meaning(said(taught, standing(taught.products, taught.examples)))
    if not taught.examples.ready:
        return
    text = " ".join(st.text_input("A new sentence", key=_NEW, max_chars=LONGEST).split())
    if text:
        try:
            say(f"The classifier says: {said_of_new(taught, text, model)}.")
        except TextError as error:
            st.info(str(error), icon=":material/edit:")


def _show_list(taught: Class, lab: bool) -> None:
    """Draw the list, whose clicks label; at first it asks what the browser has kept."""
    said_of = learned(taught.products, taught.examples)
    truth = LAB_TRUTH if lab else (None,) * len(taught.texts)
    rows = [
        TaughtSentence(text, mark, None if said_of is None else float(said_of[i]), truth[i])
        for i, (text, mark) in enumerate(zip(taught.texts, taught.examples.marks, strict=True))
    ]
    asks = _ASKED not in st.session_state
    kept = "" if asks or lab else as_kept(chosen_labels())
    figure = Teach(taught.labels, rows, not lab, kept, asks)
    mount("teach", figure.payload(), _LIST, states=["act", "kept"], on_change=_choose_clicked)
    if lab and said_of is not None:
        st.caption("A wavy line: the classifier is wrong there.")


def _show_shortcuts() -> None:
    """Draw the buttons that label several of the lab's sentences."""
    now = chosen_labels()
    empty = VisitLabels(own=now.own, labels=now.labels)
    with st.container(horizontal=True):
        st.button("Label four more", key="_four", on_click=_choose, args=(four_more(now),), type="primary")
        st.button("Label thirty", key="_thirty", on_click=_choose, args=(four_more(empty, len(LAB_PAIRS) // 2),))
        st.button(f"Label one of {SPLIT} pairs", key="_one", on_click=_choose_one_of_each, args=(now,))
        st.button("Start again", key="_afresh", on_click=_choose, args=(empty,), type="tertiary")


def _show_own_controls(model: LoadedModel) -> None:
    """Draw the fields for the names of the labels and for sentences, and the file."""
    now = chosen_labels()
    left, right = st.columns(2)
    first = left.text_input("First label", now.labels[0], max_chars=LONGEST_LABEL)
    second = right.text_input("Second label", now.labels[1], max_chars=LONGEST_LABEL)
    if (first, second) != now.labels:
        now, notes = renamed(now, first, second)
        _choose(now)
        _show_notes(notes)
    with st.form("_sentences", border=False):
        st.text_area(
            "Your sentences, one a line",
            height=90,
            key=_TYPED,
            max_chars=MOST * LONGEST,
            help="A label may follow a sentence after a tab, as in the file. Sentences stay in this browser.",
        )
        st.form_submit_button("Add", icon=":material/add:", on_click=_choose_typed, args=(model,))
    with st.container(horizontal=True):
        if now.own:
            file("Your sentences as a file", "sentences", "tsv", as_file(now).encode())
            empty = VisitLabels(now.marks, (), now.labels)
            st.button("Remove all", key="_afresh", on_click=_choose, args=(empty,), type="tertiary")


def _show_notes(notes: list[str]) -> None:
    for each in notes:
        selection.note(each)


def chosen_labels() -> VisitLabels:
    """What this visit has labelled."""
    found = st.session_state.get(_STATE)
    return found if isinstance(found, VisitLabels) else VisitLabels()


@dataclass(frozen=True, eq=False)
class Class:
    """The sentences that are taught, with their vectors by the model and by its untrained twin.

    ``twin`` is None for a learner's own sentences in a model that is too large to be kept twice.
    """

    texts: tuple[str, ...]
    examples: Examples
    labels: tuple[str, str]
    vectors: Brief
    twin: Brief | None

    @property
    def products(self) -> Array:
        return products_of(self.vectors.mean)


def lab_class(model: LoadedModel, now: VisitLabels) -> Class:
    """The lab's sentences with good and bad news."""
    both = together(model, LAB_TEXTS), untrained_together(model, LAB_TEXTS)
    return Class(LAB_TEXTS, lab_examples(now), (GOOD, BAD), *both)


def own_class(
    model: LoadedModel, now: VisitLabels, read: Callable[[LoadedModel, Sequence[str]], Brief] = brief
) -> Class:
    """The learner's own sentences, whose vectors are ``read``."""
    texts = tuple(text for text, _ in now.own)
    twin = None if model.nbytes > _LARGEST_TWIN else read(untrained_twin(model), texts)
    return Class(texts, own_examples(now), now.labels, read(model, texts), twin)


def chosen_own_class(model: LoadedModel, now: VisitLabels) -> Class:
    """The learner's own sentences, read once for this visit."""
    if model.nbytes <= _LARGEST_TWIN:  # nobody draws the twin again as long as a visit that teaches holds it
        st.session_state[_TWIN] = untrained_twin(model)
    return own_class(model, now, _chosen_vectors)


def _chosen_vectors(model: LoadedModel, texts: Sequence[str]) -> Brief:
    """The vectors of the learner's sentences, which only this visit keeps; new sentences are read together."""
    every: dict[str, dict[str, Brief]] = st.session_state.setdefault(_VECTORS, {})
    known = every.setdefault(model.id, {})
    new = [text for text in texts if text not in known]
    found = brief(model, new) if new else Brief(_none(model), _none(model))
    known |= {text: Brief(found.mark[i], found.mean[i]) for i, text in enumerate(new)}
    for text in known.keys() - set(texts):
        del known[text]
    marks, means = ([getattr(known[text], name) for text in texts] for name in ("mark", "mean"))
    return Brief(np.array(marks), np.array(means)) if texts else found


def _none(model: LoadedModel) -> NDArray[np.float32]:
    return np.empty((0, model.config.width), np.float32)


def names_of(model: LoadedModel) -> tuple[str, str, str]:
    """The names of the three lines: the mean of the words, [CLS], and the mean with random weights."""
    return (
        f"mean, layer {middle(model)}",
        f"{mark_name(model)}, last layer",
        "mean, random weights",
    )


def rises(model: LoadedModel, taught: Class) -> Mapping[str, LearningCurve]:
    """How good the classifier is with 2, 4, 8 … of the examples, by the name of the vector that it reads."""
    read = [taught.products, products_of(taught.vectors.mark)]
    if taught.twin is not None:
        read.append(products_of(taught.twin.mean))
    found = {name: rise(each, taught.examples) for name, each in zip(names_of(model), read, strict=False)}
    return {name: each for name, each in found.items() if each is not None}


def said(taught: Class, now: Standing | None) -> str:
    """State how good the classifier is; if it is tested on partners, also how good about these and about the rest."""
    first, second = map(escaped, taught.labels)
    if now is None:
        return f"Label at least one sentence as {first} and one as {second}. Then the classifier can learn."
    if now.tested < _FEW:
        return "There are too few sentences to test it. Label more, or type a new sentence below."
    if now.left_out:
        return (
            "In turn, a tenth of your sentences is left out, and a classifier learns the others. It gets "
            f"**{now.right} of {now.tested}** sentences right that it has not learned.{COIN}"
        )
    found = learned(taught.products, taught.examples)
    assert found is not None  # there is a standing
    hits, partner = (found > 0.5) == taught.examples.right, partners(taught.examples)
    tested, right = int(partner.sum()), int(hits[partner].sum())
    rest, others = now.tested - tested, now.right - right
    if min(tested, rest) < _FEW:
        return READING.format(labelled=now.labelled, right=now.right, tested=now.tested) + COIN
    return OF_PAIRS.format(labelled=now.labelled, right=right, tested=tested, others=others, rest=rest).strip()


def said_of_new(taught: Class, text: str, model: LoadedModel) -> str:
    """Say what the classifier thinks of a new sentence, and how sure it is."""
    share = of_new(taught.vectors.mean, taught.examples, brief(model, [text]).mean[0])
    label = taught.labels[0] if share > 0.5 else taught.labels[1]
    return f"**{escaped(label)}**, with the probability {max(share, 1 - share):.2f}"


@asks(
    basis=derivable(LESSON, "teach-it", "the two sentences of each pair in the list"),
    hint="Such a classifier knows which label each thing had. Which label has the partner?",
)
def only_the_thing() -> Question:
    """Ask how a classifier fares on the partners if it has learned only what the sentences are about."""
    return Question(
        "only-the-thing",
        "Each pair is about one thing, once with good news and once with bad news. A classifier learns one sentence of "
        f"each of {SPLIT} pairs, and is tested on the {SPLIT} partners. How many of the partners would it get right "
        "if it had learned only the things, and nothing of the news?",
        (
            Option(
                "About none of the partners",
                "It gives each partner the label of its thing, and the partner has the other label.",
                correct=True,
            ),
            Option(
                f"About {SPLIT // 2} of them, like a coin",
                "A coin knows nothing at all. This classifier goes by the thing, and the thing leads it to the wrong "
                "label.",
            ),
            Option(
                f"About all {SPLIT}, as it knows the things",
                "It does know each thing, but with the label of the other sentence.",
            ),
        ),
        mixed=True,
    )


def rise_of(model: LoadedModel, taught: Class) -> Figure:
    """Draw how good the classifier is with 2, 4, 8 … of the examples."""
    return learning_curve(rises(model, taught))


def _choose_clicked() -> None:
    """Read a click on the list, or what the browser has kept, before the page is drawn again."""
    now, lab = chosen_labels(), TAUGHT.chosen() == TAUGHT_LAB
    told = st.session_state.get(_LIST)
    if _ASKED not in st.session_state and (kept := heard(told, SentencesKept)) is not None:
        st.session_state[_ASKED] = True
        st.session_state[_STATE] = from_kept(now, kept.kept[1]) if kept.kept[1] and not now.own else now
        return
    report, count = heard(told, PictureActed), len(LAB_TEXTS) if lab else len(now.own)
    match () if report is None else report.act:
        case [str(), "first" | "second" | "clear" as what, int(place)] if place < count:
            mark = {"first": True, "second": False, "clear": None}[what]
            now = now.marked(place, mark) if lab else now.own_marked(place, mark)
        case [str(), "drop", int(place)] if not lab and place < count:
            now = now.dropped(place)
    st.session_state[_STATE] = now


def _choose(now: VisitLabels) -> None:
    st.session_state[_STATE] = now


def _choose_one_of_each(now: VisitLabels) -> None:
    """Label one sentence of some pairs; each click chooses them in another way."""
    way = st.session_state[_WAY] = st.session_state.get(_WAY, -1) + 1
    _choose(VisitLabels(one_of_each_pair(way).marks, now.own, now.labels))


def _choose_typed(model: LoadedModel) -> None:
    """Add the typed sentences, before the page is drawn again."""
    typed = st.session_state[_TYPED]
    now, notes = added(chosen_labels(), typed)
    _choose(now)
    _show_notes(notes)
    _choose_readable(model)
    st.session_state[_TYPED] = left_out(chosen_labels(), typed)  # they can be mended in the field


def _choose_readable(model: LoadedModel) -> None:
    """Leave out the sentences that the model cannot read, typed or kept by the browser, and say why."""
    now, kept, notes = chosen_labels(), [], []
    for text, mark in now.own:
        try:
            encoded(model, text)
        except TextError as error:
            notes.append(str(error))
        else:
            kept.append((text, mark))
    if notes:
        _choose(VisitLabels(now.marks, tuple(kept), now.labels))
    _show_notes(notes)
