"""Many sentences: the names and numbers of every head, averaged over them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
import streamlit as st

from lab.analysis.heads.named import Chance, above_chance, clearly_above, name_scores, trace_names
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.survey import (
    FEATURES,
    TWIN_READS,
    HeadSurvey,
    SurveyedText,
    chance_over,
    feature,
    head_survey,
    mean_features,
    no_tags,
    pattern_scores,
)
from lab.analysis.heads.values import Values
from lab.charts.base.axes import Scale
from lab.charts.cells.heatmap import heatmap
from lab.course.words import aside, escaped
from lab.figures.specialization_figures import axis_name, names_map
from lab.figures.trace_axes import layers_and_heads
from lab.lessons.head_specialization import AVERAGED
from lab.lessons.head_specialization.named_patterns import above, pattern_name
from lab.lessons.head_specialization.view import choose_part, chosen_left_out
from lab.models.batches import ProgressFunction
from lab.models.loading import LoadedModel
from lab.models.trace import Trace
from lab.models.twin import untrained_twin
from lab.text.bundled import bundled_sentences
from lab.text.tags.pipeline import PipelineUnavailable, pipeline
from lab.text.tags.token_tags import tagged as tagged_tokens
from lab.toy.data import as_text
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.long_work import offer, serial_of
from lab.ui.parameter_kinds import say_shortened, shorten
from lab.ui.parameters import BUNDLED, MAX_CHARACTERS, MODE, SOURCE, TOY
from lab.ui.screen import meaning, say, show_table
from lab.ui.shared.one_head import OneHead
from lab.ui.toys import toy_runs

IDEA = """
One sentence can mislead you. Here every number is a mean over many sentences, and each sentence has the same weight."""
MOST_LINES = 200
_LINES = "_own_lines"
_NAMES = "Names"


def show(view: OneHead) -> None:
    """Show names and specialization, averaged over sentences."""
    say(IDEA)
    choose_part(view)
    found = look_for_survey(view)
    if found is None:
        return
    tagged = not np.isnan(found.mean()[..., [FEATURES.index(each.id) for each in SPECIALIZATIONS]]).all()
    options = [_NAMES, *(axis_name(view.trace, each) for each in SPECIALIZATIONS)] if tagged else [_NAMES]
    shown = str(st.selectbox("Show", options, key="_averaged", help="A value of 1 means no preference."))
    if shown == _NAMES or shown not in options:
        _show_names(view, found)
    else:
        _show_dimension(view, found, options.index(shown) - 1)
    code(HeadSurvey.step, mean_features)


def _show_names(view: OneHead, found: Surveyed) -> None:
    scores, chance = pattern_scores(found.mean()), chance_over(found.readings)
    names = name_scores(scores, chance)
    here = trace_names(view.trace)
    layer, head = view.layer.index, view.head
    drawn = names_map(names, layer, head, f"Heads that have a name: mean over {len(found.readings)} sentences")
    draw(drawn, AVERAGED, clickable=True)
    changed = int(np.count_nonzero(names != here))
    meaning(
        f"**{changed} of {names.size}** heads have a different name here than in your text alone. "
        f"{view.place[0].upper()}{view.place[1:]} is “{pattern_name(str(names[layer, head]))}” on average, and "
        f"“{pattern_name(str(here[layer, head]))}” in your text, with [CLS] and [SEP] kept in both."
    )
    with st.expander("The best head of each pattern", on_change="rerun", key="_best_averaged") as best:
        if best.open:
            numbers = dict.fromkeys(("its score", "uniform head", "best untrained head"), "%.3f")
            show_table(best_heads(scores, chance), formats=numbers)
            st.caption(
                f"The untrained heads read only one in {TWIN_READS} sentences, and the trained heads read all of them."
            )


def _show_dimension(view: OneHead, found: Surveyed, place: int) -> None:
    shown, count = SPECIALIZATIONS[place], len(found.readings)
    values, kept = (feature(found.mean(each), shown.id) for each in (chosen_left_out(view), False))
    name = axis_name(view.trace, shown)
    if shown.id == "cls" and chosen_left_out(view):
        st.info(f"{escaped(name)} is left out, so it has no value. Choose “Kept”.", icon=":material/info:")
        return
    if not np.isfinite(values).all():
        st.info("None of these sentences has such tokens.", icon=":material/info:")
        return
    title, at = f"{name}, corrected, mean of {count} sentences", (view.layer.index, view.head)
    axes, scale = layers_and_heads(values), Scale("× uniform head", format=".2f")
    draw(heatmap(values, axes, scale, title=title, highlight=at), "averaged-specialization")
    high = np.unravel_index(int(values.argmax()), values.shape)
    say(
        f"Layer {high[0] + 1}, head {high[1] + 1} has the highest value: **{values[high]:.2f}** times the value of a "
        f"uniform head{_among(view.trace, chosen_left_out(view))}. {int(np.count_nonzero(values > 1))} of "
        f"{values.size} heads are above 1. " + _changed_by(view.trace, chosen_left_out(view), values, kept)
    )


@dataclass(frozen=True)
class Surveyed:
    """The sentences that a survey has read so far."""

    survey: HeadSurvey
    readings: tuple[SurveyedText, ...]

    def features(self, left_out: bool) -> tuple[Values, ...]:
        """The features of each sentence, (L, H, F): over all tokens, or without special tokens (or the first token)."""
        return tuple(each.others if left_out else each.features for each in self.readings)

    def mean(self, left_out: bool = False) -> Values:
        return mean_features(self.features(left_out))


def best_heads(scores: Values, chance: Chance) -> pd.DataFrame:
    """The best head of each pattern beside chance; patterns with named heads come first. ``scores`` (P, L, H)."""
    beyond, passing = above_chance(scores, chance.uniform), clearly_above(scores, chance)
    names = name_scores(scores, chance)
    best = [None if np.isnan(each).all() else int(np.nanargmax(each)) for each in scores]
    rows = [
        {
            "pattern": pattern.name,
            "best head": "layer {}, head {}".format(*(i + 1 for i in np.unravel_index(at, names.shape))),
            "its score": float(scores[place].flat[at]),
            "uniform head": float(chance.uniform[place]),
            "best untrained head": float(chance.untrained[place]),
            "above chance": above(float(beyond[place].flat[at])),
            "clearly": "yes" if passing[place].flat[at] else "no",
            "named heads": int(np.count_nonzero(names == pattern.id)),
        }
        for place, (pattern, at) in enumerate(zip(PATTERNS, best, strict=True))
        if at is not None
    ]
    return pd.DataFrame(rows).sort_values(["clearly", "its score"], ascending=False) if rows else pd.DataFrame()


def _among(trace: Trace, left_out: bool) -> str:
    return f" among all tokens but {escaped(aside(trace))}" if left_out else ""


def _changed_by(trace: Trace, left_out: bool, values: Values, kept: Values) -> str:
    """Say how the values would change if special tokens took part; ``kept`` has the values with special tokens."""
    if not left_out:
        tokens = escaped(aside(trace)).capitalize()
        return f"{tokens} are counted, so a head that gives them much attention has little left for words."
    crossed = (values > 1) != (kept > 1)
    most = np.unravel_index(int(np.abs(values - kept).argmax()), values.shape)
    return (
        f"If {escaped(aside(trace))} were kept, {int(np.count_nonzero(crossed))} of {values.size} heads would be on "
        f"the other side of 1. The largest change is in layer {most[0] + 1}, head {most[1] + 1}: from "
        f"{values[most]:.2f} to {kept[most]:.2f}."
    )


def look_for_survey(view: OneHead) -> Surveyed | None:
    """Return the survey of the chosen sentences as far as it has come, and draw the button that continues it."""
    texts = _chosen_texts(view)
    if not texts:
        st.info("Paste your sentences above, one per line, and press Ctrl+Enter.", icon=":material/edit:")
        return None
    tagged = _look_for_tagger(view)
    model = view.trace.model
    survey = head_survey(model, texts, tagged)
    if not survey.finished:
        label = (
            f"Go on: {survey.done} of {survey.total} sentences are read"
            if survey.done
            else f"Read {survey.total} sentences"
        )
        offer(("survey of heads", serial_of(survey)), label, partial(_read, survey, model, tagged))
    readings = survey.readings()
    if not readings:
        return None
    if len(readings) < survey.total:
        st.caption(f"{len(readings)} of {survey.total} sentences are read.")
    return Surveyed(survey, readings)


def _read(survey: HeadSurvey, model: LoadedModel, tagged: bool, tell: ProgressFunction) -> None:
    """Read the sentences that are missing, and report the progress after each."""
    twin = untrained_twin(model)  # held, so that it is drawn once and not for each sentence
    while not survey.finished:
        survey.step(model, tagged_tokens if tagged else no_tags, twin)
        tell(survey.done / survey.total)


def _look_for_tagger(view: OneHead) -> bool:
    """Return whether the sentences can be tagged; if not, say why."""
    if view.page.selection[MODE] == TOY:
        return False
    try:
        runs.load_tagger()
        st.caption(pipeline().description)
    except PipelineUnavailable:
        st.caption("The tagger is not available, so parts of speech and entities are left out.")
        return False
    return True


def _chosen_texts(view: OneHead) -> tuple[str, ...]:
    """The bundled sentences or the learner's own; in toy mode, the sentences of the toy."""
    chosen = view.page.selection
    if chosen[MODE] == TOY:
        return tuple(as_text(each) for each in toy_runs.sentences(chosen).sentences)
    source = SOURCE.choose("Sentences", help="These are 200 short English sentences that come with the lab.")
    if source == BUNDLED:
        return bundled_sentences()
    # The lines are kept beside the widget, which forgets its text when another step is drawn.
    label, before = f"One sentence per line, at most {MOST_LINES}", st.session_state.get(_LINES, "")
    longest = 10 * MAX_CHARACTERS
    pasted = st.text_area(label, before, height=160, key="_lines", on_change=shorten, args=("_lines", longest))
    say_shortened("_lines", longest)
    st.session_state[_LINES] = pasted
    lines = [line.strip() for line in pasted.splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        st.warning(f"The lab reads only the first {MOST_LINES} of {len(lines)} lines.", icon=":material/content_cut:")
    return tuple(lines[:MOST_LINES])
