"""Where is it kept? The page: what is asked, drawn and said of the result, the learner's own pair, and the pairs behind
the means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import word_of
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.scatter import scatter
from lab.course.words import escaped, head_name, quoted, signed
from lab.evidence.pairs import BLANK, can_be_asked
from lab.evidence.reasons import LABELS, why
from lab.evidence.shipped import model_hash
from lab.evidence.verdicts import HOLDS, Verdict
from lab.experiments.patching.claims import (
    ALIKE,
    BROUGHT,
    CLAIMS,
    EARLY,
    FAILED,
    LAST_LAYER,
    LATE,
    NEEDED,
    RANKED,
    SUFFICES,
    WORKED,
    agreement,
    carried,
    compared,
    error,
)
from lab.experiments.patching.contributions import Contributions, contributions
from lab.experiments.patching.measure import MEASUREMENT, PAIRS, PairRow, PatchingRow, PatchingTest, result
from lab.experiments.patching.own_pair import OwnPair, differing, own_contrast, own_known, own_patching
from lab.experiments.patching.patches import SMALL, Contrast, Maps, NotPatchable, Patching, patching, plain_parts
from lab.figures import choices
from lab.models.cores import one_core
from lab.models.interventions import Head, Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace, trace_encoding
from lab.questions.bets import Belief, Bet, between
from lab.questions.question import Right
from lab.ui import runs
from lab.ui.drawing import code, draw
from lab.ui.drawing import show_numbers as offer_numbers
from lab.ui.experiments.experiment import Experiment, show_reason
from lab.ui.experiments.page import asking_step, look_there
from lab.ui.experiments.reproduced import NOTHING, Lines, markdown, two, with_ends
from lab.ui.experiments.two_kinds import two_kinds
from lab.ui.long_work import offer
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import (
    BAD_WORD,
    CLEAN_TEXT,
    COMPARE,
    CORRUPT_TEXT,
    GOOD_WORD,
    HEAD,
    HEADS,
    KEY_TOKEN,
    LAYER,
    OTHER_TEXT,
    PATCH,
    PATCH_WAY,
    PLACE,
    TOKEN,
    TWO_TEXTS,
)
from lab.ui.tables import DECIMAL, Column, show_table

# What is asked.


# Each claim in words, and the two numbers that it compares.
SAYS = {
    EARLY: "In early layers, the subject holds the number",
    LATE: "The asked token holds the number before the last layer",
    BROUGHT: "Attention brings the number to the asked token",
    WORKED: "At the subject, the feed-forward network works on the number",
    RANKED: "A gradient ranks the heads as patches do",
    FAILED: "The gradient errs more for the residual stream than for heads",
}
COMPARED = {
    EARLY: ("subject", "asked token"),
    LATE: ("last layer", "layer of the crossing"),
    BROUGHT: ("attention", "feed-forward"),
    WORKED: ("feed-forward", "attention"),
    RANKED: ("rank correlation", f"line at {ALIKE}"),
    FAILED: ("residual stream", "heads"),
}
_WAYS = {SUFFICES: "what suffices", NEEDED: "what is needed"}
_HALF = 0.5


@dataclass(frozen=True)
class PatchedHead:
    """The head and token that recover most on half A, with the share that they recover on half B, and its interval."""

    head: Head
    token: int
    share: float
    low: float
    high: float


BET = Bet(
    "head",
    "Suppose that we patch the output of only one head at one token. How much of the difference can this single head "
    "bring back?",
    (
        Belief(
            "One head is enough for more than half",
            "A head that finds the subject could carry the number to the place where the model answers.",
            "one cell of the map of heads would hold more than half of the difference",
        ),
        Belief(
            "No head alone brings back half",
            "The number may reach that place through many heads and layers, and each may carry only a part of it.",
            "every cell of the map of heads would hold less than half of the difference",
        ),
    ),
)


def decided(found: PatchingTest) -> Right | None:
    """Answer from the best head's share on half B, unless its interval reaches over one half."""
    best = best_head(found)
    option = between((best.low, best.high), (_HALF,))
    where = f"{head_name(best.head)} at the {_token(found, best.token)}"
    told = (
        f"The best single head, {where}, recovers {best.share:.0%} (95 % interval: {best.low:.0%} to {best.high:.0%})."
    )
    return None if option is None else (1 - option, told)


def best_head(found: PatchingTest) -> PatchedHead:
    """Find the head and token that recover most on half A, and the share that they recover on half B."""
    means = found.carried[SUFFICES]
    layer, head, token = (int(at) for at in np.unravel_index(int(means.on_a.heads.argmax()), means.on_a.heads.shape))
    mean, low, high = (float(each.heads[layer, head, token]) for each in (means.on_b, means.low, means.high))
    return PatchedHead((layer, head), token, mean, low, high)


