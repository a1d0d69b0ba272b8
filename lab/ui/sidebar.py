"""The shared sidebar: the learner's sentence or a toy, and the model."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from lab.course.pages import CHECK_STEP, Bench, Lesson
from lab.course.sentences.examples import EXAMPLES, Example, example_of
from lab.models.catalogue import twin_of
from lab.toy.tasks import task_named
from lab.ui import parameters, runs, teaching
from lab.ui.screen import tries_a_text
from lab.ui.texts import begin, pass_by, use_texts
from lab.ui.toys.controls import OWN_CONTROLS, heads, numbers
from lab.ui.toys.toy_runs import ask_for_training

if TYPE_CHECKING:
    from lab.evidence.notable import Doing, Notable
    from lab.models.loading import LoadedModel

_CONTROLS, _FOLDED, _FIRST_MODEL = "_controls", "_folded_controls", "_first_model"


def controls() -> DeltaGenerator:
    """Return the open part of the sidebar, for a page's own controls, below the input."""
    return _place(_CONTROLS)


def folded() -> DeltaGenerator:
    """Return the folded part of the sidebar, for settings that few learners change."""
    return _place(_FOLDED)


def _place(name: str) -> DeltaGenerator:
    place = st.session_state.get(name)
    return place if isinstance(place, DeltaGenerator) else st.sidebar


def show(opened: Lesson | Bench | None, model: str, *, text: bool) -> None:
    """Draw the whole sidebar: the text, the model, and a place for the page's own controls.

    ``model`` is the id of the model that the page opens on; ``text`` says whether it reads the learner's sentence.
    """
    with st.sidebar:
        st.session_state[_CONTROLS] = st.container()
        if not _only_asks(opened) and (text or opened is not None):
            st.session_state[_FOLDED] = st.expander(_folded_label(opened), icon=":material/tune:")
        else:
            st.session_state[_FOLDED] = st.container()
        _show_input(opened, model, text=text)
        teaching.show()


def _folded_label(opened: Lesson | Bench | None) -> str:
    if opened is not None and opened.toy and parameters.MODE.chosen() == parameters.TOY:
        return "Sizes and sentences"
    weights = opened is not None and opened.weights
    if isinstance(opened, Lesson) and brings_its_own_words(opened):
        return "Model, weights" if weights else "Model"
    return "Second sentence, model, weights" if weights else "Second sentence, model"


def _only_asks(opened: Lesson | Bench | None) -> bool:
    """Return whether the step that comes is a check with questions about no run, for which nothing can be chosen."""
    return isinstance(opened, Lesson) and brings_its_own_words(opened) and _coming(opened) == CHECK_STEP


def _show_input(opened: Lesson | Bench | None, model: str, *, text: bool) -> None:
    """Draw sentence and examples if the page reads them, and the switch Sentence or Toy; folded: pair, model, weights.

    ``opened`` says whether toys and random weights are offered; None stands for a page that offers neither.
    """
    with controls():
        toy = opened is not None and bool(opened.toy) and parameters.MODE.chosen() == parameters.TOY
        if toy and isinstance(opened, Lesson):
            pass_by(f"{opened.id}/{_coming(opened)}")
        if text and not toy:
            first = _begin_texts(opened)
            text = not (isinstance(opened, Lesson) and brings_its_own_words(opened))
            if text:
                _texts(opened, first)
        if opened is not None and opened.toy:
            toy = _mode() == parameters.TOY
    if opened is not None and toy:
        _show_toy(opened)
    else:
        with folded():
            if text:
                _second_sentence()
            if not _only_asks(opened):
                _model(opened, model)


def _show_toy(opened: Lesson | Bench) -> None:
    """Draw the controls of a toy: which toy it is and, folded, the sentences that it reads."""
    weights = partial(_toy_weights, trains=isinstance(opened, Lesson))
    shown, more = OWN_CONTROLS.get(opened.toy, (weights, numbers))
    with controls():
        shown()
    with folded():
        more()


def _model(opened: Lesson | Bench | None, first: str) -> None:
    """Draw the choice of the model (``first`` until somebody chooses), and of trained or random weights."""
    parameters.MODEL.menu("Model", runs.model_ids(), first)
    if opened is not None and opened.weights:
        weights = parameters.TRAINING.choose(
            "Weights",
            help="Random: the same architecture before its first training step. If you see a pattern here too, "
            "learning was not its cause.",
        )
        if weights == parameters.RANDOM:
            parameters.TWIN_SEED.choose("Seed")


def begin_model(first: str = "") -> str:
    """Choose the model that a page opens on, unless the learner has chosen one; returns the model's id.

    The page opens on ``first`` if this server has that model, otherwise on the lab's own model. A model named by a link
    counts as chosen. Call this function on every page, so that the model of one page does not stay on the next.
    """
    first = first if first in runs.model_ids() else parameters.MODEL.default
    if _FIRST_MODEL not in st.session_state:
        st.session_state[_FIRST_MODEL] = "" if parameters.MODEL.name in st.session_state else parameters.MODEL.default
    if st.session_state[_FIRST_MODEL] == parameters.MODEL.chosen() != first:
        parameters.MODEL.set(first)
        st.session_state[_FIRST_MODEL] = first
    return first


def keep_model() -> None:
    """Keep the model on screen for other pages, so that the page that the learner opens next is about this model."""
    st.session_state[_FIRST_MODEL] = ""


def brings_its_own_words(lesson: Lesson) -> bool:
    """Return whether the step that comes does not read the sentence on the page, nor a head that one could choose."""
    coming = _coming(lesson)
    if parameters.TEACH.chosen():
        return False  # a class can be asked about a sentence of its own
    return parameters.MODE.chosen() != parameters.TOY and any(
        step.own_words for step in lesson.steps if step.name == coming
    )


