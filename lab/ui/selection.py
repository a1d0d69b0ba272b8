"""What the learner has chosen: one validated :class:`Selection`, the same in the URL and on every page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import streamlit as st

from lab.course.words import escaped, quoted
from lab.models.encoding import clean
from lab.ui.parameters import (
    CHOICES,
    DEFAULTS,
    MAX_CHARACTERS,
    MODELS,
    NUMBERS,
    OFFERED,
    RANDOM,
    RENAMED,
    RENAMED_VALUES,
    TOY,
    TOY_NUMBERS,
    TRAINED,
    TYPED,
    UNBOUND,
    VISIT,
    Selection,
)

_NOTES = "selection.notes"


def current() -> Selection:
    """Read the selection out of the session; whatever is missing or of a wrong type is its default."""
    # One look at the whole session: to ask it seventy times costs a rerun a sixth of its time.
    state = st.session_state.to_dict()
    values: dict[str, Any] = {}
    for name, default in vars(DEFAULTS).items():
        value = state.get(name, default)
        values[name] = value if isinstance(value, type(default)) else default
    for name in TYPED:
        values[name] = clean(values[name])
    return Selection(**values)


def chosen(name: str) -> Any:
    """One field of :func:`current`: a rerun asks for single ones often, and each look at all of them costs."""
    default = getattr(DEFAULTS, name)
    value = st.session_state.get(name, default)
    value = value if isinstance(value, type(default)) else default
    return clean(value) if name in TYPED else value


def what_runs() -> tuple[object, ...]:
    """What decides the run on screen: the sentence and the model, without what is looked at in it."""
    now = current()
    if now.mode == TOY:
        task = (now.toy_task, now.toy_layers) if now.toy_weights == TRAINED else ()
        return (now.mode, now.toy_weights, *task, *(getattr(now, name) for name in TOY_NUMBERS), now.toy_heads)
    twin = (now.weights, now.twin_seed) if now.weights == RANDOM else ()
    return (now.mode, now.text, now.pair, now.masked, now.model, *twin)


def whole_number(raw: object, least: int, most: int) -> int | None:
    """``raw`` as an integer between ``least`` and ``most``, or None."""
    text = str(raw).strip()
    if not re.fullmatch(r"-?[0-9]{1,9}", text):
        return None
    return value if least <= (value := int(text)) <= most else None


def start(models: tuple[str, ...]) -> None:
    """On a session's first run, take over what the URL says and note what it cannot mean.

    Widgets bound to the URL ignore bad values silently; here the learner is told.
    """
    if "_started" in st.session_state:
        return
    st.session_state["_started"] = True
    _rename()
    raw = {name: st.query_params.get(name) for name in vars(DEFAULTS)}
    raw |= _renamed(raw)
    notes = _without_models(raw, models)
    for name, (default, least, most) in NUMBERS.items():
        if raw[name] is not None and whole_number(raw[name], least, most) is None:
            notes.append(f"{name} must be a number from {least} to {most}; it is {default} now.")
    for name, offered in CHOICES.items():
        if raw[name] is not None and raw[name] not in [str(each) for each in offered]:
            known = ", ".join(sorted(map(str, offered), key=len))
            notes.append(f"{name} must be one of {known}; it is {offered[0]} now.")
    for name in TYPED:
        value = raw[name]
        if value is not None and len(value) > MAX_CHARACTERS:
            st.session_state[name] = value[:MAX_CHARACTERS]
            notes.append(f"The text was longer than {MAX_CHARACTERS} characters; the rest was left out.")
    for name in UNBOUND:
        if raw[name] is not None:
            default = getattr(DEFAULTS, name)
            _, least, most = NUMBERS.get(name, (0, 1, 10_000))
            number = whole_number(raw[name], least, most)
            st.session_state[name] = (number or default) if isinstance(default, int) else raw[name]
    for name in ("layer", "head", "other_head", "sentence", "other_sentence", "card"):
        # What there is depends on the model, which is not loaded yet: see fit(), and the page of the cards.
        if raw[name] is not None:
            st.session_state[f"asked.{name}"] = raw[name]
    st.session_state[_NOTES] = notes


def _rename() -> None:
    """Links made before a parameter had its name go on working."""
    for old, (new, values) in RENAMED.items():
        value = st.query_params.get(old)
        if value in values:
            del st.query_params[old]
            st.query_params[new] = value


def _renamed(raw: Mapping[str, str | None]) -> dict[str, str]:
    """What has another name since an old link was made; its widget, which reads the URL itself, is told, too."""
    found = {name: names[old] for name, names in RENAMED_VALUES.items() if (old := raw[name] or "") in names}
    for name, value in found.items():
        st.session_state[name] = st.query_params[name] = value
    return found


def _without_models(raw: Mapping[str, str | None], models: tuple[str, ...]) -> list[str]:
    """What to say of models that a link names and this server lacks."""
    return [
        f"This server has no model called {quoted(asked[:40])}, so you see {getattr(DEFAULTS, name)}."
        for name in MODELS
        if (asked := raw[name]) is not None and asked not in models
    ]


def link() -> dict[str, str]:
    """The parameters that name what is looked at now, defaults left out."""
    chosen = vars(current()).items()
    return {name: str(value) for name, value in chosen if value != getattr(DEFAULTS, name) and name not in VISIT}


def elsewhere() -> dict[str, str]:
    """:func:`link` for the way to another page, without what the sidebar's widgets there write themselves."""
    return {name: value for name, value in link().items() if name not in ("text", "pair", "model")}