def _token(found: PatchingTest, token: int) -> str:
    if token == found.asked:
        return "asked token"
    return escaped(found.tokens[token])


# The figures: they need nothing but the model, so a notebook can draw them again.


DIRECTION = {choices.SUFFICES: SUFFICES, choices.NEEDED: NEEDED}
_ARROW = {choices.SUFFICES: "clean into corrupt", choices.NEEDED: "corrupt into clean"}
_HEADS = (choices.HEADS_WHERE_ASKED, choices.HEADS_WHERE_DIFFERENT)
_SITE = {choices.RESIDUAL_STREAM: "residual", choices.ATTENTION_OUTPUT: "attention", choices.FFN_OUTPUT: "ffn"}
_CARRIED = "Carried"


def template_map(model: LoadedModel, part: str, way: str) -> Heatmap:
    """Draw the share that a part of each layer carries at each token, as a mean over half B; 1 is the whole difference.

    ``part`` and ``way`` are from :mod:`lab.figures.choices`. For heads, the map is for one token. Runs the experiment
    if its result neither ships nor is known yet. The table has every cell of the part with its interval.
    """
    found = result(model)
    drawn = _map(found.carried[DIRECTION[way]].on_b, part, way, found.tokens, (found.subject, found.asked))
    return replace(drawn, table=partial(cell_table, found, part, way))


def own_map(model: LoadedModel, own: OwnPair, part: str, way: str) -> Heatmap:
    """Draw the share that patching recovers for two sentences with a blank (_) in which two words compete.

    Raises NotPatchable for a pair that cannot be patched.
    """
    two = own_contrast(model, own)
    maps = carried(own_patching(model, two))[DIRECTION[way]]
    return _map(maps, part, way, labels(model, two), (differing(two)[0], two.place))


def template_estimates(model: LoadedModel, part: str) -> Figure:
    """Draw a gradient's estimate for each part and token beside the share that patching recovers: means over half B."""
    found = result(model)
    return _estimates(found.carried[SUFFICES].on_b, found.estimated, part, found.tokens)


def own_estimates(model: LoadedModel, own: OwnPair, part: str) -> Figure:
    """Draw a gradient's estimates for the learner's own pair beside the shares that patching recovers."""
    two = own_contrast(model, own)
    found = own_patching(model, two)
    return _estimates(found.clean_into_corrupt, found.estimated_into_corrupt, part, labels(model, two))


def own_contributions(model: LoadedModel, own: OwnPair) -> Heatmap:
    """Draw the logits that each head and feed-forward network adds directly to the good word minus the bad word.

    The logits are measured in the clean sentence, at the asked token.
    """
    heads, ffn = parts_of(model, own_contrast(model, own))[:2]
    values = np.concatenate([heads, ffn[:, None]], axis=1)
    columns = [*(f"head {head}" for head in range(1, heads.shape[1] + 1)), "FFN"]
    axes = Axis("Layer", _numbers(len(values))), Axis("Part", columns)
    return heatmap(
        values,
        axes,
        Scale("Logits added", None, ".2f", signed=True),
        title=f"What favours “{own.good}” over “{own.bad}”",
    )


def parts_of(model: LoadedModel, two: Contrast) -> tuple[Values, Values, float, float]:
    """The summands of the logit difference: heads (layers, heads), networks (layers,), embeddings and biases."""
    trace = trace_encoding(model, two.clean)
    good, bad = (contributions(trace, two.place, word) for word in (two.good, two.bad))

    def embedded(each: Contributions) -> float:
        return each.token + each.position + each.segment

    return good.heads - bad.heads, good.ffn - bad.ffn, embedded(good) - embedded(bad), good.biases - bad.biases


def labels(model: LoadedModel, two: Contrast) -> tuple[str, ...]:
    """The tokens of the clean sentence; where the corrupt sentence differs, both tokens."""
    both = zip(two.clean.token_ids, two.corrupt.token_ids, strict=True)
    words = ((word_of(model.tokenizer, one), word_of(model.tokenizer, other)) for one, other in both)
    return tuple(one if one == other else f"{one}/{other}" for one, other in words)


def _map(maps: Maps, part: str, way: str, tokens: Sequence[str], places: tuple[int, int]) -> Heatmap:
    title = f"{part}: {_ARROW[way]}"
    if part in _HEADS:
        at = places[1] if part == choices.HEADS_WHERE_ASKED else places[0]
        values = maps.heads[..., at]
        axes = Axis("Layer", _numbers(len(values))), Axis(f"Head at {tokens[at]}", _numbers(values.shape[1]))
        return heatmap(values, axes, Scale(_CARRIED, None, ".2f", signed=True), title=title)
    values = getattr(maps, _SITE[part])
    rows = _numbers(len(values)) if part != choices.RESIDUAL_STREAM else ["embeddings", *_numbers(len(values) - 1)]
    axes = Axis("Layer", rows), Axis("Token", list(tokens))
    return heatmap(values, axes, Scale(_CARRIED, (-1.0, 1.0), ".2f", signed=True), title=title)


