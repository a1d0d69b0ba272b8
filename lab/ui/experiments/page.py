"""The page of any experiment: claim, bet, one figure, one table, limits, one thing to try; two folds for all else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import streamlit as st

from lab.course.pages import LESSONS, ExperimentRecord, Lesson, experiment_of, number, page_of, page_path
from lab.course.words import escaped
from lab.evidence.reasons import rule_of
from lab.evidence.shipped import Provenance, model_hash
from lab.questions.bets import Bet
from lab.questions.progress import LONGEST_NAME
from lab.questions.question import Right
from lab.ui import chosen_tokens, parameters, runs, selection
from lab.ui.download_offer import available
from lab.ui.drawing import code, draw, show_numbers
from lab.ui.experiments.claim_table import frame, show_claims
from lab.ui.experiments.experiment import Experiment
from lab.ui.frame.header import draw_header
from lab.ui.long_work import offer
from lab.ui.page import OpenPage
from lab.ui.parameter_kinds import Parameter
from lab.ui.quiz.question_on_screen import COMMIT, progress, remember
from lab.ui.screen import meaning, papers
from lab.ui.shared.met_again import met_again
from lab.ui.sidebar import keep_model
from lab.ui.texts import use_texts

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace

_ONE_TRAINING = "Each model was trained once: another training might give other numbers."


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
        """Draw notes on changed selections, links back to lessons, and the reading list."""
        super().finish()
        for lesson in LESSONS:
            if lesson.id in self.record.after:
                label = f"Back to lesson {number(lesson)}, {lesson.title}"
                st.page_link(page_path(lesson.page), label=label, icon=":material/arrow_back:")
        papers(self.record.reading)


def play(id: str, experiment: Experiment[Any]) -> None:
    """Draw the page of the experiment with this id, and prove the run that it shows."""
    page = open_experiment(id)
    # Looked up once: a run that ends while the page is drawn shows its result in the next run of the page.
    found = experiment.measurement.known(page.model())
    trace = show(page, experiment, found)
    with st.expander("How it is tested", icon=":material/science:"):
        _show_method(page.record, experiment, page.model(), found)
    page.finish()
    if trace is not None:
        page.prove(trace)


def open_experiment(id: str) -> ExperimentPage:
    """Draw header and claim with its paper, and return the page to fill."""
    record = experiment_of(id)
    header = draw_header(record.title, record.question, record.after)
    page = ExperimentPage(selection.current(), header, st.empty(), weights=False, record=record)
    page.here(None)
    if not page.selection[parameters.TEACH]:
        st.markdown(f"**The claim.** {record.claim} *({record.whose}.)*")
    return page


def show(page: ExperimentPage, experiment: Experiment[Any], found: Any | None) -> Trace | None:
    """Draw what can be seen of the experiment now, with its result if there is one; return a run, for the badge."""
    model, measurement, record = page.model(), experiment.measurement, page.record
    if found is None and (reason := measurement.untestable(model)):
        experiment.show_untestable(model, reason)
        return None
    name, bet = _name(experiment, model), experiment.bet(model)
    if not is_predicted(name):
        experiment.show_before(model)
    if not page.predicted(name, bet):
        return None
    if found is None:
        st.markdown(f"{escaped(model.id)} has not been measured yet. {experiment.takes(model)}")
        _offer_run(experiment, model, "Run the experiment")
        experiment.show_own(model)
        return None
    if reason := experiment.empty(model, found):
        st.info(reason, icon=":material/info:")
        return None
    trace = experiment.show_first(model, found)
    show_answer(name, bet, experiment.decided(found))
    _show_result(experiment, model, found)
    st.markdown("**What this does not show**\n\n" + "\n".join(f"- {each}" for each in record.not_shown))
    experiment.show_own(model)
    with st.expander(experiment.cases, icon=":material/format_quote:"):
        return experiment.show_cases(model, found) or trace


def _name(experiment: Experiment[Any], model: LoadedModel) -> str:
    """Return the name under which the learner's progress keeps the bet on a model."""
    return f"{experiment.measurement.id}.{model.id}"


def _show_result(experiment: Experiment[Any], model: LoadedModel, found: Any) -> None:
    """Draw the figure and its meaning, and the table of the claims."""
    draw(experiment.figure(model, found), experiment.name)
    st.caption(experiment.caption(model, found))
    meaning(experiment.meaning(found, model.id))
    if (head := experiment.head(found)) is not None:
        met_again(model, head)
    lines = experiment.claims(found)
    show_claims(lines, f"{experiment.note} {_ONE_TRAINING}")
    show_numbers(partial(frame, lines), f"{experiment.name}-claims")
    code(*experiment.code)