def take(params: Mapping[str, str], models: tuple[str, ...]) -> None:
    """Select what :func:`link` named. Anybody may have written it: what cannot be meant is its default.

    To be called before the sidebar is drawn, that is from a callback.
    """
    for name, default in vars(DEFAULTS).items():
        if name not in VISIT:
            wanted = _meant(name, params.get(name), default, models)
            if wanted != st.session_state.get(name, default):
                st.session_state[name] = wanted


def _meant(name: str, raw: str | None, default: str | int, models: tuple[str, ...]) -> str | int:
    if raw is None:
        return default
    raw = RENAMED_VALUES.get(name, {}).get(raw, raw)
    offered = models if name in MODELS else OFFERED.get(name)
    if offered is not None:
        return next((each for each in offered if str(each) == raw), default)
    if isinstance(default, int):
        _, least, most = NUMBERS.get(name, (0, 0, 10_000))
        number = whole_number(raw, least, most)
        return default if number is None else number
    return raw[:MAX_CHARACTERS]


def note(message: str) -> None:
    """Tell the learner, once, that something asked for was changed."""
    st.session_state.setdefault(_NOTES, []).append(message)


def take_notes() -> list[str]:
    """The notes not shown yet."""
    return list(dict.fromkeys(st.session_state.pop(_NOTES, [])))


def fit(name: str, most: int, what: str) -> None:
    """Bring a layer or head into 1 … ``most`` before its widget is drawn, and say so if it was not."""
    called, asked = name.replace("_", " "), st.session_state.pop(f"asked.{name}", None)
    if asked is not None and whole_number(asked, 1, most) is None:
        note(f"There is no {called} {quoted(asked[:20])} in {escaped(what)}: {called}s run from 1 to {most}.")
        nearest = whole_number(asked, most + 1, 10**9)
        st.session_state[name] = most if nearest else 1
    value = st.session_state.get(name)
    if isinstance(value, int) and not 1 <= value <= most:
        note(f"{escaped(what)} has {most} {called}s, so {called} {value} became {called} {most}.")
        st.session_state[name] = most


def keep_in_url() -> None:
    """Write the parameters no widget owns into the URL, defaults left out."""
    for name in UNBOUND:
        value = st.session_state.get(name, getattr(DEFAULTS, name))
        if value == getattr(DEFAULTS, name):
            if name in st.query_params:
                del st.query_params[name]
        elif st.query_params.get(name) != str(value):
            st.query_params[name] = str(value)