def _numbers(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]


def _site(part: str) -> str:
    return "heads" if part in _HEADS else _SITE[part]


def _estimates(exact: Maps, estimated: Maps, part: str, tokens: Sequence[str]) -> Figure:
    site = _site(part)
    x, y = (getattr(maps, site) for maps in (exact, estimated))
    names = [_name(site, at, tokens) for at in np.ndindex(x.shape)]
    scales = Scale("Recovered by the patch", None, ".2f"), Scale("Predicted by the gradient", None, ".2f")
    what = "heads" if site == "heads" else part.lower()
    return scatter(names, (x.reshape(-1), y.reshape(-1)), scales, title=f"Patches and gradients: {what}")


def _name(site: str, at: tuple[int, ...], tokens: Sequence[str]) -> str:
    """Name a cell by its layer, head and token."""
    layer = "embeddings" if site == "residual" and at[0] == 0 else f"layer {at[0] + (site != 'residual')}"
    head = f" head {at[1] + 1}" if site == "heads" else ""
    return f"{layer}{head}, {tokens[at[-1]]}"


def cell_table(found: PatchingTest, part: str, way: str) -> pd.DataFrame:
    """Every cell of a part: its share on B with interval, on A, and, for sufficiency, the gradient's estimate."""
    site, means = _site(part), found.carried[DIRECTION[way]]
    values = {
        "carried": means.on_b,
        "low": means.low,
        "high": means.high,
        "on A": means.on_a,
        "estimated": found.estimated,
    }
    if way == choices.NEEDED:
        del values["estimated"]
    shape = getattr(means.on_b, site).shape
    places = [_name(site, at, found.tokens) for at in np.ndindex(shape)]
    return pd.DataFrame({"cell": places} | {name: getattr(maps, site).reshape(-1) for name, maps in values.items()})


def as_frame(found: PatchingTest) -> pd.DataFrame:
    """One line for each claim and direction."""
    return pd.DataFrame(
        [
            {
                "claim": SAYS[row.claim.id],
                "direction": row.claim.direction or "–",
                "verdict": LABELS[row.judged.verdict],
                "compared": " − ".join(COMPARED[row.claim.id]),
                "first": row.first,
                "second": row.second,
                "effect": row.effect,
                "low": row.low,
                "high": row.high,
                "untrained twin": float("nan") if row.twin is None else row.twin,
                "n": row.count,
                "n of the twin": row.twin_count,
                "p (Holm)": row.p,
                "on A": row.on_a,
                "A − B": row.on_a - row.effect,
                "why": why_of(found, row),
            }
            for row in found.rows
        ]
    )


def claim_table(model: LoadedModel) -> pd.DataFrame:
    """:func:`as_frame` of a model's result; runs the experiment if the result is not known yet."""
    return as_frame(result(model))


def relay_frame(found: PatchingTest) -> pd.DataFrame:
    """The share that attention brings to the asked token on B if no later network is held, if each is, if all are."""
    rows = []
    for way, direction in DIRECTION.items():
        relay = found.relays[direction]
        names = ["none", *(f"that of layer {layer + 1}" for layer in range(relay.layer, found.layers)), "all"]
        rows += [
            {
                "direction": way,
                "attention of layer": relay.layer + 1,
                "held network": name,
                "carried": mean,
                "low": low,
                "high": high,
            }
            for name, mean, low, high in zip(names, relay.mean, relay.low, relay.high, strict=True)
        ]
    return pd.DataFrame(rows)


def best_frame(found: PatchingTest) -> pd.DataFrame:
    """The single site of each part that carries most on half A, and its share on half B.

    Embeddings and last layer are left out of the residual stream: there, one token has everything by construction.
    """
    rows = []
    for way, direction in DIRECTION.items():
        means = found.carried[direction]
        for part in choices.PATCHED[:4]:
            site, inner = _site(part), slice(1, -1) if part == choices.RESIDUAL_STREAM else slice(None)
            on_a = getattr(means.on_a, site)[inner]
            at = tuple(int(each) for each in np.unravel_index(int(on_a.argmax()), on_a.shape))
            at = (at[0] + (part == choices.RESIDUAL_STREAM), *at[1:])
            a, b, low, high = (float(getattr(m, site)[at]) for m in (means.on_a, means.on_b, means.low, means.high))
            rows.append(
                {
                    "direction": way,
                    "part": "Single head" if site == "heads" else part,
                    "best on A": _name(site, at, found.tokens),
                    "on B": b,
                    "low": low,
                    "high": high,
                    "on A": a,
                    "A − B": a - b,
                }
            )
    return pd.DataFrame(rows)