def brings_its_own_head(lesson: Lesson) -> bool:
    """Return whether the step that comes chooses its head itself."""
    return any(step.own_head for step in lesson.steps if step.name == _coming(lesson))


def _begin_texts(opened: Lesson | Bench | None) -> str:
    """Choose the sentence of the page, and return the one with which it begins."""
    if not isinstance(opened, Lesson):
        return begin("")
    step = _coming(opened)
    return begin(opened.text_at(step), f"{opened.id}/{step}", tried=tries_a_text())


def _coming(opened: Lesson) -> str:
    return parameters.STEP.coming([step.name for step in opened.steps])


def _texts(opened: Lesson | Bench | None, first: str) -> None:
    """Draw the fields of the sentence, and the examples."""
    run_it = "Press Ctrl+Enter, or click elsewhere, to run it. The sentence is part of this page's link."
    parameters.TEXT.area("Your sentence", 116, first, help=run_it)
    st.selectbox(
        "Examples",
        EXAMPLES,
        index=None,
        key="_example",
        placeholder="Pick one",
        format_func=lambda each: each.name,
        on_change=_take_example,
    )
    if first == parameters.TEXT.chosen() and isinstance(opened, Lesson):
        steps = {step.name: step.instead for step in opened.steps}
        st.caption(
            f"The course’s sentence. {steps[_coming(opened)]} Type or choose your own: the lab keeps it, and every "
            "step can show it."
        )
    elif (example := example_of(parameters.TEXT.chosen(), parameters.PAIR.chosen())) is not None:
        st.caption(example.why)


def _second_sentence() -> None:
    parameters.PAIR.line(
        "Second sentence (optional)", help="BERT reads two texts as a pair: segment A, then segment B."
    )


def _take_example() -> None:
    chosen = st.session_state.get("_example")
    if isinstance(chosen, Example):
        use_texts(chosen.text, chosen.pair)
        st.session_state["_example"] = None


def choose_by_job(model: LoadedModel, layer: int, head: int) -> None:
    """Draw the choice of a head by its job, if the heads were measured; ``layer`` and ``head`` (from 0) are chosen.

    A toy's heads have a rule instead, and heads with random weights have learned nothing.
    """
    # These modules import torch, which the glossary does not need.
    from lab.evidence.notable import job_of
    from lab.ui.long_work import offer

    if twin_of(model.id) is not None or model.id not in runs.model_ids():
        return
    with folded():
        found = runs.head_jobs(model)
        if found is None:
            help = "Every head reads 300 sentences with grammar that people have annotated. This takes a minute."
            offer(("head jobs", model.id), "Find what each head does", partial(runs.measure_heads, model), help)
            return
        if not found:
            st.caption("No head of this model does a known job clearly better than a fixed distance or a uniform head.")
            return
        offered = [(each, doing) for each in found for doing in each.heads]
        own = st.session_state.get("_job")
        if own not in offered or (own[1].layer, own[1].head) != (layer, head):
            own = job_of(found, layer, head)
        st.session_state["_job"] = own

        def take() -> None:
            if (chosen := st.session_state["_job"]) is not None:
                parameters.LAYER.set(chosen[1].layer + 1)
                parameters.HEAD.set(chosen[1].head + 1)

        st.selectbox(
            "By what it does",
            offered,
            key="_job",
            on_change=take,
            placeholder="No job stands out",
            format_func=lambda each: f"{each[0].job.does} · {each[1].name}",
            help="These jobs were measured on many sentences, not on yours; copying was measured on random tokens. A "
            "head is listed only if it is clearly better than the best fixed distance, or than a uniform head.",
        )
        if own is not None:
            st.caption(_told(*own))


def _told(job: Notable, doing: Doing) -> str:
    """Say how well a head does a job, and where it is compared with a simple rule."""
    if job.job.grammatical:
        return (
            f"Right in {100 * doing.score:.0f} of 100 cases, those on which the lab chose it. Lesson 6 compares it "
            "with simple rules."
        )
    uniform = "1" if job.chance is None else f"{job.chance:.2f}"
    return f"In the lab’s many sentences, its score is {doing.score:.2f} of 1; a uniform head scores {uniform}."


def _mode() -> str:
    return parameters.MODE.choose(
        "Input",
        help="Toy: made-up words or sentences of letters, small enough that you can see everything.",
    )


def _toy_weights(*, trains: bool) -> None:
    """Draw the choice of a toy, and say which toy it is. A lesson ``trains`` toys; a bench only shows them."""
    if parameters.TOY_WEIGHTS.name not in st.session_state:
        parameters.TOY_WEIGHTS.set(parameters.TRAINED if trains else parameters.CONSTRUCTED)
    weights = parameters.TOY_WEIGHTS.choose("Weights")
    if weights == parameters.TRAINED:
        _training(trains)
    elif weights == parameters.RANDOM:
        with folded():
            heads(weights)
    else:
        heads(weights)


def _training(trains: bool) -> None:
    """Draw the toy's task and number of layers, and in a lesson the button that leads to the training step."""
    parameters.TOY_TASK.choose("Task", on_change=_take_task)
    with folded():
        parameters.TOY_LAYERS.choose("Layers")
        heads(parameters.TRAINED)
    if trains:
        st.button("Train", icon=":material/model_training:", on_click=ask_for_training)


def _take_task() -> None:
    """Begin a new task with the number of layers that its solution has."""
    parameters.TOY_LAYERS.set(task_named(parameters.TOY_TASK.chosen()).layers)
