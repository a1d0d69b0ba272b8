"""Two runs: a figure of each on one scale, their difference, and the distance of their residual streams."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import streamlit as st

from lab.analysis.heads.metrics import METRICS
from lab.analysis.layers.sublayers import apart, same_tokens
from lab.benches.compare import CompareView, comparable
from lab.benches.compare.comparable import At, NothingToShow, shown
from lab.benches.compare.other_run import Pair, choose_comparison, choose_first_head, choose_other_run, choose_tokens
from lab.benches.compare.side_by_side import Numbers, WordShares, beside, largest, why_not
from lab.benches.compare.side_by_side import difference as less
from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.categories import CategoryMap
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.small_maps import SmallMaps
from lab.charts.marks.lines import lines
from lab.course.sentences.looks import look_head
from lab.course.words import escaped, named, quoted, signed
from lab.models.trace import Trace
from lab.text.tags.pipeline import PipelineUnavailable
from lab.ui import selection
from lab.ui.bench import Proven
from lab.ui.drawing import code, draw
from lab.ui.parameters import (
    BLOCKED,
    CHANGE,
    COMPARE,
    CORRECTED,
    FIGURE,
    INTERVENTION,
    MEAN_HEAD,
    MEASURE,
    METRIC,
    MODE,
    TOY,
    UNIFORM_HEAD,
    VERSION,
    ZERO_HEAD,
)
from lab.ui.screen import caption, meaning
from lab.ui.sentence import show_sentence
from lab.ui.shared.met_again import met_again


def show(view: CompareView) -> Proven:
    """Draw the choices of the two runs and of the figure, and all that the figure says about the runs."""
    page, a = view.page, view.a
    layer, head = page.head_controls(a, choose_first_head(page))
    pair = choose_other_run(page, a, choose_comparison(), layer, head)
    figure, at = _choose_figure(pair, layer, head)
    pair = asked(pair, figure, at)
    _show_pair(pair, figure, at)
    return Proven((pair.a, pair.b), ("A", "B"))


def _show_pair(pair: Pair, figure: str, at: At) -> None:
    """Draw everything about two runs: the figure of each, its meaning, and their differences, folded."""
    try:
        a, b = (shown(each, figure, at) for each in (pair.a, pair.b))
    except (NothingToShow, PipelineUnavailable) as error:
        st.info(escaped(str(error)), icon=":material/info:")
        _show_streams(pair)
        return
    reason = why_not(a, b)
    if figure == comparable.PREDICTIONS:
        st.markdown(" ".join(dict.fromkeys(_asked(each, at) for each in (pair.a, pair.b))))
    calls = (figure_a, figure_b)
    for column, name, what, call in zip(st.columns(2), "AB", (pair.a_is, pair.b_is), calls, strict=True):
        with column:
            st.markdown(f"**{name}**: {what}{_elsewhere(pair, figure, at) if name == 'B' else ''}")
            draw(partial(call, pair.a, pair.b, figure, at), f"compare-{name.lower()}")
    if isinstance(a, WordShares) and isinstance(b, WordShares):
        meaning(said(a, b, (pair.a, pair.b)))
    st.markdown(summary(a, b, reason))
    if COMPARE.chosen() == INTERVENTION and CHANGE.chosen() in (ZERO_HEAD, MEAN_HEAD, UNIFORM_HEAD):
        met_again(pair.a.model, (at.layer, at.head))
    if reason is not None:
        _show_other_ways(figure)
    _show_notes(pair, figure, a, b)
    with st.expander("The difference, cell by cell and layer by layer", icon=":material/difference:"):
        if reason is None:
            draw(partial(difference, pair.a, pair.b, figure, at), "compare-difference")
        _show_streams(pair)
    code(apart)


def _show_other_ways(figure: str) -> None:
    """Say that there is no difference map, and offer the comparisons that exist."""
    if figure in comparable.PER_HEAD:
        st.info(
            "There is no difference map, because the two models differ in the number of layers or heads.",
            icon=":material/difference:",
        )
        return
    st.info(
        "There is no difference map. But metrics and named heads have one value for each head, so you can compare "
        "them for texts of any length.",
        icon=":material/difference:",
    )
    st.button(
        "Compare a metric of every head", on_click=FIGURE.set, args=(comparable.METRIC,), icon=":material/grid_on:"
    )


def _show_streams(pair: Pair) -> None:
    """Draw how far apart the residual streams are, if they can be compared."""
    a, b = pair.a, pair.b
    if a.hidden_states.shape != b.hidden_states.shape:
        shapes = (" × ".join(map(str, each.hidden_states.shape)) for each in (a, b))
        st.caption(
            f"The residual streams have different shapes, {' and '.join(shapes)}, so the lab cannot compute their "
            "distance."
        )
        return
    same = same_tokens(a, b)
    if not same.any():
        st.caption("A and B have no token in common at the same place, so no vectors are compared.")
        return
    draw(partial(streams, a, b), "compare-streams")
    found = apart(a, b)
    cosine = found.cosine[:, same].mean(axis=1)
    first, last = (signed(value, 3) for value in (cosine[0], cosine[-1]))
    part = "all tokens" if same.all() else f"the {int(same.sum())} of {len(same)} tokens that agree"
    told = (
        f"On average over {part}, the cosine between A’s and B’s vectors is {first} before layer 1 and {last} after "
        f"layer {len(cosine) - 1}."
    )
    caption(told)


def _show_notes(pair: Pair, figure: str, a: Numbers, b: Numbers) -> None:
    """Draw the notes that are needed to read the figures."""
    axes = [axis for each in (a, b) if isinstance(each, Heatmap) for axis in each.axes]
    if any(axis.first is not None and len(axis.names) < axis.total for axis in axes):
        st.caption("The text is long, so only the tokens around the chosen one are drawn and compared.")
    if any(each.axes[1].first is None for each in (a, b) if isinstance(each, SmallMaps)):
        st.caption("The text is long, so each cell shows the largest weight of a block of tokens.")
    if pair.a.model is not pair.b.model and not isinstance(a, WordShares) and figure != comparable.SENTENCES:
        st.caption("A head, neuron or dimension with the same number may do different things in two models.")


def figure_a(a: Trace, b: Trace, figure: str, at: At) -> Figure:
    """Draw ``figure`` for A, on a scale that both runs share. Raises the errors of :func:`shown`."""
    return beside("A", shown(a, figure, at), shown(b, figure, at))


def figure_b(a: Trace, b: Trace, figure: str, at: At) -> Figure:
    """Draw ``figure`` for B, on a scale that both runs share. Raises the errors of :func:`shown`."""
    return beside("B", shown(b, figure, at), shown(a, figure, at))


def difference(a: Trace, b: Trace, figure: str, at: At) -> Figure:
    """Draw B minus A, with colours around 0. Also raises ValueError if the two runs have no cells in common."""
    return less(shown(a, figure, at), shown(b, figure, at))


def streams(a: Trace, b: Trace) -> Figure:
    """Return the distance between the residual streams after each layer, averaged over the places with equal tokens.

    Raises ValueError if the streams have different shapes, or no tokens are equal.
    """
    found, same = apart(a, b), same_tokens(a, b)
    if not same.any():
        raise ValueError("A and B share no token at the same place.")
    series = {
        "‖B − A‖ ÷ ‖A‖": found.distance[:, same].mean(axis=1),
        "1 − cosine": 1 - found.cosine[:, same].mean(axis=1),
    }
    places = AxisPlaces("Layer (0: embeddings)", range(len(found.distance)))
    return lines(series, places, Scale("Distance"), title="Distance of the residual streams")


def asked(pair: Pair, figure: str, at: At) -> Pair:
    """Return the runs that a figure is about: for predictions, the runs in which the token is hidden."""
    if figure != comparable.PREDICTIONS:
        return pair
    try:
        a, b = (comparable.hidden(each, at.token) for each in (pair.a, pair.b))
    except NothingToShow:
        return pair  # the figure itself says why there is nothing to show
    return replace(pair, a=a, b=b)


def said(a: WordShares, b: WordShares, runs: tuple[Trace, Trace]) -> str:
    """Name each run's most probable word; if the runs differ in one token only, say that this token changed the word.

    No cause is named for two models, other weights, or a run with an intervention.
    """
    one_run, other_run = runs
    (first, p), (second, q) = (_best(each) for each in (a, b))
    if first == second:
        said = f"Both expect {quoted(first)} most. A gives this word the probability {p:.2f}, and B gives it {q:.2f}."
        moved = "does not change the word that comes first"
    else:
        said = f"A’s first word is {quoted(first)} ({p:.2f}), and B’s is {quoted(second)} ({q:.2f})."
        moved = "is enough to move the model from one word to the other"
    places = [at for at, (one, other) in enumerate(zip(one_run.tokens, other_run.tokens, strict=False)) if one != other]
    alike = one_run.model.id == other_run.model.id and one_run.interventions == other_run.interventions
    if not alike or len(one_run) != len(other_run) or len(places) != 1:
        return said
    one, other = (quoted(each.tokens[places[0]]) for each in runs)
    return f"{said} A and B differ only in one token, {one} in A and {other} in B. This swap {moved}."


def _best(words: WordShares) -> tuple[str, float]:
    top = int(words.values.argmax())
    return words.word(top), float(words.values[top])


def summary(a: Numbers, b: Numbers, reason: str | None) -> str:
    """Sum the comparison up in one or two numbers."""
    if reason is not None:
        return f"{escaped(reason)}, so the two figures have no cells to compare."
    found = largest(a, b)
    if found.value == 0:
        return "**No difference** between A and B in this figure."
    if isinstance(b, CategoryMap):
        return (
            f"**{found.mean * b.values.size:.0f} of {b.values.size} heads** have a different name in B; the first is "
            f"{found.where}."
        )
    # The mean over thousands of words says nothing, because nearly all words have a probability near 0.
    mean = "" if isinstance(a, WordShares) else f" The mean of all differences is **{found.mean:.3g}**."
    return f"The largest difference is **{found.value:.3g}**, at {escaped(found.where)}.{mean}"


def _elsewhere(pair: Pair, figure: str, at: At) -> str:
    """If B lacks the part that was chosen in A, say which part B's figure shows instead."""
    here = at.inside(pair.b)
    if figure in comparable.OF_A_TOKEN and (
        here.token != at.token or pair.a.tokens[at.token] != pair.b.tokens[here.token]
    ):
        return f", at {named(pair.b, here.token)}"
    if here.layer != at.layer or here.head != at.head:
        return f", at layer {here.layer + 1} and head {here.head + 1}, the last that B has"
    return ""