def estimate_frame(found: PatchingTest) -> pd.DataFrame:
    """How well gradients estimate the means of each part over half B: rank correlation and error."""
    exact, estimated = found.carried[SUFFICES].on_b, found.estimated
    parts = {name: (getattr(exact, site), getattr(estimated, site)) for name, site in _SITE.items()}
    parts["Feed-forward output of layer 1"] = (exact.ffn[:1], estimated.ffn[:1])
    parts["Heads"] = (exact.heads, estimated.heads)
    return pd.DataFrame(
        [{"part": name, "rank correlation": agreement(*both), "error": error(*both)} for name, both in parts.items()]
    )


# What is said.


def meaning_of(found: PatchingTest, model_id: str) -> str:
    """Say up to which layer the subject has the grammatical number, which part moves it on, and one head's share."""
    crossing = found.crosses(SUFFICES)
    asked, subject = (found.carried[SUFFICES].on_b.residual[crossing, token] for token in (found.asked, found.subject))
    name, best, relay = escaped(model_id), best_head(found), found.relays[SUFFICES]
    if crossing == found.layers:
        said = (
            f"In {name}, the subject’s vector recovers more than the asked token’s in every layer but the last. "
            "There, the asked token recovers everything by construction."
        )
    else:
        said = (
            f"Up to layer {crossing - 1} of {name}, the subject’s vector alone recovers more than the asked token’s. "
            f"From layer {crossing} on, the asked token’s vector recovers more ({asked:.0%} against {subject:.0%})."
        )
    return (
        f"{said} Attention in layer {relay.layer + 1} brings the number to the asked token: on its own, it recovers "
        f"{relay.alone:.0%}. The best single head, {head_name(best.head)} at the {_token(found, best.token)}, recovers "
        f"{best.share:.0%}."
    )


def verdict_of(found: PatchingTest) -> str:
    """Name each claim about places with its verdict, both directions together if they agree."""
    verdicts: dict[str, dict[str, str]] = {}
    for row in found.rows:
        if row.claim.direction:
            verdicts.setdefault(SAYS[row.claim.id], {})[row.claim.direction] = LABELS[row.judged.verdict]
    lines = [f"- {says}: {_both(ways)}." for says, ways in verdicts.items()]
    untrained = any(LABELS[Verdict.ALSO_UNTRAINED] in line for line in lines)
    return "\n".join(["**Also untrained**: the same happens with random weights.\n" * untrained, *lines])


def _both(ways: Mapping[str, str]) -> str:
    """Name one verdict if both directions agree, otherwise each verdict with its direction."""
    if len({*ways.values()}) == 1:
        return f"**{next(iter(ways.values()))}**"
    return ", ".join(f"**{verdict}** ({_WAYS[way]})" for way, verdict in ways.items())


def why_of(found: PatchingTest, row: PatchingRow) -> str:
    """Give the reason of the verdict on a claim, in a sentence."""
    if row.judged.effect.untestable != LAST_LAYER:
        return why(row.judged)
    return (
        f"The lines cross in layer {found.layers}, the last one. After this layer, the asked token recovers "
        "everything because of the way a transformer is built."
    )


def relay_of(found: PatchingTest) -> str:
    """Say how much attention brings to the asked token, and which feed-forward network uses it there."""
    relay = found.relays[SUFFICES]
    most, held = relay.most + 1, relay.held(relay.most)
    said = f"Attention in layer {relay.layer + 1} alone recovers {relay.alone:.0%}"
    if relay.alone > 0 and held < relay.alone / 2:
        return (
            f"{said}, but only {held:.0%} when the feed-forward network of layer {most} is held fixed. So attention "
            "and the network work together: attention brings the number, and the network turns it into the word."
        )
    return f"{said}, and {held:.0%} when the feed-forward network of layer {most} is held fixed."


def in_full(found: PatchingTest) -> str:
    """State how far the runs are apart, findings beyond the claims, the role of the network, and the verdicts."""
    gap = float(np.mean([row.clean - row.corrupt for row in found.half(1)]))
    stream = found.carried[SUFFICES].on_b.residual
    said = [
        f"The deciding word changes the difference of the two logits by {gap:.2f} on average. After layer 1, the "
        f"subject’s vector alone recovers {stream[1, found.subject]:.0%} of this change.",
        _elsewhere(found, 1),
        relay_of(found),
        _held([row for row in found.rows if row.claim.direction]),
        _untrained(found.rows),
    ]
    return " ".join(part for part in said if part)


def _elsewhere(found: PatchingTest, layer: int) -> str:
    """Name the token that recovers most after this layer, if the claim does not name that token."""
    state = found.carried[SUFFICES].on_b.residual[layer]
    most = int(state.argmax())
    if most in (found.subject, found.asked):
        return ""
    return f"A token that the claim does not name recovers the most: {escaped(found.tokens[most])}, {state[most]:.0%}."


