"""The flow bench: attention from layer to layer, rollout, and the influence tree."""

from __future__ import annotations

import pandas as pd

from lab.analysis.flow import maps as flow
from lab.analysis.flow import rollout
from lab.analysis.flow.influence import Tree, influence_tree, repeated_tree
from lab.analysis.flow.maps import Links, layer_map, layer_maps
from lab.analysis.heads.attention import window
from lab.analysis.heads.metric_parts import keep_others
from lab.analysis.heads.values import Mask, Weights, is_causal
from lab.charts.base.plotted import Plotted
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.components.influence_tree import TreeChart, tree_chart
from lab.charts.marks.sankey import Bands, sankey
from lab.models.trace import Trace

# Two maps side by side: more cells than this in each make a browser slow.
TOKENS = 72


def heads_in_words(head: int | None) -> str:
    """Which heads, for titles: one (from 0), or the mean over all."""
    return "mean over heads" if head is None else f"head {head + 1}"


def value_name(norms: bool) -> str:
    """What a number is: a weight, or the share of ‖α·f(x)‖ in its row."""
    return "Share of the norm" if norms else "Weight"


def kept(traced: Trace, words_only: bool) -> Mask | None:
    """Which tokens take part, (n,); None for all."""
    return keep_others(traced) if words_only else None


def attention_flow(  # noqa: PLR0913 - what the bench lets choose, each by name
    traced: Trace,
    threshold: float,
    most: int,
    *,
    head: int | None = None,
    norms: bool = False,
    residual: bool = False,
    words_only: bool = False,
    source: int | None = None,
) -> Plotted:
    """The strongest links of all layers as a Sankey diagram; ``source`` follows the paths of one token."""
    maps = layer_maps(traced, head, norms=norms)
    if residual:
        maps = rollout.with_residual(maps)
    links = flow.strongest_links(maps, threshold, most, keep=kept(traced, words_only), source=source)
    return attention_flow_of(traced, links, head, norms, residual, source)


def attention_flow_of(
    traced: Trace, links: Links, head: int | None, norms: bool, residual: bool, source: int | None
) -> Plotted:
    """The same from links at hand."""
    what = "Contribution norms" if norms else "Attention"
    return sankey(
        Bands(links.layer, links.key, links.query, links.weight), traced.labels, traced.model.config.layers,
        title=f"{what} from layer to layer, {heads_in_words(head)}{', with residual' if residual else ''}",
        value_title="Share with residual" if residual else value_name(norms), chosen=source,
    )  # fmt: skip


def layer_alone(traced: Trace, layer: int, token: int, top: float, norms: bool = False) -> Heatmap:
    """The mean over heads of one layer; colours reach to ``top``."""
    return layer_alone_of(traced, layer_map(traced.layer(layer), None, norms=norms), layer, token, top, norms)


def layer_alone_of(traced: Trace, values: Weights, layer: int, token: int, top: float, norms: bool) -> Heatmap:
    """The same from the map at hand."""
    what = "Contribution norms" if norms else "Mean attention"
    return _map(traced, values, f"{what} of layer {layer + 1} alone", value_name(norms), top, token)


def rolled_out(traced: Trace, layer: int, token: int, top: float, norms: bool = False) -> Heatmap:
    """The rollout after ``layer`` (from 0) and all before it."""
    maps = layer_maps(traced, None, norms=norms)
    return rolled_out_of(traced, rollout.rollout(maps[: layer + 1]), layer, token, top)


def rolled_out_of(traced: Trace, values: Weights, layer: int, token: int, top: float) -> Heatmap:
    """The same from the rollout at hand."""
    title = "Rollout after layer 1" if layer == 0 else f"Rollout after layers 1 to {layer + 1}"
    return _map(traced, values, title, "Rollout", top, token)


def _map(traced: Trace, values: Weights, title: str, value_title: str, top: float, token: int) -> Heatmap:
    """A map, or its part around the chosen token."""
    shown = window(token, len(traced), TOKENS)
    return heatmap(
        values[shown, shown], traced.labels[shown], traced.labels[shown], title=title, row_title="Receives",
        column_title="Comes from", value_title=value_title, domain=(0.0, top),
        highlight=(token - shown.start, None), causal=is_causal(traced), numbered=len(traced) <= TOKENS,
    )  # fmt: skip


def influence(  # noqa: PLR0913 - what the bench lets choose, each by name
    traced: Trace,
    layer: int,
    head: int | None,
    *,
    token: int,
    k: int,
    depth: int,
    norms: bool = False,
    residual: bool = False,
    words_only: bool = False,
) -> pd.DataFrame:
    """The edges of the influence tree, one row an edge: from ``token`` after ``layer`` (from 0) ``depth`` layers down.

    Beside the product along each path stands what rollout has for its two ends over the same layers.
    """
    maps = layer_maps(traced, head, norms=norms)[layer + 1 - depth : layer + 1]
    tree = influence_tree(
        rollout.with_residual(maps) if residual else maps, token, k, keep=kept(traced, words_only)
    )  # fmt: skip
    return influence_of(traced, tree, layer, head, norms, residual).table()


def influence_of(traced: Trace, tree: Tree, layer: int, head: int | None, norms: bool, residual: bool) -> TreeChart:
    """The chart of a tree at hand, layer by layer."""
    rest = f"from layer {layer + 1} down, {heads_in_words(head)}{', with residual' if residual else ''}"
    levels = [f"After layer {above}" if above else "Input" for above in range(layer + 1, -1, -1)]
    return tree_chart(
        tree, traced.labels, title=f"Influence tree of {traced.labels[tree.token[0]]}, {rest}",
        value_title="Share with residual" if residual else value_name(norms), levels=levels,
    )  # fmt: skip


def influence_within(  # noqa: PLR0913 - what the bench lets choose, each by name
    traced: Trace,
    layer: int,
    head: int | None,
    *,
    token: int,
    k: int,
    depth: int,
    norms: bool = False,
    words_only: bool = False,
) -> pd.DataFrame:
    """The edges of the tree within one layer, which every level reads again; one row an edge."""
    weights = layer_map(traced.layer(layer), head, norms=norms)
    tree = repeated_tree(weights, token, k, depth, keep=kept(traced, words_only))
    return influence_within_of(traced, tree, layer, head, norms).table()


def influence_within_of(traced: Trace, tree: Tree, layer: int, head: int | None, norms: bool) -> TreeChart:
    """The chart of a tree at hand, within one layer."""
    title = f"Tree of {traced.labels[tree.token[0]]}, layer {layer + 1} at every level, {heads_in_words(head)}"
    return tree_chart(tree, traced.labels, title=title, value_title=value_name(norms))
