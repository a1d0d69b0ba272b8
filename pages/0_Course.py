"""The course map: where a learner starts and comes back to."""

import streamlit as st

from lab.course.lessons import LESSONS, number
from lab.ui import shell
from lab.ui.quiz import score

shell.route()

st.title("Inside BERT")
st.markdown("#### Take a sentence of your own through a real transformer, and check every number you see.")
st.markdown(
    "Type a sentence in the sidebar. Each lesson runs it through a trained model on this machine, one step of the "
    "paper at a time. The badge at the top of a lesson compares every step with Hugging Face's own code."
)
for lesson in LESSONS:
    right, asked = score(lesson.id)
    with st.container(border=True):
        st.page_link(lesson.page, label=f"**{number(lesson)} · {lesson.title}**", icon=lesson.icon)
        st.markdown(lesson.question)
        with st.container(horizontal=True):
            st.badge(f"{lesson.minutes} minutes", icon=":material/schedule:", color="gray")
            if asked:
                st.badge(f"{right} of {asked} right at first try", icon=":material/check:", color="gray")
st.page_link(
    "pages/20_Models.py", label="**Models** · what they were trained on, and what training changed",
    icon=":material/badge:",
)  # fmt: skip
