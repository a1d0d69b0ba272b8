"""The screen about heads that behave alike over many sentences."""

from __future__ import annotations

import numpy as np
import streamlit as st

from lab.analysis.heads import clustering
from lab.analysis.heads.clustering import FEATURES, Clustering, Labels, standardised, telling
from lab.analysis.heads.metrics import METRICS
from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.heads.specialization import SPECIALIZATIONS
from lab.analysis.heads.survey import clusters, feature, traits
from lab.analysis.heads.values import Values
from lab.charts.cells.categories import Category, category_map
from lab.course.heads import aside
from lab.course.words import escaped
from lab.lessons.head_specialization import LESSON
from lab.lessons.head_specialization import checks as ask
from lab.lessons.head_specialization.survey import survey_of
from lab.lessons.head_specialization.view import choose_part, left_out, name_of
from lab.ui.drawing import code, draw
from lab.ui.one_head import OneHead
from lab.ui.parameters import CLUSTERS
from lab.ui.quiz.predictions import predict

CLUSTERED = "clusters-of-heads"


def show_clusters(view: OneHead) -> None:
    """Heads that behave alike, what sets them apart, and how far to trust it."""
    st.markdown(
        f"Which heads are alike? Each head is a point with up to {len(FEATURES)} numbers: its metrics, as means over "
        "many sentences. Each counts in standard deviations over all heads, so that none weighs more. **k-means**, a "
        "simple method, puts points that are near each other into one group, a **cluster**."
    )
    found = survey_of(view)
    if found is None:
        return
    choose_part(view)
    k = int(CLUSTERS.choose("Clusters"))
    mean = found.mean(left_out(view))
    try:
        made, rounds = clusters(found.survey, len(found.readings), left_out(view), k)
    except ValueError as error:
        st.info(f"No {k} clusters here: {error}", icon=":material/info:")
        return
    question = ask.same_clusters(rounds, k)
    if not predict(LESSON, question):
        return
    labels = made.labels.reshape(mean.shape[:2])
    kinds = [Category(f"cluster {i + 1}", str(i + 1)) for i in range(k)]
    title, at = f"{k} clusters of heads", (view.layer.index, view.head)
    drawn = category_map(labels, kinds, title=title, value_title="Cluster", highlight=at)
    draw(drawn, CLUSTERED, clickable=True)
    _say_sinks(view, found.mean(), labels)
    _say_quality(made, rounds)
    st.markdown("**What sets each cluster apart**, in standard deviations from the mean of all heads")
    st.markdown(_traits(view, mean, made))
    code(clustering.cluster, clustering.silhouette, clustering.stability)


def _say_sinks(view: OneHead, mean: Values, labels: Labels) -> None:
    """How much each cluster sends to the tokens that are left out: with them, clusters may say little else."""
    mass = feature(mean, "delimiter")
    if not np.isfinite(mass).all():
        return
    tokens, shares = escaped(aside(view.trace)), [float(mass[labels == i].mean()) for i in range(int(labels.max()) + 1)]
    told = ", ".join(f"cluster {i} {share:.2f}" for i, share in enumerate(shares, start=1))
    why = (
        "They take no part in the metrics here, so the clusters do not sort the heads by these numbers alone."
        if left_out(view)
        else "If these numbers lie far apart, the clusters may say little else; then choose “Left out”."
    )
    st.markdown(f"Mean share of attention that words send to {tokens}: {told}. {why}")


def _say_quality(made: Clustering, rounds: Values) -> None:
    left, right = st.columns(2)
    near = "Near 1: heads are much nearer to their own cluster than to the next. 0: between two. Below 0: nearer to"
    left.metric("Silhouette", f"{made.silhouette:.2f}", border=True, help=f"{near} another.")
    halves = f"Mean adjusted Rand index of the clusters of two random halves of the sentences, {len(rounds)} splits."
    same = "1: the same clusters; 0: no more agreement than by chance."
    right.metric("Stability", f"{rounds.mean():.2f}", border=True, help=f"{halves} {same}")
    st.caption(
        f"Silhouette: how far the clusters are apart, from −1 to 1. Stability: how far two halves of the sentences "
        f"agree, 1 for the same clusters; over {len(rounds)} splits from {rounds.min():.2f} to {rounds.max():.2f}. "
        "k-means finds k clusters in any cloud of points, so read these two first."
    )


def _traits(view: OneHead, mean: Values, made: Clustering) -> str:
    """A list, so that it wraps on a telephone."""
    points = standardised(mean)
    named = {each.id: each.name for each in (*METRICS, *PATTERNS)}
    named |= {each.id: name_of(each, view.trace) for each in SPECIALIZATIONS}
    names = [named[name] for name, used in zip(FEATURES, telling(mean), strict=True) if used]
    lines = []
    for i, own in enumerate(traits(points, names, made.labels)):
        told = ", ".join(f"{name} {value:+.1f}".replace("-", "−") for name, value in own)
        lines.append(f"- Cluster {i + 1}, {int((made.labels == i).sum())} heads: {told}")
    return "\n".join(lines)
