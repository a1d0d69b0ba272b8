"""Code that several screens of the lesson on head specialization share: tags, and names of dimensions."""

from __future__ import annotations

import streamlit as st

from lab.analysis.heads.specialization import SPECIALIZATIONS, Dimension
from lab.analysis.heads.values import Mask, keep_others
from lab.course.words import escaped
from lab.figures.specialization import axis_name
from lab.models.trace import Trace
from lab.text.tags.english import looks_english
from lab.text.tags.pipeline import PipelineUnavailable
from lab.text.tags.tokens import Tags, trace_tags
from lab.toy.models import is_toy
from lab.ui import runs
from lab.ui.shared.metric_choice import choose_sinks, sinks_left_out
from lab.ui.shared.one_head import OneHead


def tags_of(view: OneHead) -> Tags | None:
    """Part of speech and entity of each token (letters have neither); without a tagger, say why and return None."""
    if is_toy(view.trace.model):
        return ((None,) * len(view.trace),) * 2
    return tags_or_reason(view.trace)


def tags_or_reason(trace: Trace) -> Tags | None:
    """Part of speech and entity of each token of any text; without a tagger, say why and return None."""
    try:
        runs.load_tagger()
        tags = trace_tags(trace)
    except PipelineUnavailable as error:
        st.warning(
            f"{escaped(str(error))} Without the tagger there are no parts of speech. “Named patterns” works without.",
            icon=":material/extension_off:",
        )
        return None
    say_language(trace)
    return tags


def say_language(trace: Trace) -> None:
    """Warn if a text does not look English, because the tagger is for English."""
    if not looks_english(f"{trace.text} {trace.pair or ''}"):
        st.warning(
            "This text does not look English. The tagger knows only English, so its parts of speech, names and "
            "relations may be wrong here. The attention of the heads is still right.",
            icon=":material/translate:",
        )


def left_out(view: OneHead) -> bool:
    """Return whether the special tokens (or the first token of a model without them) are left out."""
    return sinks_left_out() and kept_others(view) is not None


def kept_others(view: OneHead) -> Mask | None:
    """The tokens that take part if special (or first) ones are left out, (n,); None if none can be, as with letters."""
    return None if is_toy(view.trace.model) else keep_others(view.trace)


def kept_tokens(view: OneHead) -> Mask | None:
    """The tokens that take part, (n,); None if all do."""
    return kept_others(view) if left_out(view) else None


def choose_part(view: OneHead) -> None:
    """Draw the switch for special (or first) tokens; a toy has none, because all its tokens are letters."""
    if is_toy(view.trace.model):
        return
    alone = kept_others(view) is None
    choose_sinks("This text has no other tokens, so none is left out." if alone else None)


def name_of(dimension: Dimension, trace: Trace) -> str:
    """The name of a dimension, for Markdown."""
    return escaped(axis_name(trace, dimension))


def dimension(id: str) -> Dimension:
    """Return the dimension with this id."""
    return next(known for known in SPECIALIZATIONS if known.id == id)
