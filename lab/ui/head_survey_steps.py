"""The screens over many sentences: what every head does on average, and heads that behave alike."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from lab.analysis import clustering
from lab.analysis import head_survey as measure
from lab.analysis.clustering import FEATURES, Clustering, standardised, telling
from lab.analysis.head_survey import HeadSurvey
from lab.analysis.heads import Values
from lab.analysis.metrics import METRICS
from lab.analysis.patterns import PATTERNS, name_heads, name_scores
from lab.analysis.specialization import SPECIALIZATIONS
from lab.charts.categories import Category, category_map
from lab.charts.heatmap import heatmap
from lab.course import specialization_checks as ask
from lab.figures.specialization import axis_name
from lab.text.bundled import bundled_sentences
from lab.text.pipeline import PipelineUnavailable
from lab.toy.data import as_text
from lab.ui import cached_tags, toy_runs
from lab.ui.attention_steps import View
from lab.ui.figures import code, draw
from lab.ui.parameters import BUNDLED, MAX_CHARACTERS, OWN, TOY
from lab.ui.quiz import predict
from lab.ui.specialization_view import LESSON, draw_names, name_of

AVERAGED, CLUSTERED = "named-on-average", "clusters-of-heads"
MOST_LINES = 200
_LINES, _READING = "_own_lines", "_reading_heads"
_NAMES = "Names"


@dataclass(frozen=True)
class Surveyed:
    """What has been read so far: each sentence's features, and what tells this state from any other."""

    sentences: tuple[Values, ...]
    id: Hashable

    @property
    def mean(self) -> Values:
        return measure.mean_features(self.sentences)


def show_many(view: View) -> None:
    """Names and specialization, averaged over sentences."""
    st.markdown("One sentence can mislead: every score here is a mean over many, each sentence counting the same.")
    found = _survey(view)
    if found is None:
        return
    mean = found.mean
    tagged = not np.isnan(mean[..., [FEATURES.index(each.id) for each in SPECIALIZATIONS]]).all()
    options = [_NAMES, *(axis_name(view.trace, each) for each in SPECIALIZATIONS)] if tagged else [_NAMES]
    shown = str(st.selectbox("Show", options, key="_averaged", help="Specialization is corrected: 1 is no preference."))
    if shown == _NAMES or shown not in options:
        _show_names(view, mean, len(found.sentences))
    else:
        _show_dimension(view, mean, options.index(shown) - 1, len(found.sentences))
    code(measure.HeadSurvey.step, measure.mean_features)


def _show_names(view: View, mean: Values, count: int) -> None:
    names = name_scores(measure.pattern_scores(mean))
    here = name_heads(cached_tags.patterns(view.trace))
    question = ask.same_names(int(np.count_nonzero(names == here)), names.size)
    if question is not None and not predict(LESSON, question):
        return
    draw_names(names, view, f"Named heads, mean of {count} sentences", AVERAGED)
    layer, head = view.layer.index, view.head
    changed = int(np.count_nonzero(names != here))
    st.markdown(
        f"**{changed} of {names.size}** heads have another name here than on your text alone. "
        f"{view.place[0].upper()}{view.place[1:]}: {ask.pattern_name(str(names[layer, head]))} on average, "
        f"{ask.pattern_name(str(here[layer, head]))} on your text."
    )


def _show_dimension(view: View, mean: Values, place: int, count: int) -> None:
    shown = SPECIALIZATIONS[place]
    values, name = measure.feature(mean, shown.id), axis_name(view.trace, shown)
    if not np.isfinite(values).all():
        st.info("None of these sentences has anything of the kind.", icon=":material/info:")
        return
    layers, heads = values.shape
    draw(
        heatmap(
            values, [str(i + 1) for i in range(layers)], [str(i + 1) for i in range(heads)],
            title=f"{name}, corrected, mean of {count} sentences", row_title="Layer", column_title="Head",
            value_title="× no preference", highlight=(view.layer.index, view.head), numbered=False, value_format=".2f",
        ),
        "averaged-specialization",
    )  # fmt: skip
    high = np.unravel_index(int(values.argmax()), values.shape)
    st.markdown(
        f"Highest: layer {high[0] + 1}, head {high[1] + 1}, **{values[high]:.2f}** times what a head without "
        f"preference gives. {int(np.count_nonzero(values > 1))} of {values.size} heads are above 1."
    )


def show_clusters(view: View) -> None:
    """Heads that behave alike, what sets them apart, and how far to trust it."""
    st.markdown(
        f"Each head is a point: its means over many sentences of up to {len(FEATURES)} metrics, each in standard "
        "deviations over all heads. k-means puts points that are near each other together."
    )
    found = _survey(view)
    if found is None:
        return
    asked = st.segmented_control(
        "Clusters", ["2", "3", "4", "5", "6"], default="3", required=True, key="clusters", bind="query-params"
    )
    k = int(str(asked))
    mean = found.mean
    try:
        made, rounds = cached_tags.clusters(found.sentences, found.id, k)
    except ValueError as error:
        st.info(f"No {k} clusters here: {error}", icon=":material/info:")
        return
    question = ask.same_clusters(rounds, k)
    if question is not None and not predict(LESSON, question):
        return
    labels = made.labels.reshape(mean.shape[:2])
    kinds = [Category(f"cluster {i + 1}", str(i + 1)) for i in range(k)]
    draw(
        category_map(
            labels, kinds, title=f"{k} clusters of heads", row_title="Layer", column_title="Head",
            value_title="Cluster", highlight=(view.layer.index, view.head), select=True,
        ),
        CLUSTERED, clickable=True,
    )  # fmt: skip
    _say_quality(made, rounds)
    st.markdown("**What sets each cluster apart**, in standard deviations from the mean of all heads")
    st.markdown(_traits(view, mean, made))
    code(clustering.cluster, clustering.silhouette, clustering.stability)