def _held(rows: list[PatchingRow]) -> str:
    held = [row for row in rows if row.judged.verdict in HOLDS]
    if len(held) == len(rows):
        return f"All {len(rows)} claims about places agree with the paper’s direction."
    failed = _named([row for row in rows if row not in held])
    return (
        f"**{len(held)} of {len(rows)}** claims about places agree with the paper’s direction. The others do not: "
        f"{failed}."
    )


def _untrained(rows: Sequence[PatchingRow]) -> str:
    """Name the effects that are not clearly larger than in an untrained model: the architecture may cause them."""
    alike = [row for row in rows if row.judged.verdict is Verdict.ALSO_UNTRAINED]
    if not alike:
        return ""
    return (
        f"Some effects are not clearly larger than in the untrained twin: {_named(alike)}. So training may not have "
        "caused them."
    )


def _named(rows: Sequence[PatchingRow]) -> str:
    """List claims with their directions, each claim once."""
    directions: dict[str, list[str]] = {}
    for row in rows:
        directions.setdefault(SAYS[row.claim.id], []).append(row.claim.direction)
    return ", ".join(f"“{says}”" + f" ({', '.join(ways)})" * any(ways) for says, ways in directions.items())


def own_meaning(found: Patching, labels: tuple[str, ...], asked: int, way: str) -> str:
    """Name the token of one pair that carries most after layer 1, and the layer from which the asked one does."""
    maps: Maps = carried(found)[DIRECTION[way]]
    stream, does = maps.residual, "recovers" if DIRECTION[way] == SUFFICES else "costs"
    first, there = int(stream[1].argmax()), stream[1:].argmax(axis=1) == asked
    layer, head, token = (int(at) for at in np.unravel_index(int(maps.heads.argmax()), maps.heads.shape))
    return (
        f"After layer 1, {quoted(labels[first])} alone {does} the most, {stream[1, first]:.0%} of the difference. "
        f"{_taken_over(there)} Among the single heads, head {layer + 1}-{head + 1} at {quoted(labels[token])} {does} "
        f"the most, {maps.heads[layer, head, token]:.0%}."
    )


def _taken_over(there: NDArray[np.bool_]) -> str:
    """Say from which layer on the asked token recovers most; ``there`` is True for each layer after which it does."""
    since = len(there) - int(np.cumprod(there[::-1]).sum()) + 1
    if since >= len(there):
        return "The asked token recovers the most only after the last layer, where it must do so by construction."
    return f"From layer {since} on, the asked token recovers the most."


def added_up(heads: Values, ffn: Values, embedded: float, biases: float) -> str:
    """Add up the contributions of one pair."""
    total = float(heads.sum() + ffn.sum()) + embedded + biases
    return (
        f"The heads add {signed(float(heads.sum()), plus=True)}, the feed-forward networks "
        f"{signed(float(ffn.sum()), plus=True)}, the embeddings {signed(embedded, plus=True)}, and the biases "
        f"{signed(biases, plus=True)}. Together, this is **{signed(total, plus=True)}**, the difference between the "
        "two logits in the clean sentence."
    )


# The learner's own pair.


_FIELDS = (CLEAN_TEXT, CORRUPT_TEXT, GOOD_WORD, BAD_WORD)
_OPEN = "_own_pair"


def show_own(model: LoadedModel) -> None:
    """Draw :func:`show_fields` behind a click; open it if a link or the learner has chosen another pair."""
    if _OPEN not in st.session_state and any(field.chosen() != field.default for field in _FIELDS):
        st.session_state[_OPEN] = True
    with st.expander("Patch a pair of your own", icon=":material/edit:", on_change="rerun", key=_OPEN) as own:
        if own.open:
            show_fields(model)


def take(*values: str) -> None:
    """Put a pair into the fields (clean and corrupt sentence, first and second word), and open the fields."""
    for field, value in zip(_FIELDS, values, strict=True):
        field.set(value)
    st.session_state[_OPEN] = True


def show_fields(model: LoadedModel) -> None:
    """Draw the fields, and the maps of the sentences, or the reason why they cannot be patched."""
    st.markdown(
        "Write two sentences that differ in the deciding word, each with one blank `_`. Then write two words for the "
        "blank. Both sentences must have the same number of tokens."
    )
    left, right = st.columns([3, 1])
    with left:
        CLEAN_TEXT.line("Clean: the first word fits")
        CORRUPT_TEXT.line("Corrupt: the second word fits")
    with right:
        GOOD_WORD.line("First word")
        BAD_WORD.line("Second word")
    asked = OwnPair(*(field.chosen() for field in _FIELDS))
    try:
        two = own_contrast(model, asked)
        with one_core():
            _, _, (clean, corrupt) = plain_parts(model, two)
    except NotPatchable as reason:
        st.info(escaped(str(reason)), icon=":material/edit:")
        return
    good, bad = (quoted(word.strip()) for word in (asked.good, asked.bad))
    st.markdown(
        f"The logit of {good} minus the logit of {bad} is **{signed(clean)}** in the clean run and "
        f"**{signed(corrupt)}** in the corrupt one."
    )
    if clean < corrupt:
        st.caption(
            f"For {escaped(model.id)}, it is the other way round: {good} is more likely in the corrupt sentence. The "
            "shares still refer to the difference between the two runs."
        )
    _show_patched(model, two, asked)


