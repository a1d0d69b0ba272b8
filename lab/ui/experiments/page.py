"""The frame of an experiment's page: the claim above, what the result does not show and the way back below."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.course.experiments import Experiment
from lab.course.lessons import LESSONS, number, script
from lab.ui import chosen_tokens, parameters, runs, selection, shell
from lab.ui.downloads import available
from lab.ui.frame.header import draw_header
from lab.ui.frame.script import papers
from lab.ui.page import OpenPage
from lab.ui.parameter_kinds import Parameter
from lab.ui.sidebar import use_texts

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel


@dataclass(frozen=True)
class ExperimentPage(OpenPage):
    """The page of an experiment."""

    experiment: Experiment

    def model(self) -> LoadedModel:
        """The model of the sidebar, once it is here."""
        return runs.model(available(self.selection.model))

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


def open_experiment(page_file: str) -> ExperimentPage:
    """Guard the page, draw header, claim and what would count against it. First line of each experiment."""
    experiment = shell.current_experiment(page_file)
    header = draw_header(experiment.title, experiment.question, experiment.after)
    page = ExperimentPage(selection.current(), header, st.empty(), weights=False, experiment=experiment)
    page.here(None)
    if not page.selection.teach:
        st.markdown(f"**The claim.** {experiment.claim} ({experiment.whose}.)")
        st.markdown(f"**What would count against it.** {experiment.against}")
    return page


def look_there(label: str, page: str, text: str, changes: Mapping[Parameter[Any], Any], key: str) -> None:
    """A button that leads to ``page`` with ``text`` in it and the parameters as ``changes`` say."""
    if st.button(
        label, key=key, icon=":material/arrow_forward:", type="tertiary", on_click=_take, args=(text, changes)
    ):
        there = {parameters.STEP.name: str(changes[parameters.STEP])} if parameters.STEP in changes else {}
        st.switch_page(script(page), query_params=selection.elsewhere() | there)


def _take(text: str, changes: Mapping[Parameter[Any], Any]) -> None:
    use_texts(text, "")
    parameters.MODE.set(parameters.MODE.default)
    parameters.TRAINING.set(parameters.TRAINING.default)
    chosen_tokens.forget()
    for parameter, value in changes.items():
        parameter.set(value)
