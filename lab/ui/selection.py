"""The learner's choices: one validated :class:`Selection`, shared by the URL and every page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import streamlit as st

from lab.course.pages import Lesson, Page, page_path
from lab.course.words import escaped, quoted
from lab.models.encoding import clean
from lab.ui import parameters
from lab.ui.address import here, names_of
from lab.ui.parameter_kinds import Parameter, TextParameter, drawn, whole_number
from lab.ui.parameters_of_a_run import Counted, Listed, Model, PlaceParameter
from lab.ui.texts import is_begun, left_behind, put_texts

_NOTES, _ASKED = "selection.notes", "asked."
_BY_NAME: Mapping[str, Parameter[Any]] = {each.name: each for each in parameters.PARAMETERS}
_RUNS: tuple[Parameter[Any], ...] = (
    parameters.MODE,
    parameters.TEXT,
    parameters.PAIR,
    parameters.MASKED,
    parameters.MODEL,
    parameters.TRAINING,
)
# The toy's rule and the tokenizer's trainer belong to single lessons.
_TOY_RUNS: tuple[Parameter[Any], ...] = (
    parameters.MODE,
    parameters.TOY_WEIGHTS,
    *parameters.TOY_NUMBERS,
    parameters.TOY_OTHER,
    parameters.TOY_HEADS,
    parameters.TOY_OWN,
    parameters.TOY_RULE,
    parameters.TOY_TRAINER,
)
_TOY_LEARNS: tuple[Parameter[Any], ...] = (parameters.TOY_TASK, parameters.TOY_LAYERS, parameters.TOY_TRAINED_HEADS)
T = TypeVar("T", bound=str | int | float)


@dataclass(frozen=True)
class Selection:
    """The state of the lab: a value for each of the parameters. A parameter missing in ``values`` has its default.

    ``selection[TEXT]`` is the text; ``values`` are by the parameter's name.
    """

    values: Mapping[str, Any] = field(default_factory=dict)

    def __getitem__(self, parameter: Parameter[T]) -> T:
        value: T = self.values.get(parameter.name, parameter.default)
        return value

    def but(self, changes: Mapping[Parameter[Any], Any]) -> Selection:
        """This selection with other values for some parameters."""
        return Selection({**self.values, **{each.name: value for each, value in changes.items()}})


def current() -> Selection:
    """Read the selection from the session; a value that is missing or of a wrong type becomes its default."""
    # The session is read as a whole: reading a hundred values one by one takes a sixth of a rerun's time.
    values: dict[str, Any] = {}
    for name, value in st.session_state.to_dict().items():
        parameter = _BY_NAME.get(str(name))
        if parameter is not None and isinstance(value, type(parameter.default)):
            values[parameter.name] = clean(value) if isinstance(parameter, TextParameter) else value
    return Selection(values)


def what_runs(now: Selection) -> tuple[object, ...]:
    """The choices that decide the run of a selection, such as sentence and model, but not the place on screen."""
    if now[parameters.MODE] == parameters.TOY:
        trained = now[parameters.TOY_WEIGHTS] == parameters.TRAINED
        return tuple(now[each] for each in (*_TOY_RUNS, *(_TOY_LEARNS if trained else ())))
    twin = now[parameters.TRAINING] == parameters.RANDOM
    return tuple(now[each] for each in (*_RUNS, *((parameters.TWIN_SEED,) if twin else ())))


def start(models: tuple[str, ...]) -> None:
    """On a session's first run, take over the choices in the URL, and note the values without a meaning.

    Widgets bound to the URL ignore bad values silently; here the learner gets a note. The URL is corrected and the
    script runs again: otherwise a widget that accepts more ("3.0") would find the bad value.
    """
    if "_started" in st.session_state:
        return
    st.session_state["_started"] = True
    mended = False
    for name, raw in st.query_params.to_dict().items():
        parameter = _BY_NAME.get(name)
        if parameter is None:
            continue
        if isinstance(parameter, Counted | Listed):  # the parts and names are not known yet: see fit() and fit_name()
            st.session_state[_ASKED + name] = raw
        value = _meant(parameter, raw, models)
        if value is not None:
            parameter.set(value)
        elif not isinstance(parameter, Counted):
            note(parameter.refusal(raw))
            del st.query_params[name]
            mended = True
        if isinstance(parameter, TextParameter) and len(raw) > parameter.longest:
            note(f"The text was longer than {parameter.longest} characters, so the rest was left out.")
            st.query_params[name] = value
            mended = True
    if mended:
        st.rerun()


def asked(parameter: Counted | Listed) -> str | None:
    """Return, once, the value of ``parameter`` in the first link, read before the parts or names were known."""
    return st.session_state.pop(_ASKED + parameter.name, None)


def asks(parameter: Counted, number: int) -> bool:
    """Return whether the visit's first link names this ``number``, and :func:`fit` has not read the link yet."""
    return bool(st.session_state.get(_ASKED + parameter.name) == str(number))