def _show_method(record: ExperimentRecord, experiment: Experiment[Any], model: LoadedModel, found: Any | None) -> None:
    """Say how the claim is tested, what would count against it, and after the bet the rule and the numbers’ origin."""
    if told := experiment.method(model):
        st.markdown(f"**The test.** {record.test} {told}")
    st.markdown(f"**What would count against it.** {record.against}")
    if told := record.disclosed.get(model.id, ""):
        st.markdown(f"**What the training has to do with it.** {told}")
    if found is None or not is_predicted(_name(experiment, model)):
        return
    given = rule_of(line.judged.verdict for line in experiment.claims(found))
    st.markdown(f"**The rule of the verdict.** {experiment.rule}\n\n{given}")
    made: Provenance | None = found.made
    if made is None:
        st.caption("This result was measured on this server, with the model on screen.")
    else:
        st.caption(
            f"This result ships with the lab. `{made.command}` computed it at commit {made.commit[:10]}, for these "
            f"very weights (SHA-256 {made.model[:10]}…) and {experiment.data} ({made.data[:10]}…)."
        )
    _offer_run(experiment, model, "Measure it again here")


def _offer_run(experiment: Experiment[Any], model: LoadedModel, label: str) -> None:
    key = experiment.measurement.id, model_hash(model)
    offer(key, label, partial(experiment.measurement.again, model), experiment.help)


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


def is_predicted(name: str) -> bool:
    """Return whether the result may be seen: the prediction was made, or a class was shown the result."""
    return _step(name) in progress().predictions or _key(name) in st.session_state


def predicted(name: str, bet: Bet) -> bool:
    """Ask for the prediction, once for each ``name`` (experiment and model). Returns whether the result may be seen.

    A class answers aloud, and a button reveals the result.
    """
    if is_predicted(name):
        return True
    teach = bool(parameters.TEACH.chosen())
    with st.container(border=True):
        st.markdown(f":material/psychology_alt: **Predict.** {bet.prompt}")
        if teach:
            st.markdown("\n".join(f"- **{belief.text}.** {belief.reason}" for belief in bet.beliefs))
            st.button("Reveal", key=f"{_key(name)}.reveal", on_click=_reveal, args=(name,))
            return False
        choice = st.radio(
            bet.prompt,
            range(len(bet.beliefs)),
            index=None,
            format_func=[belief.text for belief in bet.beliefs].__getitem__,
            captions=[belief.reason for belief in bet.beliefs],
            label_visibility="collapsed",
            key=f"{_key(name)}.{bet.id}",
        )
        with st.container(horizontal=True):
            st.button(
                COMMIT,
                key=f"{_key(name)}.commit",
                type="primary",
                disabled=choice is None,
                on_click=_commit,
                args=(name, bet, choice),
            )
            st.button("Show me", key=f"{_key(name)}.skip", type="tertiary", on_click=_commit, args=(name, bet, None))
    return False


def show_answer(name: str, bet: Bet, decided: Right | None) -> None:
    """Draw what the result says of the prediction; folded, with the question, if no prediction was made."""
    choice = progress().predictions.get(_step(name), {}).get(bet.question.key)
    place = (
        st.expander("What was asked", icon=":material/psychology_alt:") if choice is None else st.container(border=True)
    )
    with place:
        if choice is None:
            st.markdown(bet.prompt)
        st.markdown(_answer(bet, decided, choice))
        st.button(
            "Ask me again",
            key=f"{_key(name)}.again",
            type="tertiary",
            icon=":material/undo:",
            on_click=_forget,
            args=(name,),
        )


def _answer(bet: Bet, decided: Right | None, choice: int | None) -> str:
    if decided is None:
        yours = "" if choice is None else f" You expected: {bet.beliefs[choice].text}."
        return f"**Not decided.** The result fits more than one answer.{yours}"
    if choice is None:
        return bet.told(decided)
    return f":material/{'check' if choice == decided[0] else 'close'}: {bet.told(decided, choice)}"


def _key(name: str) -> str:
    return f"_predicted.{name}"


def _step(name: str) -> str:
    """Return the name under which the learner's progress keeps the prediction of an experiment."""
    return f"experiment/{name}"[:LONGEST_NAME]


def _commit(name: str, bet: Bet, choice: int | None) -> None:
    now = progress().saw(_step(name))
    remember(now if choice is None else now.predicted(_step(name), bet.question.key, choice))


def _reveal(name: str) -> None:
    st.session_state[_key(name)] = True


def _forget(name: str) -> None:
    st.session_state.pop(_key(name), None)
    remember(progress().forgot(_step(name)))