def _asked(traced: Trace, at: At) -> str:
    """Name the token that a run's prediction is about."""
    token = at.inside(traced).token
    if traced.model.config.causal:
        return f"{quoted(traced.model.id)} predicts what follows token {token + 1}; nothing is hidden from it."
    hidden = quoted(traced.labels[token])
    return f"In every figure here, {hidden} hides token {token + 1} from {quoted(traced.model.id)}."


def _choose_figure(pair: Pair, layer: int, head: int) -> tuple[str, At]:
    """Let the learner choose the figure to compare, and the settings and the token of this figure."""
    with st.container(horizontal=True):
        figure = FIGURE.choose("Figure", _choose_from(), width=260)
        at = _choose_details(figure, At(layer, head))
        chosen = selection.current()
        # A figure about one token keeps its token when another head is chosen.
        token, _ = choose_tokens(
            pair.a, *(look_head(pair.a) if figure in comparable.OF_A_TOKEN else (layer, head)), pair.b
        )
        blocking = chosen[COMPARE] == INTERVENTION and chosen[CHANGE] == BLOCKED  # the token is chosen already
    if not blocking and (figure in comparable.OF_A_TOKEN or len(pair.a) > comparable.TOKENS):
        show_sentence(pair.a, token)
    return figure, replace(at, token=token)


def _choose_from() -> tuple[str, ...]:
    """List the available figures: a toy has no vocabulary, so it predicts no words."""
    toy = MODE.chosen() == TOY
    return tuple(name for name in FIGURE.options if not (toy and name == comparable.PREDICTIONS))


def _choose_details(figure: str, at: At) -> At:
    """Draw the controls that only this figure has."""
    if figure == comparable.METRIC:
        name = METRIC.choose("Metric", width=260)
        at = replace(at, metric=next(each.id for each in METRICS if each.name == name))
    if figure == comparable.SENTENCES:
        at = replace(at, measure=MEASURE.choose("Measure"))
    if figure in (comparable.METRIC, comparable.SPECIALIZATION):
        version = VERSION.choose(
            "Version",
            help="A corrected value allows for the length of the text, or compares the raw value with an even spread.",
        )
        at = replace(at, corrected=version == CORRECTED)
    return at