def _show_patched(model: LoadedModel, two: Contrast, asked: OwnPair) -> None:
    found = own_known(model, two)
    if found is None:
        key = (
            MEASUREMENT.id,
            model_hash(model),
            two.clean.token_ids,
            two.corrupt.token_ids,
            two.place,
            two.good,
            two.bad,
        )
        help = "The lab patches every part of every layer at every token, in both directions. This takes a few seconds."
        offer(key, "Patch these two sentences", partial(own_patching, model, two), help)
        return
    part, way = PATCH.chosen(), PATCH_WAY.chosen()
    draw(partial(own_map, model, asked, part, way), "own-patches")
    st.markdown(f"**In this pair.** {own_meaning(found, labels(model, two), two.place, way)}")
    with st.expander("What a gradient predicts for this pair", icon=":material/scatter_plot:"):
        draw(partial(own_estimates, model, asked, part), "own-estimates")
    with st.expander("What each part adds to the logits directly", icon=":material/add:"):
        draw(partial(own_contributions, model, asked), "own-contributions")
        st.markdown(added_up(*parts_of(model, two)))
        st.caption(
            "The numbers are for the asked token of the clean sentence, with the scales of the LayerNorms held fixed. "
            "They leave out the effect that a part has through later layers. A patch includes that effect."
        )
        code(contributions)


# The pairs behind the means.


# The claims that are checked for a single pair, which are the claims about the residual stream.
_LOOKED_AT = [at for at, claim in enumerate(CLAIMS) if claim.direction == SUFFICES and claim.id in (EARLY, LATE)]


def as_claimed(row: PairRow) -> bool:
    """Return whether a pair, patched into the corrupt run, follows both claims: subject early, asked token late."""
    return bool((row.numbers[_LOOKED_AT, 0] > row.numbers[_LOOKED_AT, 1]).all())


def show_pairs(model: LoadedModel, found: PatchingTest) -> Trace | None:
    """Draw pairs of B that follow the claim and pairs that do not; returns the first pair's run."""
    pairs = found.half(1)
    held = sum(map(as_claimed, pairs))
    st.markdown(
        f"In {held} of the {len(pairs)} pairs of B, the subject’s vector recovers more in early layers, and the asked "
        "token’s vector recovers more from some later layer on, before the last one."
    )
    kinds = {
        title: [row for row in pairs if as_claimed(row) == right]
        for title, right in (("As claimed", True), ("Not as claimed", False))
    }
    shown = two_kinds(kinds, lambda row, key: _show_pair(model, found, row, key), "Other pairs")
    if found.refused:
        with st.expander(f"{len(found.refused)} pairs were not patched", icon=":material/block:"):
            show_table(pd.DataFrame([{"sentence": pair.text, "why": why} for pair, why in found.refused]))
    return runs.run(model.id, _asked_text(model, shown[0].pair.text), "", Interventions()) if shown else None


def _show_pair(model: LoadedModel, found: PatchingTest, row: PairRow, key: str) -> None:
    pair = row.pair
    with st.container(border=True):
        st.markdown(f"{_written(pair.text)}  \nCorrupt: {_written(pair.other)}")
        early, late = row.numbers[_LOOKED_AT]
        st.caption(
            f"The logit of **{escaped(pair.good)}** minus the logit of **{escaped(pair.bad)}** is {signed(row.clean)} "
            f"in the clean run and {signed(row.corrupt)} in the corrupt run. In early layers, the subject recovers "
            f"{signed(early[0])}, and the asked token {signed(early[1])}. The lines cross in layer {late[1]:.0f} of "
            f"{late[0]:.0f}."
        )
        with st.container(horizontal=True):
            st.button(
                "Patch it above",
                key=f"_experiment.patch.{key}",
                icon=":material/arrow_upward:",
                type="tertiary",
                on_click=take,
                args=(pair.text, pair.other, pair.good, pair.bad),
            )
            _show_ways_on(model, found, row, key)


