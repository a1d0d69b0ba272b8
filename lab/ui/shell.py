"""The shell around every page: navigation, the shared sidebar, and the guard for deep links."""

from __future__ import annotations

import streamlit as st

from lab.course.lessons import LESSONS, Lesson, lesson_of, number
from lab.ui import cached, selection

_EXAMPLES = {
    "A pronoun": ("The cat sat on the mat because it was tired.", ""),
    "Two meanings of bank": ("She sat on the bank of the river and counted her money for the bank.", ""),
    "A long word": ("The unhappily overworked photographers rebuilt everything.", ""),
    "A pair that follows": ("The children went to the park.", "They played until it was dark."),
    "A pair that does not": ("The children went to the park.", "The price of oil fell again."),
    "A hidden word": ("The king and the [MASK] lived in a castle.", ""),
}


def pages() -> list[st.Page]:  # type: ignore[valid-type]
    """Every page, the course map first. No url_path: the slug must stay the one of the file name."""
    start = st.Page("pages/0_Course.py", title="Course", icon=":material/map:", default=True)
    return [
        start,
        *(
            st.Page(lesson.page, title=f"{number(lesson)} · {lesson.title}", icon=lesson.icon)
            for lesson in LESSONS
        ),
    ]


def run() -> None:
    """Route, draw the shared sidebar, run the page. ``Home.py`` calls this and nothing else."""
    page = st.navigation(pages(), expanded=True)
    st.session_state["_routed"] = True
    st.set_page_config(page_title=f"{page.title} — Inside BERT", page_icon=":material/hub:", layout="wide")
    selection.start(cached.model_ids())
    with st.sidebar:
        st.session_state["_page"] = page.title
        _input(_lesson_titled(page.title))
    page.run()
    selection.keep_in_url()


def route() -> None:
    """Guard at the top of each page file.

    A folder named ``pages/`` lets Streamlit run a page without ``Home.py`` when a link goes deep
    into a server that has just started. Then install the router and start over.
    """
    if "_routed" not in st.session_state:
        st.navigation(pages(), position="hidden")
        st.rerun()


def _lesson_titled(title: str) -> Lesson | None:
    return next((lesson for lesson in LESSONS if title.endswith(f"· {lesson.title}")), None)


def current_lesson(page_file: str) -> Lesson:
    """Guard the page, then name its lesson."""
    route()
    return lesson_of(page_file)


def _input(lesson: Lesson | None) -> None:
    """Sentence, second sentence, examples, model: the same on every page."""
    toy = False
    if lesson is not None and lesson.toy:
        toy = _mode() == selection.TOY
    if toy:
        _toy_input()
        return
    st.text_area(
        "Your sentence", value=selection.DEFAULT_TEXT, key="text", bind="query-params",
        max_chars=selection.MAX_CHARACTERS, height=96,
        help="Press Ctrl+Enter, or click elsewhere, to run it. The sentence is part of this page's link.",
    )  # fmt: skip
    st.text_input(
        "Second sentence (optional)", key="pair", bind="query-params", max_chars=selection.MAX_CHARACTERS,
        help="BERT reads two texts as a pair: segment A, then segment B.",
    )  # fmt: skip
    st.selectbox(
        "Examples",
        list(_EXAMPLES),
        index=None,
        key="_example",
        placeholder="Pick one",
        on_change=_take_example,
    )
    st.selectbox("Model", cached.model_ids(), key="model", bind="query-params", format_func=str)


def _take_example() -> None:
    chosen = st.session_state.get("_example")
    if chosen in _EXAMPLES:
        st.session_state["text"], st.session_state["pair"] = _EXAMPLES[chosen]
        st.session_state["_example"] = None


def _mode() -> str:
    return str(
        st.segmented_control(
            "Input",
            [selection.SENTENCE, selection.TOY],
            default=selection.SENTENCE,
            required=True,
            key="mode",
            bind="query-params",
            help="Toy: made-up number sentences through a model of one layer, small enough to see whole.",
        )  # fmt: skip
    )


def _toy_input() -> None:
    labels = {
        "toy_vocabulary": "Vocabulary size",
        "toy_length": "Maximum length",
        "toy_count": "Number of sentences",
        "toy_seed": "Seed",
    }
    st.segmented_control(
        "Weights", [selection.CONSTRUCTED, selection.RANDOM], default=selection.CONSTRUCTED, required=True,
        key="toy_weights", bind="query-params",
    )  # fmt: skip
    for name, (default, least, most) in selection.TOY_NUMBERS.items():
        st.number_input(labels[name], least, most, default, key=name, bind="query-params")
