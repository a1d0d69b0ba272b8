"""What the learner has chosen: one validated :class:`Selection`, the same in the URL and on every page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lab.course.words import escaped, quoted
from lab.models.encoding import clean
from lab.ui import parameters
from lab.ui.address import renamed, toy_without_weights
from lab.ui.parameter_kinds import Parameter, TextParameter, drawn, whole_number
from lab.ui.parameters_of_a_run import Counted, Model

_NOTES, _ASKED, _TOY_LINK = "selection.notes", "asked.", "_toy_link"


@dataclass(frozen=True)
class Selection:
    """The state of the lab: a field for each of the parameters, under its name in the URL."""

    mode: str = parameters.MODE.default
    text: str = parameters.TEXT.default
    pair: str = parameters.PAIR.default
    model: str = parameters.MODEL.default
    weights: str = parameters.TRAINING.default
    twin_seed: int = parameters.TWIN_SEED.default
    toy_vocabulary: int = parameters.TOY_VOCABULARY.default
    toy_length: int = parameters.TOY_LENGTH.default
    toy_count: int = parameters.TOY_COUNT.default
    toy_seed: int = parameters.TOY_SEED.default
    toy_sentence: int = parameters.TOY_SENTENCE.default
    toy_own: str = parameters.TOY_OWN.default
    toy_weights: str = parameters.TOY_WEIGHTS.default
    toy_heads: int = parameters.TOY_HEADS.default
    toy_trained_heads: int = parameters.TOY_TRAINED_HEADS.default
    toy_task: str = parameters.TOY_TASK.default
    toy_layers: int = parameters.TOY_LAYERS.default
    toy_rule: str = parameters.TOY_RULE.default
    toy_trainer: str = parameters.TOY_TRAINER.default
    toy_merges: int = parameters.TOY_MERGES.default
    toy_word: str = parameters.TOY_WORD.default
    step: str = parameters.STEP.default
    layer: int = parameters.LAYER.default
    head: int = parameters.HEAD.default
    other_head: int = parameters.OTHER_HEAD.default
    sentence: int = parameters.FROM_SENTENCE.default
    other_sentence: int = parameters.TO_SENTENCE.default
    token: int = parameters.TOKEN.default
    key_token: int = parameters.KEY_TOKEN.default
    place: int = parameters.PLACE.default
    first_token: int = parameters.FIRST_TOKEN.default
    dimension: int = parameters.DIMENSION.default
    first_dimension: int = parameters.FIRST_DIMENSION.default
    neuron: int = parameters.NEURON.default
    first_neuron: int = parameters.FIRST_NEURON.default
    masked: str = parameters.MASKED.default
    heads: str = parameters.HEADS.default
    word: str = parameters.WORD.default
    card: str = parameters.CARD.default
    part: str = parameters.PART.default
    sense: str = parameters.SENSE.default
    word_sum: str = parameters.WORD_SUM.default
    segments: str = parameters.SEGMENTS.default
    order: str = parameters.ORDER.default
    pe_length: int = parameters.PE_LENGTH.default
    pe_width: int = parameters.PE_WIDTH.default
    pe_base: int = parameters.PE_BASE.default
    metric: str = parameters.METRIC.default
    version: str = parameters.VERSION.default
    sinks: str = parameters.SINKS.default
    tau: str = parameters.TAU.default
    source: str = parameters.SOURCE.default
    measure: str = parameters.MEASURE.default
    behind: str = parameters.BEHIND.default
    off: str = parameters.OFF.default
    neurons_drawn: int = parameters.NEURONS_DRAWN.default
    residual: str = parameters.RESIDUAL.default
    norm: str = parameters.NORM.default
    top: int = parameters.TOP.default
    temperature: float = parameters.TEMPERATURE.default
    top_k: str = parameters.TOP_K.default
    top_p: str = parameters.TOP_P.default
    more: str = parameters.MORE.default
    draw_seed: int = parameters.DRAW_SEED.default
    score: str = parameters.SCORE.default
    lens: str = parameters.LENS.default
    read_with: str = parameters.READ_WITH.default
    lens_tokens: str = parameters.LENS_TOKENS.default
    units: str = parameters.UNITS.default
    colour: str = parameters.COLOUR.default
    keys: str = parameters.KEYS.default
    pattern: str = parameters.PATTERN.default
    dimensions: int = parameters.DIMENSIONS.default
    flow_heads: str = parameters.FLOW_HEADS.default
    flow_reading: str = parameters.FLOW_READING.default
    flow_residual: str = parameters.FLOW_RESIDUAL.default
    flow_tokens: str = parameters.FLOW_TOKENS.default
    flow_threshold: str = parameters.FLOW_THRESHOLD.default
    flow_links: str = parameters.FLOW_LINKS.default
    follow: int = parameters.FOLLOW.default
    flow_layer: int = parameters.FLOW_LAYER.default
    tree: str = parameters.TREE.default
    tree_k: int = parameters.TREE_K.default
    tree_depth: int = parameters.TREE_DEPTH.default
    tensor: str = parameters.TENSOR.default
    state: int = parameters.STATE.default
    tensor_rows: str = parameters.TENSOR_ROWS.default
    tensor_columns: str = parameters.TENSOR_COLUMNS.default
    variant: str = parameters.VARIANT.default
    word_cut: str = parameters.WORD_CUT.default
    compare: str = parameters.COMPARE.default
    other_text: str = parameters.OTHER_TEXT.default
    other_pair: str = parameters.OTHER_PAIR.default
    other_model: str = parameters.OTHER_MODEL.default
    other_toy: str = parameters.OTHER_TOY.default
    toy_other: int = parameters.TOY_OTHER.default
    change: str = parameters.CHANGE.default
    figure: str = parameters.FIGURE.default
    patch: str = parameters.PATCH.default
    patch_way: str = parameters.PATCH_WAY.default
    clean_text: str = parameters.CLEAN_TEXT.default
    corrupt_text: str = parameters.CORRUPT_TEXT.default
    good_word: str = parameters.GOOD_WORD.default
    bad_word: str = parameters.BAD_WORD.default
    watch: int = parameters.WATCH.default
    cut: str = parameters.CUT.default
    blank: str = parameters.BLANK_TEXT.default
    look_up: str = parameters.LOOK_UP.default
    seed: int = parameters.SEED.default
    teach: int = parameters.TEACH.default
    room: str = parameters.ROOM.default
    projector: int = parameters.PROJECTOR.default
    summary: int = parameters.SUMMARY.default


_BY_NAME: Mapping[str, Parameter[Any]] = {each.name: each for each in parameters.PARAMETERS}


def current() -> Selection:
    """Read the selection out of the session; whatever is missing or of a wrong type is its default."""
    # One look at the whole session: to ask it a hundred times costs a rerun a sixth of its time.
    values: dict[str, Any] = {}
    for name, value in st.session_state.to_dict().items():
        parameter = _BY_NAME.get(str(name))
        if parameter is not None and isinstance(value, type(parameter.default)):
            values[parameter.name] = clean(value) if isinstance(parameter, TextParameter) else value
    return Selection(**values)


def what_runs(now: Selection) -> tuple[object, ...]:
    """What decides the run of a selection: the sentence and the model, without what is looked at in it."""
    if now.mode == parameters.TOY:
        task = (now.toy_task, now.toy_layers, now.toy_trained_heads) if now.toy_weights == parameters.TRAINED else ()
        own = (now.toy_rule, now.toy_trainer)  # of single lessons
        numbers = (getattr(now, each.name) for each in (*parameters.TOY_NUMBERS, parameters.TOY_OTHER))
        return (now.mode, now.toy_weights, *task, *numbers, now.toy_heads, now.toy_own, *own)
    twin = (now.weights, now.twin_seed) if now.weights == parameters.RANDOM else ()
    return (now.mode, now.text, now.pair, now.masked, now.model, *twin)


def start(models: tuple[str, ...]) -> None:
    """On a session's first run, take over what the URL says and note what it cannot mean.

    Widgets bound to the URL ignore bad values silently; here the learner is told. The URL is mended and the run begins
    again, so that a widget that reads more generously ("3.0") finds nothing there.
    """
    if "_started" in st.session_state:
        return
    st.session_state["_started"] = True
    said = st.query_params.to_dict()
    link = renamed(said)
    if mended := link != said:
        st.query_params.from_dict(link)
    st.session_state[_TOY_LINK] = toy_without_weights(link)
    for name, raw in st.query_params.to_dict().items():
        parameter = _BY_NAME.get(name)
        if parameter is None:
            continue
        if isinstance(parameter, Counted):  # how many there are is not known yet: see fit()
            st.session_state[_ASKED + name] = raw
        value = _meant(parameter, raw, models)
        if value is not None:
            parameter.set(value)
        elif not isinstance(parameter, Counted):
            note(parameter.refusal(raw))
            del st.query_params[name]
            mended = True
        if isinstance(parameter, TextParameter) and len(raw) > parameter.longest:
            note(f"The text was longer than {parameter.longest} characters; the rest was left out.")
    if mended:
        st.rerun()


def asked(parameter: Counted) -> str | None:
    """What the link that began the visit says of ``parameter``, once: it was not known yet what there is."""
    return st.session_state.pop(_ASKED + parameter.name, None)


def began_with_toy() -> bool:
    """Whether the visit began with a link to a toy that says nothing of its weights."""
    return bool(st.session_state.get(_TOY_LINK))


def asks(parameter: Counted, number: int) -> bool:
    """Whether that link asks for this ``number``, and nobody has looked yet."""
    return bool(st.session_state.get(_ASKED + parameter.name) == str(number))


def _meant(parameter: Parameter[Any], raw: str, models: tuple[str, ...]) -> Any:
    """What a link means, on a server that has these ``models``; None if it cannot mean anything."""
    if isinstance(parameter, Model) and raw not in models:
        return None
    return parameter.meant(parameters.RENAMED_VALUES.get(parameter.name, {}).get(raw, raw))


def link() -> dict[str, str]:
    """The parameters that name what is looked at now, defaults left out."""
    now = current()
    return {
        each.name: str(value)
        for each in parameters.PARAMETERS
        if each.kept
        and ((value := getattr(now, each.name)) != each.default or (each.named and each.name in st.session_state))
    }


def elsewhere() -> dict[str, str]:
    """The part of :func:`link` that the way to another page has to name: what has no widget on this one.

    The rest goes along in the session, and Streamlit raises where it is named.
    """
    return {name: value for name, value in link().items() if name not in drawn()}


def take(params: Mapping[str, str], models: tuple[str, ...]) -> None:
    """Select what :func:`link` named. Anybody may have written it: what cannot be meant is its default.

    To be called before the sidebar is drawn, that is from a callback.
    """
    for parameter in parameters.PARAMETERS:
        if parameter.kept:
            raw = params.get(parameter.name)
            wanted = None if raw is None else _meant(parameter, raw, models)
            wanted = parameter.default if wanted is None else wanted
            if raw is not None or wanted != st.session_state.get(parameter.name, parameter.default):
                parameter.set(wanted)
    if toy_without_weights(params):
        parameters.TOY_WEIGHTS.set(parameters.BEFORE_WEIGHTS)


def note(message: str) -> None:
    """Tell the learner, once, that something asked for was changed."""
    st.session_state.setdefault(_NOTES, []).append(message)


def take_notes() -> list[str]:
    """The notes not shown yet."""
    return list(dict.fromkeys(st.session_state.pop(_NOTES, [])))


def fit(parameter: Counted, most: int, what: str) -> None:
    """Bring a layer, head or sentence into 1 … ``most`` before its widget is drawn, and say so if it was not."""
    called, link_says = parameter.name.replace("_", " "), asked(parameter)
    if link_says is not None and whole_number(link_says, 1, most) is None:
        note(f"There is no {called} {quoted(link_says[:20])} in {escaped(what)}: {called}s run from 1 to {most}.")
        parameter.set(most if parameter.meant(link_says) else 1)
    elif not 1 <= (value := parameter.chosen()) <= most and parameter.name in st.session_state:
        note(f"{escaped(what)} has {most} {called}s, so {called} {value} became {called} {most}.")
        parameter.set(most)
