"""What the learner has chosen: one validated :class:`Selection`, the same in the URL and on every page."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import streamlit as st

from lab.course.words import escaped, quoted
from lab.models.encoding import clean
from lab.ui import parameters as p
from lab.ui.address import renamed, toy_without_weights
from lab.ui.parameter_kinds import Parameter, TextParameter, drawn, whole_number
from lab.ui.parameters_of_a_run import Counted, Model

_NOTES, _ASKED, _TOY_LINK = "selection.notes", "asked.", "_toy_link"


@dataclass(frozen=True)
class Selection:
    """The state of the lab: a field for each of the parameters, under its name in the URL."""

    mode: str = p.MODE.default
    text: str = p.TEXT.default
    pair: str = p.PAIR.default
    model: str = p.MODEL.default
    weights: str = p.TRAINING.default
    twin_seed: int = p.TWIN_SEED.default
    toy_vocabulary: int = p.TOY_VOCABULARY.default
    toy_length: int = p.TOY_LENGTH.default
    toy_count: int = p.TOY_COUNT.default
    toy_seed: int = p.TOY_SEED.default
    toy_sentence: int = p.TOY_SENTENCE.default
    toy_own: str = p.TOY_OWN.default
    toy_weights: str = p.TOY_WEIGHTS.default
    toy_heads: int = p.TOY_HEADS.default
    toy_trained_heads: int = p.TOY_TRAINED_HEADS.default
    toy_task: str = p.TOY_TASK.default
    toy_layers: int = p.TOY_LAYERS.default
    toy_rule: str = p.TOY_RULE.default
    toy_trainer: str = p.TOY_TRAINER.default
    toy_merges: int = p.TOY_MERGES.default
    toy_word: str = p.TOY_WORD.default
    step: str = p.STEP.default
    layer: int = p.LAYER.default
    head: int = p.HEAD.default
    other_head: int = p.OTHER_HEAD.default
    sentence: int = p.FROM_SENTENCE.default
    other_sentence: int = p.TO_SENTENCE.default
    token: int = p.TOKEN.default
    key_token: int = p.KEY_TOKEN.default
    place: int = p.PLACE.default
    first_token: int = p.FIRST_TOKEN.default
    dimension: int = p.DIMENSION.default
    first_dimension: int = p.FIRST_DIMENSION.default
    neuron: int = p.NEURON.default
    first_neuron: int = p.FIRST_NEURON.default
    masked: str = p.MASKED.default
    heads: str = p.HEADS.default
    word: str = p.WORD.default
    card: str = p.CARD.default
    part: str = p.PART.default
    sense: str = p.SENSE.default
    word_sum: str = p.WORD_SUM.default
    segments: str = p.SEGMENTS.default
    order: str = p.ORDER.default
    pe_length: int = p.PE_LENGTH.default
    pe_width: int = p.PE_WIDTH.default
    pe_base: int = p.PE_BASE.default
    metric: str = p.METRIC.default
    version: str = p.VERSION.default
    sinks: str = p.SINKS.default
    tau: str = p.TAU.default
    source: str = p.SOURCE.default
    measure: str = p.MEASURE.default
    behind: str = p.BEHIND.default
    off: str = p.OFF.default
    neurons_drawn: int = p.NEURONS_DRAWN.default
    residual: str = p.RESIDUAL.default
    norm: str = p.NORM.default
    top: int = p.TOP.default
    temperature: float = p.TEMPERATURE.default
    top_k: str = p.TOP_K.default
    top_p: str = p.TOP_P.default
    more: str = p.MORE.default
    draw_seed: int = p.DRAW_SEED.default
    score: str = p.SCORE.default
    lens: str = p.LENS.default
    read_with: str = p.READ_WITH.default
    lens_tokens: str = p.LENS_TOKENS.default
    units: str = p.UNITS.default
    colour: str = p.COLOUR.default
    keys: str = p.KEYS.default
    pattern: str = p.PATTERN.default
    dimensions: int = p.DIMENSIONS.default
    flow_heads: str = p.FLOW_HEADS.default
    flow_reading: str = p.FLOW_READING.default
    flow_residual: str = p.FLOW_RESIDUAL.default
    flow_tokens: str = p.FLOW_TOKENS.default
    flow_threshold: str = p.FLOW_THRESHOLD.default
    flow_links: str = p.FLOW_LINKS.default
    follow: int = p.FOLLOW.default
    flow_layer: int = p.FLOW_LAYER.default
    tree: str = p.TREE.default
    tree_k: int = p.TREE_K.default
    tree_depth: int = p.TREE_DEPTH.default
    tensor: str = p.TENSOR.default
    state: int = p.STATE.default
    tensor_rows: str = p.TENSOR_ROWS.default
    tensor_columns: str = p.TENSOR_COLUMNS.default
    variant: str = p.VARIANT.default
    word_cut: str = p.WORD_CUT.default
    compare: str = p.COMPARE.default
    other_text: str = p.OTHER_TEXT.default
    other_pair: str = p.OTHER_PAIR.default
    other_model: str = p.OTHER_MODEL.default
    other_toy: str = p.OTHER_TOY.default
    toy_other: int = p.TOY_OTHER.default
    change: str = p.CHANGE.default
    figure: str = p.FIGURE.default
    patch: str = p.PATCH.default
    patch_way: str = p.PATCH_WAY.default
    clean_text: str = p.CLEAN_TEXT.default
    corrupt_text: str = p.CORRUPT_TEXT.default
    good_word: str = p.GOOD_WORD.default
    bad_word: str = p.BAD_WORD.default
    watch: int = p.WATCH.default
    cut: str = p.CUT.default
    blank: str = p.BLANK_TEXT.default
    look_up: str = p.LOOK_UP.default
    seed: int = p.SEED.default
    teach: int = p.TEACH.default
    room: str = p.ROOM.default
    projector: int = p.PROJECTOR.default
    summary: int = p.SUMMARY.default


_BY_NAME: Mapping[str, Parameter[Any]] = {each.name: each for each in p.PARAMETERS}


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
    if now.mode == p.TOY:
        task = (now.toy_task, now.toy_layers, now.toy_trained_heads) if now.toy_weights == p.TRAINED else ()
        own = (now.toy_rule, now.toy_trainer)  # of single lessons
        numbers = (getattr(now, each.name) for each in (*p.TOY_NUMBERS, p.TOY_OTHER))
        return (now.mode, now.toy_weights, *task, *numbers, now.toy_heads, now.toy_own, *own)
    twin = (now.weights, now.twin_seed) if now.weights == p.RANDOM else ()
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
    return parameter.meant(p.RENAMED_VALUES.get(parameter.name, {}).get(raw, raw))


def link() -> dict[str, str]:
    """The parameters that name what is looked at now, defaults left out."""
    now = current()
    return {
        each.name: str(value)
        for each in p.PARAMETERS
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
    for parameter in p.PARAMETERS:
        if parameter.kept:
            raw = params.get(parameter.name)
            wanted = None if raw is None else _meant(parameter, raw, models)
            wanted = parameter.default if wanted is None else wanted
            if raw is not None or wanted != st.session_state.get(parameter.name, parameter.default):
                parameter.set(wanted)
    if toy_without_weights(params):
        p.TOY_WEIGHTS.set(p.BEFORE_WEIGHTS)


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