def _show_ways_on(model: LoadedModel, found: PatchingTest, row: PairRow, key: str) -> None:
    """Offer lesson 9 at the blank, the best head at the asked token, and both sentences side by side."""
    text, other = (_asked_text(model, each) for each in (row.pair.text, row.pair.other))
    heads = found.carried[SUFFICES].on_a.heads[..., found.asked]
    layer, head = (int(at) for at in np.unravel_index(int(heads.argmax()), heads.shape))
    here: dict[Parameter[Any], Any] = {
        LAYER: layer + 1,
        HEAD: head + 1,
        TOKEN: found.asked + 1,
        KEY_TOKEN: found.subject + 1,
    }
    lesson: dict[Parameter[Any], Any] = {PLACE: found.asked + 1}
    look_there("masked-language-model", text, lesson, f"_experiment.lesson.{key}", asking_step(model))
    view = here | {HEADS: str(head + 1)}
    look_there("head-view", text, view, f"_experiment.view.{key}")
    both: dict[Parameter[Any], Any] = {COMPARE: TWO_TEXTS, OTHER_TEXT: other}
    look_there("compare", text, both, f"_experiment.compare.{key}")


def _asked_text(model: LoadedModel, text: str) -> str:
    """The text that the model reads: with the model's own mask as the blank, or up to the blank."""
    mask = model.mask
    if model.config.causal or mask is None:
        return text.partition(BLANK)[0].rstrip()
    return text.replace(BLANK, mask[0])


def _written(text: str) -> str:
    return escaped(text).replace("\\_", ":blue-background[**\\_**]")


# The page.


_CLAIMS = (
    Column("claim", 174),
    Column("direction", 78),
    Column("verdict", 98),
    Column("compared", 152),
    *(
        Column(name, width, DECIMAL)
        for name, width in (("first", 56), ("second", 66), ("effect", 60), ("low", 54), ("high", 54))
    ),
    Column("untrained twin", 58, DECIMAL, "twin", "The same effect in the untrained twin."),
    Column("n", 46),
)
_SITES = (
    Column("direction", 110),
    Column("part", 170),
    Column("best on A", 260),
    *(Column(name, 70, DECIMAL) for name in ("on B", "low", "high", "on A", "A − B")),
)
_RELAYS = (
    Column("direction", 130),
    Column("attention of layer", 140),
    Column("held network", 160),
    *(Column(name, 80, DECIMAL) for name in ("carried", "low", "high")),
)
_ESTIMATES = Column("part", 300), Column("rank correlation", 150, DECIMAL), Column("error", 100, DECIMAL)


def show_untestable(model: LoadedModel, reason: str) -> None:
    """Draw the reason why the template cannot be tested; a pair of one's own needs only a model that predicts words."""
    try:
        can_be_asked(model)
    except ValueError:
        show_reason(model, reason)
        return
    st.info(f"**Not testable here.** {escaped(reason)} You can still patch a pair of your own.", icon=":material/info:")
    show_fields(model)
    show_choices()


def method(_: LoadedModel) -> str:
    """Say in full how the claim is tested, on any model."""
    return (
        "Two sentences differ in one noun, the **subject**. *The boys near the house \\_ old* is the **clean** "
        "sentence, *The boy near the house \\_ old* is the **corrupt** sentence, and *were* competes with *was*. The "
        "model reads both sentences. "
        "The **asked token** is the place where the model answers: the mask, or the last token before the "
        "blank.\n\nThen we take the vector of one part at one token from the clean run and put it into the corrupt "
        "run. This is a **patch**. The parts "
        "are a token’s vector after a layer (the **residual stream**), the vector that attention or the feed-forward "
        "network adds to it, and the vector that a single head adds. How far a vector **suffices** is the share of "
        "the difference between the two words that it recovers: (patched − corrupt) / (clean − corrupt). Each of "
        "these terms is the logit of the right word minus the logit of the wrong word. The other way round, we put a "
        "corrupt vector into the clean run. The share that is lost says how much the part is **needed**. In both "
        "directions, 1 is the whole difference, and a part below 0 works against the answer. A template makes "
        f"{PAIRS} pairs. Layers are chosen "
        "on half **A** and measured on half **B**, which has other "
        f"subjects. A pair whose two runs differ by less than {SMALL} logits is left out."
    )


def show_choices() -> None:
    with st.expander("Patch another part, or the other way", icon=":material/tune:"):
        PATCH.choose("What is patched", width=320)
        PATCH_WAY.choose("Which way")


def caption(_: LoadedModel, found: PatchingTest) -> str:
    """Say over how many pairs the map is a mean, and what the asked token is."""
    return (
        f"Each number is a mean over {len(found.half(1))} pairs, and 1 is the whole difference. "
        f"**{escaped(found.tokens[found.asked])}** is the **asked token**, where the model answers."
    )


def show_in_full(_: LoadedModel, found: PatchingTest) -> None:
    """Draw all that the result says."""
    st.markdown(in_full(found))