def _meant(parameter: Parameter[Any], raw: str, models: tuple[str, ...]) -> Any:
    """The value that ``raw`` stands for in a link, on a server with these ``models``; None if it has no meaning."""
    if isinstance(parameter, Model) and raw not in models:
        return None
    return parameter.meant(raw)


def link(page: Page | None = None, now: Selection | None = None) -> dict[str, str]:
    """Return the parameters that describe the view ``now``, without defaults.

    Only the parameters of ``page`` are included, or of the page on screen if ``page`` is None. A sentence with which a
    page began is not taken to another ``page``.
    """
    now, names = now or current(), names_of(page or here())
    if page is not None and is_begun(now[parameters.TEXT], now[parameters.PAIR]):
        names -= {parameters.TEXT.name, parameters.PAIR.name}
    return {
        each.name: str(value)
        for each in parameters.PARAMETERS
        if each.name in names
        and ((value := now[each]) != each.default or (each.named and each.name in st.session_state))
    }


def open_page(page: Page, step: str = "") -> None:
    """Leave for another page, or for the ``step`` of that name on it, and take the selection along.

    The address has to name the parameters without a widget on this page. The other parameters go along in
    the session, and Streamlit raises an error if the address names them, too. The choices that another lesson begins
    without stay out of the address: a widget would begin with them.
    """
    apart = drawn() | (left_behind(page.id) if isinstance(page, Lesson) else frozenset())
    named = {name: value for name, value in link(page).items() if name not in apart}
    st.switch_page(page_path(page.page), query_params=named | ({parameters.STEP.name: step} if step else {}))


def bring_along() -> None:
    """Choose again, on another page, what is chosen, before the page draws its widgets.

    Streamlit keeps a value by its widget, and a widget of the same name on another page is another widget. It would
    begin without a value (streamlit 1.67, ``SessionState.register_widget``), unless the address names one.
    """
    for name, value in current().values.items():
        st.session_state[name] = value


def take(params: Mapping[str, str], models: tuple[str, ...]) -> None:
    """Select what :func:`link` named. Anybody may have written the link: a value without meaning becomes its default.

    A model that this server does not have is named in a note, because the view is of another model then.

    Call this function before the sidebar is drawn, that is, from a callback. The text of the link stays on the step to
    which the link leads.
    """
    put_texts()
    for parameter in parameters.PARAMETERS:
        if parameter.kept:
            raw = params.get(parameter.name)
            wanted = None if raw is None else _meant(parameter, raw, models)
            if raw is not None and wanted is None and isinstance(parameter, Model):
                note(parameter.refusal(raw))
            wanted = parameter.default if wanted is None else wanted
            if raw is not None or wanted != st.session_state.get(parameter.name, parameter.default):
                parameter.set(wanted)


def note(message: str) -> None:
    """Tell the learner, once, that something they asked for was changed."""
    st.session_state.setdefault(_NOTES, []).append(message)


def take_notes() -> list[str]:
    """Return the notes that have not been shown yet."""
    return list(dict.fromkeys(st.session_state.pop(_NOTES, [])))


def fit(parameter: Counted, most: int, what: str) -> None:
    """Bring the number of a layer, head or sentence into 1 … ``most`` before its widget is drawn; note any change."""
    called, link_says = parameter.name.replace("_", " "), asked(parameter)
    if link_says is not None and whole_number(link_says, 1, most) is None:
        note(f"There is no {called} {quoted(link_says[:20])} in {escaped(what)}: {called}s run from 1 to {most}.")
        parameter.set(most if parameter.meant(link_says) else 1)
    elif not 1 <= (value := parameter.chosen()) <= most and parameter.name in st.session_state:
        note(f"{escaped(what)} has {most} {called}s, so {called} {value} became {called} {most}.")
        parameter.set(most)


def fit_name(parameter: Listed, offered: Sequence[str], first: str) -> None:
    """Note that the visit's first link has a name that is not ``offered``, so that the widget begins with ``first``.

    Call this function before the widget is drawn.
    """
    link_says = asked(parameter)
    if link_says is not None and link_says not in offered:
        note(f"There is no {parameter.name} {quoted(link_says[:40])} here, so you see {quoted(first)}.")


def fit_place(parameter: PlaceParameter, most: int, what: str) -> int:
    """Bring a place in a text or a vector into 1 … ``most``, note a change, and return the place; 0 if none is chosen.

    ``what`` has ``most`` tokens, dimensions or neurons.
    """
    called, value = parameter.name.rpartition("_")[2], parameter.chosen()
    if value > most:
        note(f"{escaped(what)} has {most:,} {called}s, so {called} {value:,} became {most:,}.")
        parameter.set(most)
    return min(value, most)


def refuse_the_rest() -> None:
    """Note the words in the visit's first link that should be numbers of parts, if no widget has read them."""
    for parameter in parameters.PARAMETERS:
        raw = st.session_state.get(_ASKED + parameter.name)
        if isinstance(parameter, Counted) and raw is not None and parameter.meant(raw) is None:
            del st.session_state[_ASKED + parameter.name]
            note(parameter.refusal(raw))
