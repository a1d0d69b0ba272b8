"""The course map: where a learner starts and comes back to."""

from urllib.parse import quote

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.benches import BENCHES
from lab.course.lessons import LESSONS, MODELS_PAGE, number, script
from lab.ui import progress_view, shell, teaching

# The answer, were, depends on a word before the blank: with one boy it is was.
TASK = f"Masked_language_model?text={quote('The boys [MASK] playing in the garden.')}"


def _card(page: str, title: str, icon: str, question: str) -> DeltaGenerator:
    """A frame with the way to a page and what it asks; the caller may add to it."""
    frame = st.container(border=True)
    frame.page_link(script(page), label=f"**{title}**", icon=icon)
    frame.markdown(question)
    return frame


shell.route()

st.title("Inside BERT")
st.markdown("**Take a sentence of your own through a real transformer, and check every number you see.**")
st.markdown(
    "Type a sentence in the sidebar. Each lesson runs it through a trained model on this machine, one step of the "
    "paper at a time. The badge at the top of a lesson compares every step with Hugging Face's own code."
)
st.markdown("Do you teach a class? Read [For teachers](#for-teachers), at the end of this page.")
for lesson in LESSONS:
    card = _card(lesson.page, f"{number(lesson)} · {lesson.title}", lesson.icon, lesson.question)
    with card, st.container(horizontal=True):
        st.badge(f"{lesson.minutes} minutes", icon=":material/schedule:", color="gray")
        progress_view.steps_badge(lesson)
        progress_view.checks_badge(lesson)
st.header("Benches")
st.markdown("For looking around: the same runs as in the lessons, with every control and without questions.")
for bench in BENCHES:
    _card(bench.page, bench.title, bench.icon, bench.question)
_card(MODELS_PAGE, "Models", ":material/badge:", "What were they trained on, and what did training change?")
progress_view.review()
progress_view.keep()
st.header("For teachers", anchor="for-teachers")
st.markdown(
    "- **Before a class.** In the teaching view the type is larger, answers wait for a click on Reveal, and nothing is "
    "scored. Click Teach, or add `?teach=1` to the address of a page: [lesson 3 before a "
    "class](Self-attention?teach=1).\n- **The same questions for everybody.** Add `?seed=7`, or another number, to the "
    "address. Everybody who opens it gets the same checks, with the answers in the same order: [the checks of lesson "
    "3, seed 7](Self-attention?seed=7&step=Check).\n- **A task.** Sentence, model, step and head are part of the "
    f"address. Choose them, then copy it: [why not *was*?]({TASK})\n- **What you show them.** The [cards of the "
    "models](Models) say what they were trained on and what they cannot do."
)
st.button("Teach", icon=":material/co_present:", on_click=teaching.turn, args=(1,))
