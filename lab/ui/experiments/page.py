"""The frame of an experiment's page: the claim above, what the result does not show and the way back below."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.course.pages import LESSONS, Experiment, Lesson, experiment_of, number, page_of, script
from lab.ui import chosen_tokens, parameters, runs, selection, shell
from lab.ui.downloads import available
from lab.ui.frame.header import draw_header
from lab.ui.frame.script import papers
from lab.ui.page import OpenPage
from lab.ui.parameter_kinds import Parameter
from lab.ui.sidebar import use_texts

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace


@dataclass(frozen=True)
class ExperimentPage(OpenPage):
    """The page of an experiment."""

    experiment: Experiment

    def model(self) -> LoadedModel:
        """The model of the sidebar, once it is here."""
        return runs.model(available(self.selection[parameters.MODEL]))

    def finish(self) -> None:
        """What is not shown, notes of what was changed, the way back, and what to read."""
        st.header("What this does not show")
        st.markdown("\n".join(f"- {each}" for each in self.experiment.not_shown))
        super().finish()
        for lesson in LESSONS:
            if lesson.id in self.experiment.after:
                label = f"Back to lesson {number(lesson)}, {lesson.title}"
                st.page_link(script(lesson.page), label=label, icon=":material/arrow_back:")
        papers(self.experiment.reading)


def play(id: str, show: Callable[[ExperimentPage], Trace | None]) -> None:
    """Run the page of the experiment with this id; ``show`` draws it, and returns the run that the badge proves."""
    page = open_experiment(id)
    trace = show(page)
    page.finish()
    if trace is not None:
        page.prove(trace)


def open_experiment(id: str) -> ExperimentPage:
    """Guard the page, draw header, claim and what would count against it."""
    shell.route()
    experiment = experiment_of(id)
    header = draw_header(experiment.title, experiment.question, experiment.after)
    page = ExperimentPage(selection.current(), header, st.empty(), weights=False, experiment=experiment)
    page.here(None)
    if not page.selection[parameters.TEACH]:
        st.markdown(f"**The claim.** {experiment.claim} ({experiment.whose}.)")
        st.markdown(f"**What would count against it.** {experiment.against}")
    return page


def look_there(id: str, text: str, changes: Mapping[Parameter[Any], Any], key: str, step: str = "") -> None:
    """A button that leads to a page and a ``step``, by their ids, with ``text`` and the parameters of ``changes``."""
    page = page_of(id)
    label = f"Lesson {number(page)}" if isinstance(page, Lesson) else page.title
    there: dict[Parameter[Any], str] = {parameters.STEP: page.step(step).name} if step else {}
    args = text, {**changes, **there}
    if st.button(label, key=key, icon=":material/arrow_forward:", type="tertiary", on_click=_take, args=args):
        selection.open_page(page, there.get(parameters.STEP, ""))


def asking_step(model: LoadedModel) -> str:
    """The id of the step of lesson 9 that asks a model for a word."""
    return "next-token" if model.config.causal else "hide-words"


def _take(text: str, changes: Mapping[Parameter[Any], Any]) -> None:
    use_texts(text, "")
    parameters.MODE.set(parameters.MODE.default)
    parameters.TRAINING.set(parameters.TRAINING.default)
    chosen_tokens.forget()
    for parameter, value in changes.items():
        parameter.set(value)
