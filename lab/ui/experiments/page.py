"""The page of any experiment: claim, prediction, figure, meaning and verdict; all else folded; limits at the end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.course.pages import LESSONS, ExperimentRecord, Lesson, experiment_of, number, page_of, page_path
from lab.course.words import escaped
from lab.evidence.shipped import model_hash
from lab.questions.bets import Bet
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.downloads import available
from lab.ui.drawing import code, draw
from lab.ui.experiments.experiment import Experiment
from lab.ui.experiments.prediction import is_predicted, predicted, show_answer
from lab.ui.experiments.results import origin, show_rule, show_verdict
from lab.ui.frame.closing import meaning, papers
from lab.ui.frame.header import draw_header
from lab.ui.long_work import offer
from lab.ui.page import OpenPage
from lab.ui.parameter_kinds import Parameter
from lab.ui.shared.met_again import met_again
from lab.ui.sidebar import keep_model
from lab.ui.texts import use_texts

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace


@dataclass(frozen=True)
class ExperimentPage(OpenPage):
    """The page of an experiment."""

    record: ExperimentRecord

    def model(self) -> LoadedModel:
        """Load the model chosen in the sidebar; stop the page while this model still has to be downloaded."""
        return runs.model(available(self.selection[parameters.MODEL]))

    def predicted(self, name: str, bet: Bet) -> bool:
        """Say how the claim is tested and ask for a prediction, once for each ``name``.

        Returns whether the result may be seen.
        """
        if not is_predicted(name) and not self.selection[parameters.TEACH]:
            st.markdown(f"**The test.** {self.record.test}")
        return predicted(name, bet)

    def finish(self) -> None:
        """Draw the limits of the result, notes on changed selections, links back to lessons, and the reading list."""
        with st.expander("What this does not show", icon=":material/visibility_off:"):
            st.markdown("\n".join(f"- {each}" for each in self.record.not_shown))
        super().finish()
        for lesson in LESSONS:
            if lesson.id in self.record.after:
                label = f"Back to lesson {number(lesson)}, {lesson.title}"
                st.page_link(page_path(lesson.page), label=label, icon=":material/arrow_back:")
        papers(self.record.reading)


def play(id: str, experiment: Experiment[Any]) -> None:
    """Draw the page of the experiment with this id, and prove the run that it shows."""
    page = open_experiment(id)
    trace = show(page, experiment)
    show_method(page.record, page.model(), experiment.method)
    page.finish()
    if trace is not None:
        page.prove(trace)


def open_experiment(id: str) -> ExperimentPage:
    """Draw header and claim, and return the page to fill."""
    record = experiment_of(id)
    header = draw_header(record.title, record.question, record.after)
    page = ExperimentPage(selection.current(), header, st.empty(), weights=False, record=record)
    page.here(None)
    if not page.selection[parameters.TEACH]:
        st.markdown(f"**The claim.** {record.claim}")
    return page


def show(page: ExperimentPage, experiment: Experiment[Any]) -> Trace | None:
    """Draw what can be seen of the experiment now; returns one of its runs, for the badge."""
    model, measurement = page.model(), experiment.measurement
    found = measurement.known(model)
    if found is None and (reason := measurement.untestable(model)):
        experiment.show_untestable(model, reason)
        return None
    name, bet = f"{measurement.id}.{model.id}", experiment.bet(model)
    if not is_predicted(name):
        experiment.show_before(model)
    if not page.predicted(name, bet):
        return None
    if found is None:
        st.markdown(f"{escaped(model.id)} has not been measured yet. {experiment.takes(model)}")
        _offer_run(experiment, model, "Run the experiment")
        experiment.show_choices()
        experiment.show_own(model)
        return None
    if reason := experiment.empty(model, found):
        st.info(reason, icon=":material/info:")
        return None
    trace = experiment.show_first(model, found)
    show_answer(name, bet, experiment.decided(found))
    _show_result(experiment, model, found)
    experiment.show_own(model)
    with st.expander(experiment.cases, icon=":material/format_quote:"):
        return experiment.show_cases(model, found) or trace


def _show_result(experiment: Experiment[Any], model: LoadedModel, found: Any) -> None:
    """Draw the figure, its meaning and the verdict; folded, all that the result holds."""
    draw(experiment.figure(model, found), experiment.name)
    st.caption(experiment.caption(model, found))
    meaning(experiment.meaning(found, model.id))
    show_verdict(experiment.verdict(found))
    if (head := experiment.head(found)) is not None:
        met_again(model, head)
    experiment.show_choices()
    with st.expander("More about the result", icon=":material/notes:"):
        experiment.show_in_full(model, found)
    experiment.show_numbers(model, found)
    show_rule(experiment.rule)
    experiment.show_more(model, found)
    with origin(found.made, experiment.data):
        _offer_run(experiment, model, "Measure it again here")
    code(*experiment.code)


def _offer_run(experiment: Experiment[Any], model: LoadedModel, label: str) -> None:
    key = experiment.measurement.id, model_hash(model)
    offer(key, label, partial(experiment.measurement.again, model), experiment.help)


def show_method(record: ExperimentRecord, model: LoadedModel, method: Callable[[LoadedModel], str]) -> None:
    """Draw, folded, how the claim is tested on a model, what would count against it, and the role of the training."""
    with st.expander("How it is tested, and what would count against the claim", icon=":material/science:"):
        st.markdown(f"**Whose claim it is.** {record.whose}.")
        if told := method(model):
            st.markdown(f"**How it is tested.** {record.test} {told}")
        st.markdown(f"**What would count against it.** {record.against}")
        if told := record.disclosed.get(model.id, ""):
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
