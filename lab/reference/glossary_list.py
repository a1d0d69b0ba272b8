"""Glossary: the meanings of the course's words, by the lesson that teaches them."""

import streamlit as st

from lab.course.glossary import GLOSSARY, search
from lab.course.pages import LESSONS, number, page_path
from lab.course.words import escaped
from lab.ui import shell
from lab.ui.frame.header import show_terms
from lab.ui.parameters import LOOK_UP


def play() -> None:
    """Run the page."""
    shell.route()
    st.title("Glossary")
    st.markdown(f"**What do the words mean?** This page explains {len(GLOSSARY)} terms as this course uses them.")
    wanted = LOOK_UP.line("Look up", placeholder="A word, or a part of one")
    found = search(wanted)
    if not found:
        st.info(f"No term contains “{escaped(wanted)}”. Try a shorter part of the word.", icon=":material/search_off:")
    for lesson in LESSONS:
        terms = [term for term in found if term.lesson == lesson.id]
        if terms:
            st.header(f"{number(lesson)} · {lesson.title}")
            show_terms(terms)
            st.page_link(page_path(lesson.page), label=f"Learn it in lesson {number(lesson)}", icon=lesson.icon)
