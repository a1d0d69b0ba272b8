"""The frame of an experiment's page: claim and test at the top; method, limits and the way back folded at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.course.pages import LESSONS, Experiment, Lesson, experiment_of, number, page_of, script
from lab.questions.question import Question
from lab.ui import chosen_tokens, parameters, runs, selection, shell
from lab.ui.downloads import available
from lab.ui.experiments.guesses import is_predicted, predicted
from lab.ui.frame.header import draw_header
from lab.ui.frame.script import papers
from lab.ui.page import OpenPage
from lab.ui.parameter_kinds import Parameter
from lab.ui.sidebar import keep_model, use_texts

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace


@dataclass(frozen=True)
class ExperimentPage(OpenPage):
    """The page of an experiment."""

    experiment: Experiment

    def model(self) -> LoadedModel:
        """Load the model chosen in the sidebar; stop the page while this model still has to be downloaded."""
        return runs.model(available(self.selection[parameters.MODEL]))

    def predicted(self, name: str, asks: Sequence[Question]) -> bool:
        """Say how the claim is tested and ask for a prediction, once for each ``name``.

        Returns whether the result may be seen.
        """
        if not is_predicted(name) and not self.selection[parameters.TEACH]:
            st.markdown(f"**The test.** {self.experiment.test}")
        return predicted(name, asks)

    def finish(self) -> None:
        """Draw the limits of the result, notes on changed selections, links back to lessons, and the reading list."""
        with st.expander("What this does not show", icon=":material/visibility_off:"):
            st.markdown("\n".join(f"- {each}" for each in self.experiment.not_shown))
        super().finish()
        for lesson in LESSONS:
            if lesson.id in self.experiment.after:
                label = f"Back to lesson {number(lesson)}, {lesson.title}"
                st.page_link(script(lesson.page), label=label, icon=":material/arrow_back:")
        papers(self.experiment.reading)


def play(
    id: str, show: Callable[[ExperimentPage], Trace | None], method: Callable[[LoadedModel], str] = lambda _: ""
) -> None:
    """Run the page of the experiment that has this id.

    ``show`` draws the page, and returns the run that the badge proves. ``method`` says how the claim is tested on a
    model.
    """
    page = open_experiment(id)
    trace = show(page)
    show_method(page.experiment, page.model(), method)
    page.finish()
    if trace is not None:
        page.prove(trace)


def open_experiment(id: str) -> ExperimentPage:
    """Guard the page, draw header and claim, and return the page to fill."""
    shell.route()
    experiment = experiment_of(id)
    header = draw_header(experiment.title, experiment.question, experiment.after)
    page = ExperimentPage(selection.current(), header, st.empty(), weights=False, experiment=experiment)
    page.here(None)
    if not page.selection[parameters.TEACH]:
        st.markdown(f"**The claim.** {experiment.claim}")
    return page


def show_method(experiment: Experiment, model: LoadedModel, method: Callable[[LoadedModel], str]) -> None:
    """Draw, folded, how the claim is tested on a model, what would count against it, and the role of the training."""
    with st.expander("How it is tested, and what would count against the claim", icon=":material/science:"):
        st.markdown(f"**Whose claim it is.** {experiment.whose}.")
        if told := method(model):
            st.markdown(f"**How it is tested.** {experiment.test} {told}")
        st.markdown(f"**What would count against it.** {experiment.against}")
        if told := experiment.disclosed.get(model.id, ""):
            st.markdown(f"**What the training has to do with it.** {told}")


def look_there(id: str, text: str, changes: Mapping[Parameter[Any], Any], key: str, step: str = "") -> None:
    """Draw a button that opens a page at its ``step`` (both by id), with ``text`` and the parameters in ``changes``."""
    page = page_of(id)
    label = f"Lesson {number(page)}" if isinstance(page, Lesson) else page.title
    there: dict[Parameter[Any], str] = {parameters.STEP: page.step(step).name} if step else {}
    args = text, {**changes, **there}
    if st.button(label, key=key, icon=":material/arrow_forward:", type="tertiary", on_click=_take, args=args):
        selection.open_page(page, there.get(parameters.STEP, ""))


def asking_step(model: LoadedModel) -> str:
    """Return the id of the step of lesson 9 that asks a model for a word."""
    return "next-token" if model.config.causal else "hide-words"


def _take(text: str, changes: Mapping[Parameter[Any], Any]) -> None:
    use_texts(text, "")
    keep_model()
    parameters.MODE.set(parameters.MODE.default)
    parameters.TRAINING.set(parameters.TRAINING.default)
    chosen_tokens.forget()
    for parameter, value in changes.items():
        parameter.set(value)
