"""The figures of the experiment about patching.

The figures need only a model and plain values, so a notebook can redraw them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd

from lab.analysis.heads.values import Values
from lab.analysis.words.predictions import word_of
from lab.charts.base.axes import Axis, Scale
from lab.charts.base.figure import Figure
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.marks.scatter import scatter
from lab.experiments.patching.claims import NEEDED, SUFFICES, agreement, carried, error
from lab.experiments.patching.contributions import Contributions, contributions
from lab.experiments.patching.measure import PatchingTest, result
from lab.experiments.patching.own_pair import OwnPair, differing, own_contrast, own_patching
from lab.experiments.patching.patches import Contrast, Maps
from lab.figures import choices
from lab.models.loading import LoadedModel
from lab.models.trace import trace_encoding

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
                "claim": row.claim.says,
                "direction": row.claim.direction or "–",
                "verdict": row.judged.verdict.value,
                "compared": f"{row.claim.first} − {row.claim.second}",
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
                "why": row.judged.why,
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
