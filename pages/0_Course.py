"""The course map: where a learner starts and comes back to."""

import streamlit as st

from lab.course.benches import BENCHES
from lab.course.lessons import LESSONS, number
from lab.ui import progress_view, shell, teaching

shell.route()

st.title("Inside BERT")
st.markdown("**Take a sentence of your own through a real transformer, and check every number you see.**")
st.markdown(
    "Type a sentence in the sidebar. Each lesson runs it through a trained model on this machine, one step of the "
    "paper at a time. The badge at the top of a lesson compares every step with Hugging Face's own code."
)
for lesson in LESSONS:
    with st.container(border=True):
        st.page_link(lesson.page, label=f"**{number(lesson)} · {lesson.title}**", icon=lesson.icon)
        st.markdown(lesson.question)
        with st.container(horizontal=True):
            st.badge(f"{lesson.minutes} minutes", icon=":material/schedule:", color="gray")
            progress_view.steps_badge(lesson)
            progress_view.checks_badge(lesson)
st.header("Benches")
st.markdown("No lessons here: the same runs with every control, for looking around.")
for bench in BENCHES:
    with st.container(border=True):
        st.page_link(bench.page, label=f"**{bench.title}**", icon=bench.icon)
        st.markdown(bench.question)
with st.container(border=True):
    st.page_link("pages/20_Models.py", label="**Models**", icon=":material/badge:")
    st.markdown("What were they trained on, and what did training change?")
progress_view.review()
progress_view.keep()
with st.expander("For teachers", icon=":material/co_present:"):
    st.markdown(
        "Every setting is part of a page's link. With `?seed=7` added, everybody who opens the link gets the same "
        "checks, drawn from those the sentence decides, with their answers in the same order. With `?teach=1` the "
        "type is larger, answers wait for a click on Reveal, and nothing is scored."
    )
    st.button("Teach", icon=":material/co_present:", on_click=teaching.turn, args=(1,))
