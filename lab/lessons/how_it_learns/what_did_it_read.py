"""What did it read? How often the texts have a word beside another word, and what the model says in the blank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from lab.analysis.words.in_blank import BLANK, blank_at, ids_of, in_blank
from lab.analysis.words.predictions import prediction_at
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import listed, quoted, share
from lab.evidence.what_was_read import BLANK as WRITTEN
from lab.evidence.what_was_read import DEFINITIONS, PREPARED, Prepared, shipped
from lab.lessons.how_it_learns import LESSON
from lab.models.catalogue import twin_of
from lab.models.encoding import word_of
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, derivable
from lab.ui import runs, selection
from lab.ui.drawing import code, draw
from lab.ui.parameters import GAP
from lab.ui.play import LessonRun
from lab.ui.screen import meaning, say, try_this

IDEA = """
Where does a word such as *paris* come from? Look at what the model read. The first chart shows how often each word
occurs near words of the sentence, as its title says, in the texts that taught the small models of this lab. The second
shows what the model says in the blank."""
READING = "The model says {best} ({sure}). Of the counted words, {most} {verb} most often {place}: {count}{own}."
OWN = "; {best} has {count} there"
NONE = "The model says {best} ({sure}). The texts have none of these words {place}."
_FIRST = "The capital of France is _."  # the sentence of the course
_NOWHERE = "Two plus two is _."  # a prepared sentence of whose words the texts have none
_LEAST = 2  # words, so that there is something to compare
_AXIS = 10.0  # times: the axis reaches so far at least, so that it has whole numbers
_SMALL = 0.01  # probabilities of a model with random weights are far below, and need more decimals
_ALONE = "{model} began with random numbers and has read only these texts."
# What the counted texts are to a model that ships.
_TAUGHT = {
    "lab-bert": _ALONE,
    "lab-gpt2": _ALONE,
    "lab-minilm": "{model} had read far more before these texts taught it to fill blanks.",
}
_NO_CAUSE = (
    "**A count proves no cause**: the model looks nothing up, and the counts do not show which sentences moved its "
    "weights to this answer."
)


def show(view: LessonRun) -> Trace | None:
    """Let the learner choose a prepared sentence, and show the counts beside the model's answer."""
    model = view.trace.model
    say(IDEA)
    names = sorted([each.text for each in offered(model)], key=lambda text: text != _FIRST)
    if not names:
        say("The vocabulary of this model has too few of the counted words. Choose another model in the sidebar.")
        return None
    selection.fit_name(GAP, names, names[0])
    text = GAP.menu("Sentence with a blank", names, names[0])
    prepared = next(each for each in PREPARED if each.text == text)
    run = partial(runs.run, model.id, pair="", changes=Interventions())
    asked_at = blank_at(run, model, text.replace(WRITTEN, BLANK))
    found = None if asked_at is None else answer(*asked_at, prepared)
    if asked_at is None or found is None:
        return None
    _show_both(found, *asked_at)
    meaning(said(found))
    say(source(model))
    show_definition(found)
    if _NOWHERE in names:
        try_this("the texts have none of these words right after *two plus two is*.", "Two plus two", {GAP: _NOWHERE})
    return asked_at[0]


def _show_both(found: CountedAnswer, traced: Trace, place: int) -> None:
    """Draw the counts and the probabilities side by side, with one list of words."""
    left, right = st.columns(2)
    with left:
        draw(partial(in_the_texts, traced, place, found.prepared.text), "counts")
    with right:
        draw(partial(in_the_model, traced, place, found.prepared.text), "answer")
    told = []
    if traced.model.config.causal:
        told.append(f"This model reads only {quoted(traced.text)}, and says what follows.")
    missing = [quoted(word) for word in found.prepared.words if word not in found.words]
    if missing:
        which = "this word" if len(missing) == 1 else "these words"
        told.append(f"This model has no token for {listed(missing)}, so the figures leave {which} out.")
    if told:
        st.caption(" ".join(told))


@dataclass(frozen=True)
class CountedAnswer:
    """A model's answer in a prepared blank, and the counted words that the model knows, the most frequent first.

    ``best`` is the model's first word among all words of its vocabulary, and ``sure`` the probability of it.
    """

    prepared: Prepared
    words: tuple[str, ...]
    counts: tuple[int, ...]
    probabilities: tuple[float, ...]
    best: str
    sure: float

    @property
    def counted(self) -> bool:
        """Whether the model's first word is among the counted words."""
        return self.best in self.words

    @property
    def most(self) -> tuple[str, ...]:
        """The words that the texts have most often; several if they are equally frequent."""
        return tuple(word for word in self.words if self.count(word) == max(self.counts))

    def count(self, word: str) -> int:
        """How often the texts have ``word`` at its place."""
        return self.counts[self.words.index(word)]


