"""Two questions before a lesson and two similar questions after the lesson, which measure what a learner gained.

Learners may skip both tests, and nothing on the page waits for an answer. The first test does not say what is right, so
that the second test measures what was learned in between.
"""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from lab.course.pages import Lesson
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import quoted
from lab.figures.attention import place
from lab.models.interventions import Interventions
from lab.questions.before_and_after import BothTests, Gain, LessonTest, gain, two_tests
from lab.questions.question import Question, lettered
from lab.questions.returning import Returning, Spot
from lab.ui import parameters, runs
from lab.ui.quiz.asked import hashed
from lab.ui.quiz.question import choose, progress, remember

_NOT_KNOWN = "A question that you do not answer counts as not known."


def offer_before(lesson: Lesson, ask: Returning) -> None:
    """Offer the questions before a lesson, folded, until they are answered or a step of the lesson was seen."""
    done = progress().count(lesson.id)
    if lesson.id in progress().tests or done.seen > 1 or done.answered:
        return
    label, key = "Two questions before you begin", f"_before.{lesson.id}"
    with st.expander(label, icon=":material/quiz:", on_change="rerun", key=key) as folded:
        if not folded.open:
            return
        both = _tests(lesson, ask)
        if both is None:
            st.markdown("No two of the lab’s sentences give clear answers to the same questions, so we ask nothing.")
            return
        st.markdown(
            "Answer as well as you can. Two questions of the same kinds come back at the end of the lesson, about "
            f"another sentence. Then you see which answers were right, and how much you learned. {_NOT_KNOWN}"
        )
        _form(lesson, both[0], "before")


def offer_after(lesson: Lesson, ask: Returning) -> None:
    """Offer the second test to a learner who answered the first one; then show the results of both tests."""
    taken = progress().tests.get(lesson.id)
    both = None if taken is None else _tests(lesson, ask)
    if taken is None or both is None or {question.id for question in both[1].questions} != set(taken.before):
        return  # the test was not asked before the lesson, or a version of the lab with other questions asked it
    with st.container(border=True):
        st.markdown("**Before and after.**")
        if taken.after is None:
            st.markdown(
                "Before this lesson you answered two questions. Here are two questions of the same kinds, about "
                f"another sentence. {_NOT_KNOWN}"
            )
            _form(lesson, both[1], "after")
        else:
            _told(lesson, taken, both)


def said(of: Gain) -> str:
    """State the right answers before and after, and the gain, in a sentence."""
    counts = f"Right before: {of.before} of {of.asked}. Right after: {of.after} of {of.asked}."
    if of.g is None:
        return f"{counts} All answers were right before."
    if of.after < of.before:
        return f"{counts} That is less than before."
    share = "your gain as a share of the largest possible gain"
    return f"{counts} Gain g = {of.g:.2f}: {share} (Hake 1998)."


def overall() -> None:
    """Draw the gain over all lessons whose two tests were both taken; draw nothing if there is no such lesson."""
    found = gain(progress().tests.values())
    if found.asked and not parameters.TEACH.chosen():
        st.markdown(f":material/quiz: **Before and after your lessons.** {said(found)}")


@st.cache_resource(max_entries=16, show_spinner="Looking for two sentences …")
def _tests(lesson: Lesson, _ask: Returning) -> tuple[LessonTest, LessonTest] | None:
    return both_tests(lesson, _ask)


def both_tests(lesson: Lesson, ask: Returning) -> tuple[LessonTest, LessonTest] | None:
    """Return both tests of a lesson, which are the same for everybody, because they are about the model with which
    visits begin.

    If possible, no question is one of those that the lesson's checks ask about its own text.
    """
    model = runs.that_ships()
    if model is None:
        return None
    own = lesson.text or parameters.DEFAULT_TEXT
    checks = ask(Spot.of(runs.run(model, own, "", Interventions())))
    checked = {question.prompt for question in checks if question is not None}

    def others(spot: Spot) -> Iterator[Question]:
        return (each for each in ask(spot) if each is not None and each.prompt not in checked)

    return two_tests(others, _spots(lesson, model)) or two_tests(ask, _spots(lesson, model))


def _spots(lesson: Lesson, model: str) -> Iterator[Spot]:
    """Run the examples through the lab's own model, without the examples in the lesson itself."""
    for example in EXAMPLES:
        if "[MASK]" not in example.text and example.text not in (lesson.text, parameters.DEFAULT_TEXT):
            yield Spot.of(runs.run(model, example.text, example.pair, Interventions()))


def _form(lesson: Lesson, test: LessonTest, when: str) -> None:
    with st.form(f"_{when}.{lesson.id}.form"):
        st.markdown(_about(lesson, test))
        for number, question in enumerate(test.questions, start=1):
            st.markdown(f"**{number}.** {question.prompt}")
            choose(question, key=_key(when, lesson, question))
        st.form_submit_button("Keep my answers", on_click=_take, args=(lesson, test, when))


def _key(when: str, lesson: Lesson, question: Question) -> str:
    return f"_{when}.{lesson.id}.{question.id}.{hashed(question.prompt)}"


def _take(lesson: Lesson, test: LessonTest, when: str) -> None:
    right = {each.id: st.session_state.get(_key(when, lesson, each)) == each.answer for each in test.questions}
    remember(progress().tested(lesson.id, right))


def _about(lesson: Lesson, test: LessonTest) -> str:
    """Return the sentence and the place in the model that a test is about."""
    trace = test.spot.trace
    texts = " and ".join(quoted(text) for text in (trace.text, trace.pair) if text)
    head = f", {place(test.spot.layer, test.spot.head)} of {trace.model.id}" * ("head" in lesson.parameters)
    return f"{texts}{head}."


def _told(lesson: Lesson, taken: BothTests, both: tuple[LessonTest, LessonTest]) -> None:
    """Show the results of both tests, and the right answers to all their questions."""
    st.markdown(said(gain([taken])))
    st.caption(
        "Two questions say little about one lesson. The first page adds up all lessons in which you took both tests."
    )
    with st.expander("The right answers"):
        for test, right in zip(both, (taken.before, taken.after or {}), strict=True):
            st.markdown(_about(lesson, test))
            for question in test.questions:
                icon = ":material/check:" if right[question.id] else ":material/close:"
                why = question.options[question.answer].why
                st.markdown(f"{icon} {question.prompt} {lettered(question, question.answer)}. {why}")
