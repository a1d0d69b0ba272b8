"""What several steps of the lesson share: the kinds of words, the tokens that take part, and names of dimensions."""

from __future__ import annotations

import streamlit as st

from lab.analysis.heads.specialization import (
    CONTENT_WORDS,
    FUNCTION_WORDS,
    PUNCTUATION,
    Dimension,
)
from lab.analysis.heads.values import Mask, keep_others
from lab.charts.tokens.token_chips import encoding_chips
from lab.course.words import escaped
from lab.figures.specialization_figures import axis_name
from lab.models.trace import Trace
from lab.text.tags.pipeline import PipelineUnavailable, spelled_out
from lab.text.tags.token_tags import Tags, looks_english, trace_tags
from lab.toy.models import is_toy
from lab.ui import runs, sidebar
from lab.ui.screen import draw_chips
from lab.ui.shared.metric_choice import choose_sinks, sinks_left_out
from lab.ui.shared.one_head import OneHead


def look_for_tags(view: OneHead) -> Tags | None:
    """Part of speech and entity of each token (letters have neither); without a tagger, say why and return None."""
    if is_toy(view.trace.model):
        return ((None,) * len(view.trace),) * 2
    return look_for_tags_of(view.trace)


def look_for_tags_of(trace: Trace) -> Tags | None:
    """Part of speech and entity of each token of any text; without a tagger, say why and return None."""
    try:
        runs.load_tagger()
        tags = trace_tags(trace)
    except PipelineUnavailable as error:
        st.warning(
            f"{escaped(str(error))} Without the tagger, the lab cannot show parts of speech. “Named patterns” does "
            "not need the tagger.",
            icon=":material/extension_off:",
        )
        return None
    show_language(trace)
    return tags


def show_language(trace: Trace) -> None:
    """Warn if a text does not look English, because the tagger is for English."""
    if not looks_english(f"{trace.text} {trace.pair or ''}"):
        st.warning(
            "This text does not look English. The tagger knows only English, so its parts of speech, names and "
            "relations may be wrong here. The attention of the heads is still correct.",
            icon=":material/translate:",
        )


def chosen_left_out(view: OneHead) -> bool:
    """Return whether the special tokens (or the first token of a model without them) are left out."""
    return sinks_left_out() and kept_others(view.trace) is not None


def kept_others(trace: Trace) -> Mask | None:
    """The tokens that take part if special (or first) ones are left out, (n,); None if none can be, as with letters."""
    return None if is_toy(trace.model) else keep_others(trace)


def chosen_kept(view: OneHead) -> Mask | None:
    """The tokens that take part, (n,); None if all do."""
    return kept_others(view.trace) if chosen_left_out(view) else None


def choose_part(view: OneHead) -> None:
    """Draw the switch for special (or first) tokens; a toy has none, because all its tokens are letters."""
    if is_toy(view.trace.model):
        return
    alone = kept_others(view.trace) is None
    with sidebar.folded():
        choose_sinks("This text has no other tokens, so no token is left out." if alone else None)


def name_of(dimension: Dimension, trace: Trace) -> str:
    """The name of a dimension, for Markdown."""
    return escaped(axis_name(trace, dimension))


FUNCTION, CONTENT, MARKS, OTHER, SPECIAL = "Function words", "Content words", "Punctuation", "Other", "Special tokens"
KINDS = (FUNCTION, CONTENT, MARKS, OTHER, SPECIAL)


def kind_of(tag: str | None, special: bool) -> str:
    """The kind of a token by its part of speech."""
    if special:
        return SPECIAL
    for kind, members in ((FUNCTION, FUNCTION_WORDS), (CONTENT, CONTENT_WORDS), (MARKS, PUNCTUATION)):
        if tag in members:
            return kind
    return OTHER


def show_kinds(view: OneHead, tags: Tags) -> None:
    """Draw the tokens in the colours of their kinds, with the part of speech, and the label of a name, below each."""
    encoding = view.trace.encoding
    kinds = [kind_of(tag, special) for tag, special in zip(tags[0], encoding.special, strict=True)]
    spelled = [
        " · ".join(filter(None, (speech and spelled_out(speech), entity))) or "–"
        for speech, entity in zip(*tags, strict=True)
    ]
    chips = [(run, at, spelled[at[0]] if at and run else label) for run, at, label in encoding_chips(encoding)]
    draw_chips(chips, groups=[KINDS.index(kind) for kind in kinds])