def answer(traced: Trace, place: int, prepared: Prepared) -> CountedAnswer | None:
    """The answer of the run ``traced`` at ``place``; None if the model has too few of the words as single tokens."""
    prediction, tokenizer = prediction_at(traced, place, None), traced.model.tokenizer
    counts = shipped().counts[prepared.text]
    known = {word: found for word in prepared.words if (found := in_blank(traced.model, prediction, word)) is not None}
    if len(known) < _LEAST or (prepared.right and prepared.right not in known):
        return None
    first = prediction.best(1)[0]
    words = sorted(known, key=lambda word: -counts[word])
    best = next((word for word, each in known.items() if each.token_id == first), word_of(tokenizer, first))
    return CountedAnswer(
        prepared,
        tuple(words),
        tuple(counts[word] for word in words),
        tuple(known[word].probability for word in words),
        best,
        float(prediction.probabilities[first]),
    )


def offered(model: LoadedModel) -> tuple[Prepared, ...]:
    """The prepared sentences for a model that knows enough of their words, and reads enough before it answers."""
    return tuple(
        each
        for each in PREPARED
        if (each.left_suffices or not model.config.causal)
        and sum(bool(ids_of(model, word)) for word in each.words) >= _LEAST
        and (not each.right or ids_of(model, each.right))
    )


def times(count: int) -> str:
    """Write how often: "1 time", "97 times"."""
    return f"{count:,} time{'' if count == 1 else 's'}"


def said(found: CountedAnswer) -> str:
    """State the model's first word, and the word that the texts have most often."""
    best, place = quoted(found.best), found.prepared.place
    if not any(found.counts):
        return NONE.format(best=best, sure=share(found.sure), place=place)
    own = OWN.format(best=best, count=times(found.count(found.best))) if found.counted else ""
    return READING.format(
        best=best,
        sure=share(found.sure),
        most=listed([quoted(word) for word in found.most]),
        verb="occurs" if len(found.most) == 1 else "occur",
        place=place,
        count=times(max(found.counts)),
        own=own * (found.best not in found.most),
    )


def source(model: LoadedModel) -> str:
    """Say what the counted texts are to this model, and what the counts do not show."""
    if twin_of(model.id) is not None:
        return "This model has random weights, and has read nothing. If its answers fit the counts, that is chance."
    unknown = (
        "The lab does not know which texts {model} learned from. These texts taught lab-bert, lab-gpt2 and lab-minilm."
    )
    return f"{_TAUGHT.get(model.id, unknown).format(model=quoted(model.id))} {_NO_CAUSE}"


def in_the_texts(traced: Trace, place: int, text: str) -> Figure:
    """Draw how often the texts have each word of a prepared sentence at its place."""
    found = _answer(traced, place, text)
    chosen = found.words.index(found.best) if found.counted else ()
    scale = Scale("Times in the texts", (0.0, max(_AXIS, *found.counts)), ",.0f")
    return bars(found.words, found.counts, scale, title=f"In the texts, {found.prepared.place}", highlight=chosen)


def _answer(traced: Trace, place: int, text: str) -> CountedAnswer:
    found = answer(traced, place, next(each for each in PREPARED if each.text == text))
    assert found is not None
    return found


def in_the_model(traced: Trace, place: int, text: str) -> Figure:
    """Draw the probability of each word in the blank, in the same order; a first word that was not counted is below."""
    found = _answer(traced, place, text)
    words, values = list(found.words), list(found.probabilities)
    if not found.counted:
        words.append(found.best)
        values.append(found.sure)
    scale = Scale("Probability", format=".3f" if found.sure >= _SMALL else ".5f")
    return bars(words, values, scale, title="In the blank", highlight=words.index(found.best))


@asks(
    basis=derivable(LESSON, "what-did-it-read", "how often the texts have two words"),
    hint="Compare the two numbers. Which of the two words do they speak for?",
)
def why_this_word() -> Question:
    """Ask what the counts say about a wrong answer."""
    return Question(
        "why-this-word",
        "In *The capital of Italy is ▢.*, lab-minilm says *milan*. The texts that taught it to fill blanks have *Rome* "
        "near *Italy* 97 times, and *Milan* 46 times. What do the counts say about this mistake?",
        (
            Option(
                "It read *Milan* more often beside *Italy*",
                "These texts have *Rome* twice as often there. (lab-minilm had read other texts before, too.)",
            ),
            Option(
                "They do not explain it",
                "By the counts, *rome* would come first. So something else that it read or learned decided.",
                correct=True,
            ),
            Option(
                "It looked the answer up, and the list was wrong",
                "A model has no list of facts. It has weights, which training has moved a little with every text.",
            ),
        ),
        mixed=True,
    )


def show_definition(found: CountedAnswer) -> None:
    """Say, folded, what was counted where, and by which command."""
    record, by = shipped(), DEFINITIONS[found.prepared.by]
    with st.expander("How the words were counted", icon=":material/calculate:"):
        say(
            f"{by.meaning} The cue is “{found.prepared.cue}”. Upper and lower case count alike, and spaces and signs "
            f"count as letters. The texts are the {record.texts.documents:,} documents that lab-bert, lab-gpt2 and "
            f"lab-minilm learned from: {record.texts.sentences:,} sentences, {record.texts.words:,} words."
        )
        st.code(record.command, language="bash")
    code(by.count)