def _say_quality(made: Clustering, rounds: Values) -> None:
    left, right = st.columns(2)
    left.metric("Silhouette", f"{made.silhouette:.2f}", border=True,
                help="Near 1: heads are much nearer to their own cluster than to the next. 0: between two. Below 0: "
                "nearer to another.")  # fmt: skip
    right.metric("Stability", f"{rounds.mean():.2f}", border=True,
                 help=f"Mean adjusted Rand index of the clusters of two random halves of the sentences, {len(rounds)} "
                 "splits. 1: the same clusters; 0: no more agreement than by chance.")  # fmt: skip
    st.caption(
        f"Silhouette: how far the clusters are apart, from −1 to 1. Stability: how far two halves of the sentences "
        f"agree, 1 for the same clusters; over {len(rounds)} splits from {rounds.min():.2f} to {rounds.max():.2f}. "
        "k-means finds k clusters in any cloud of points, so read these two first."
    )


def _traits(view: View, mean: Values, made: Clustering) -> str:
    """A list, so that it wraps on a telephone."""
    points = standardised(mean)
    named = {each.id: each.name for each in (*METRICS, *PATTERNS)}
    named |= {each.id: name_of(each, view.trace) for each in SPECIALIZATIONS}
    names = [named[name] for name, used in zip(FEATURES, telling(mean), strict=True) if used]
    lines = []
    for i, traits in enumerate(measure.traits(points, names, made.labels)):
        told = ", ".join(f"{name} {value:+.1f}".replace("-", "−") for name, value in traits)
        lines.append(f"- Cluster {i + 1}, {int((made.labels == i).sum())} heads: {told}")
    return "\n".join(lines)


def _survey(view: View) -> Surveyed | None:
    """The survey of the chosen sentences as far as it has come; its button, progress and cancel."""
    texts = _texts(view)
    if not texts:
        st.info("Paste sentences above, one a line, then press Ctrl+Enter.", icon=":material/edit:")
        return None
    tagged = _tagger_there(view)
    model = view.trace.model
    survey = cached_tags.head_survey(model, texts, tagged)
    wanted = hash((survey.texts, tagged, model.id))
    if not survey.finished:
        if st.session_state.get(_READING) == wanted:
            _read(survey, view, tagged)
        else:
            label = (
                f"Go on: {survey.done} of {survey.total} are read" if survey.done else f"Read {survey.total} sentences"
            )
            st.button(
                label,
                icon=":material/play_arrow:", type="primary", key="_read_heads", on_click=_want, args=(wanted,),
            )  # fmt: skip
    sentences = survey.sentences()
    if not sentences:
        return None
    if len(sentences) < survey.total:
        st.caption(f"{len(sentences)} of {survey.total} sentences are read.")
    return Surveyed(sentences, cached_tags.survey_id(survey, model, len(sentences), tagged))


def _want(survey: int | None) -> None:
    st.session_state[_READING] = survey


def _read(survey: HeadSurvey, view: View, tagged: bool) -> None:
    """Read what is missing. A click on Cancel ends this run of the page between two sentences."""
    place = st.empty()
    with place.container():
        words = f"Reading {survey.total} sentences …"
        bar = st.progress(survey.done / survey.total, words)
        st.button("Cancel", icon=":material/stop:", key="_cancel_heads", on_click=_want, args=(None,))
        while not survey.finished:
            cached_tags.advance(survey, view.trace.model, tagged)
            bar.progress(survey.done / survey.total, words)
    place.empty()


def _tagger_there(view: View) -> bool:
    """Whether the sentences can be tagged; if not for a reason that can be mended, it is said."""
    if view.page.selection.mode == TOY:
        return False
    try:
        st.caption(cached_tags.pipeline().description)
    except PipelineUnavailable:
        st.caption("The tagger is not available, so what follows leaves out parts of speech and entities.")
        return False
    return True


def _texts(view: View) -> tuple[str, ...]:
    """The bundled sentences or the learner's own; in toy mode the toy's."""
    chosen = view.page.selection
    if chosen.mode == TOY:
        return tuple(as_text(each) for each in toy_runs.sentences(chosen).sentences)
    source = st.segmented_control(
        "Sentences", [BUNDLED, OWN], default=BUNDLED, required=True, key="source", bind="query-params",
        help="Bundled: 200 short English sentences that come with the lab.",
    )  # fmt: skip
    if source == BUNDLED:
        return bundled_sentences()
    # Kept beside the widget, which forgets what is in it when another step is drawn.
    pasted = st.text_area(
        f"One sentence a line, at most {MOST_LINES}", value=st.session_state.get(_LINES, ""), height=160, key="_lines",
        max_chars=10 * MAX_CHARACTERS,
    )  # fmt: skip
    st.session_state[_LINES] = pasted
    lines = [line.strip() for line in pasted.splitlines() if line.strip()]
    if len(lines) > MOST_LINES:
        st.warning(f"The first {MOST_LINES} of {len(lines)} lines are read.", icon=":material/content_cut:")
    return tuple(lines[:MOST_LINES])
