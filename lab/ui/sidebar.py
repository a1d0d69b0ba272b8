"""The shared sidebar: the learner's sentence or a toy, and the model."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator
from streamlit.navigation.page import Page as StreamlitPage

from lab.course.benches import Bench
from lab.course.lessons import Lesson
from lab.toy.tasks import task_named
from lab.ui import parameters, runs, teaching
from lab.ui.toys.runs import ask_for_training

_EXAMPLES = {
    "A pronoun": ("The cat sat on the mat because it was tired.", ""),
    "Two meanings of bank": ("She sat on the bank of the river and counted her money for the bank.", ""),
    "A long word": ("The unhappily overworked photographers rebuilt everything.", ""),
    "A pair that follows": ("The children went to the park.", "They played until it was dark."),
    "A pair that does not": ("The children went to the park.", "The price of oil fell again."),
    "A hidden word": ("The king and the [MASK] lived in a castle.", ""),
}


_CONTROLS = "_controls"


def controls() -> DeltaGenerator:
    """The part of the sidebar that a page's own controls go to: below the sentence, above the way to other pages."""
    place = st.session_state.get(_CONTROLS)
    return place if isinstance(place, DeltaGenerator) else st.sidebar


def show(opened: Lesson | Bench | None, pages: Sequence[StreamlitPage]) -> None:
    """The whole sidebar. What one types stands first, so that it is in reach; then come the other pages."""
    with st.sidebar:
        st.session_state[_CONTROLS] = st.container()
        with controls():
            shared_input(opened)
        teaching.show()
        st.divider()
        with st.container(gap=None):
            for page in pages:
                st.page_link(page)


def shared_input(opened: Lesson | Bench | None) -> None:
    """Sentence, second sentence, examples, model: the same on every page.

    ``opened`` says whether toys and random weights are offered; None, a page of neither kind, has neither.
    """
    if opened is not None and opened.toy and _mode() == parameters.TOY:
        toy_weights(trains=isinstance(opened, Lesson))
        toy_input()
        return
    parameters.TEXT.area(
        "Your sentence", 96,
        help="Press Ctrl+Enter, or click elsewhere, to run it. The sentence is part of this page's link.",
    )  # fmt: skip
    parameters.PAIR.line(
        "Second sentence (optional)", help="BERT reads two texts as a pair: segment A, then segment B."
    )
    st.selectbox(
        "Examples",
        list(_EXAMPLES),
        index=None,
        key="_example",
        placeholder="Pick one",
        on_change=_take_example,
    )
    parameters.MODEL.menu("Model", runs.model_ids(), parameters.MODEL.default)
    if opened is not None and opened.weights:
        weights = parameters.TRAINING.choose(
            "Weights",
            help="Random: the same architecture before its first training step. What you still see was not learned.",
        )
        if weights == parameters.RANDOM:
            parameters.TWIN_SEED.choose("Seed")


def _take_example() -> None:
    chosen = st.session_state.get("_example")
    if chosen in _EXAMPLES:
        use_texts(*_EXAMPLES[chosen])
        st.session_state["_example"] = None


def _mode() -> str:
    return parameters.MODE.choose(
        "Input",
        help="Toy: made-up sentences of letters through a model of one or two layers, small enough to see whole.",
    )


def toy_weights(*, trains: bool) -> None:
    """Sidebar: which toy, always named for what it is. A bench looks at toys; a lesson ``trains`` them too."""
    if parameters.TOY_WEIGHTS.choose("Weights") == parameters.TRAINED:
        _training(trains)


def _training(trains: bool) -> None:
    """What is taught to how many layers, and in a lesson the button that leads to the step where it happens."""
    parameters.TOY_TASK.choose("Task", on_change=_take_task)
    parameters.TOY_LAYERS.choose("Layers")
    if trains:
        st.button("Train", icon=":material/model_training:", on_click=ask_for_training)


def _take_task() -> None:
    """A new task begins with as many layers as its solution has."""
    parameters.TOY_LAYERS.set(task_named(parameters.TOY_TASK.chosen()).layers)


def toy_input() -> None:
    """Sidebar: size, seed and weights of the toy, and which of its sentences to look at."""
    labels = ("Vocabulary size", "Maximum length", "Number of sentences", "Seed", "Sentence to look at")
    for number, label in zip(parameters.TOY_NUMBERS, labels, strict=True):
        number.choose(label)


def use_texts(text: str, pair: str) -> None:
    """Put these texts into the fields of the sidebar. For a button's callback."""
    parameters.TEXT.set(text)
    parameters.PAIR.set(pair)