def show_numbers(model: LoadedModel, found: PatchingTest) -> None:
    """Draw what attention brings to the asked token, and the claims in numbers."""
    with st.expander("Attention, and the network above it", icon=":material/alt_route:"):
        show_table(relay_frame(found), _RELAYS)
        st.caption(
            "We patch the attention output of one layer at the asked token. But we make a network above this layer "
            "write the same vector there as in the unpatched run. Attention and these networks are partners, and "
            "comparing what each recovers alone would treat them as rivals."
        )
    with st.expander("All claims in numbers", icon=":material/table_rows:"):
        _show_table(model)


def show_more(model: LoadedModel, found: PatchingTest) -> None:
    """Draw the best single sites, and how well gradients predict patches."""
    with st.expander("The best single sites", icon=":material/my_location:"):
        show_table(best_frame(found), _SITES)
        st.caption(
            "The sites are chosen on A and measured on B. **A − B** is selection bias: the best of many sites owes "
            "part of its share to luck."
        )
    with st.expander(
        "Can a gradient predict this without patching?",
        icon=":material/scatter_plot:",
        on_change="rerun",
        key="_estimates",
    ) as estimates:
        if estimates.open:
            _show_gradients(model, found)


def _show_table(model: LoadedModel) -> None:
    show_table(claim_table(model), _CLAIMS, long_texts=True)
    st.caption(
        "**First** and **second** are the two quantities that are compared, as means over B. The **effect** is first "
        "− second. Its 95 % interval goes from **low** to **high** (2,000 bootstraps over the nouns and verbs that "
        "pairs share). **Early** means the first half of the layers between the embeddings and the last one. The "
        "**layer of the crossing** is the first layer after which the asked token recovers as much as the subject; "
        "after the last layer, it recovers everything by construction. Attention and networks are compared up to the "
        "layer of the crossing. The **twin** is the same model with random weights, tested on the half of the pairs "
        "in which its two runs differ most. “Numbers and files” also has p and the results on A. The paper reports "
        "other quantities, about facts, so there is no published figure to compare with."
    )
    offer_numbers(partial(claim_table, model), "patching-claims", partial(claim_table, model))


def _show_gradients(model: LoadedModel, found: PatchingTest) -> None:
    st.markdown(
        "**Attribution patching** (Nanda 2023) estimates all patches at once: it multiplies the gradient in the "
        "corrupt run by the difference between the two runs. So it replaces the real layers above by a straight line."
    )
    draw(partial(template_estimates, model, PATCH.chosen()), "template-estimates")
    show_table(estimate_frame(found), _ESTIMATES)
    st.caption(
        "The numbers are computed from the means over B. The **error** is Σ|predicted − patched| / Σ|patched|, which "
        "is 0 if the gradient is right everywhere."
    )


def reproduced(found: PatchingTest) -> Lines:
    """A line for each claim and direction."""
    lines = [
        (
            f"{SAYS[row.claim.id]} ({row.claim.direction})" if row.claim.direction else SAYS[row.claim.id],
            *(
                f"{name} {two(mean)}"
                for name, mean in zip(COMPARED[row.claim.id], (row.first, row.second), strict=True)
            ),
            with_ends(row.effect, row.low, row.high),
            NOTHING if row.twin is None else f"{two(row.twin)} (n {row.twin_count})",
            f"{row.count}",
            LABELS[row.judged.verdict],
        )
        for row in found.rows
    ]
    return markdown(("claim", "first", "second", "difference", "twin", "n", "verdict"), lines)


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    show_untestable=show_untestable,
    bet=lambda _: BET,
    decided=decided,
    takes=lambda _: "The measurement takes some minutes for a small model and much longer for BERT base.",
    help=(
        "The lab patches every part at every token of every pair, in both directions. For the twin, it patches only "
        "half of the pairs."
    ),
    figure=lambda model, _: partial(template_map, model, PATCH.chosen(), PATCH_WAY.chosen()),
    name="template-patches",
    caption=caption,
    meaning=meaning_of,
    verdict=verdict_of,
    head=lambda found: best_head(found).head,
    show_choices=show_choices,
    show_own=show_own,
    show_in_full=show_in_full,
    show_numbers=show_numbers,
    rule=(
        "The effect is the first quantity minus the second. No paper says how large an effect must be. So an effect "
        "counts if it is at least a tenth of the difference between the two runs, half a layer, or a rank "
        f"correlation of 0.1. Two orders count as alike if their rank correlation is at least {ALIKE}, a limit that "
        "the lab chose. A claim about the crossing cannot be tested if the lines cross only in the last layer. We "
        "changed the template once, before these results, because both directions were the same by symmetry in the "
        "first version."
    ),
    show_more=show_more,
    data="pairs",
    code=(patching, compared),
    cases="The pairs behind the means",
    show_cases=show_pairs,
    method=method,
    tables={"": reproduced},
)
