"""Through several layers: attention from layer to layer, rollout, and the influence tree."""

from __future__ import annotations

from lab.analysis.flow.influence import Reading, links, tree_down, tree_within
from lab.analysis.flow.maps import layer_maps, rollout_after
from lab.analysis.heads.one_row import window
from lab.analysis.heads.values import Weights, is_causal
from lab.charts.base.axes import Scale
from lab.charts.base.plotted import Plotted
from lab.charts.cells.heatmap import Heatmap, heatmap
from lab.charts.components.tree_picture import tree_chart
from lab.charts.kept.keepable import LiveChart
from lab.charts.marks.bands import Bands, sankey
from lab.figures.trace_axes import tokens
from lab.models.trace import Trace

# The most tokens on a side of two maps side by side: more cells make a browser slow.
TOKENS = 72


def heads_in_words(head: int | None) -> str:
    """The heads in words, for titles: one head (from 0), or the mean over all heads."""
    return "mean over heads" if head is None else f"head {head + 1}"


def value_name(norms: bool) -> str:
    """The name of the quantity that is drawn: a weight, or the share of ‖α·f(x)‖ in its row."""
    return "Share of the norm" if norms else "Weight"


def attention_flow(
    traced: Trace, read: Reading, threshold: float, most: int, source: int | None = None, target: int | None = None
) -> Plotted:
    """Draw the strongest links of all layers as a Sankey diagram.

    If ``source`` is given, only the paths of this token are followed. Links that end at ``target`` are in a strong
    colour; the strongest link is always drawn.
    """
    what = "Contribution norms" if read.norms else "Attention"
    found = links(traced, read, threshold, most, source, target)
    bands, layers = Bands(found.layer, found.key, found.query, found.weight, target), traced.model.config.layers
    title = f"{what} from layer to layer, {heads_in_words(read.head)}{', with residual' if read.residual else ''}"
    return sankey(bands, traced.labels, layers, title=title, value_title=_share(read), chosen=source)


def _share(read: Reading) -> str:
    return "Share with residual" if read.residual else value_name(read.norms)


def layer_alone(traced: Trace, layer: int, token: int, top: float, norms: bool = False) -> Heatmap:
    """Draw the mean over the heads of one layer; colours reach to ``top``."""
    values = layer_maps(traced, None, norms=norms)[layer]
    what = "Contribution norms" if norms else "Mean attention"
    return _map(traced, values, f"{what} of layer {layer + 1} alone", value_name(norms), top, token)


def rolled_out(traced: Trace, layer: int, token: int, top: float, norms: bool = False) -> Heatmap:
    """Draw the rollout over ``layer`` (from 0) and all layers before it."""
    values = rollout_after(traced, layer, norms=norms)
    title = "Rollout after layer 1" if layer == 0 else f"Rollout after layers 1 to {layer + 1}"
    return _map(traced, values, title, "Rollout", top, token)


def _map(traced: Trace, values: Weights, title: str, value_title: str, top: float, token: int) -> Heatmap:
    """Draw a map, or its part around the chosen token."""
    shown = window(token, len(traced), TOKENS)
    axes, outlined = (tokens(traced, "Receives", shown), tokens(traced, "Comes from", shown)), token - shown.start
    scale, causal = Scale(value_title, (0.0, top)), is_causal(traced)
    return heatmap(values[shown, shown], axes, scale, title=title, highlight=(outlined, None), causal=causal)


def influence(traced: Trace, read: Reading, layer: int, token: int, k: int, depth: int) -> LiveChart:
    """Draw the influence tree from ``token`` after ``layer`` (from 0), ``depth`` layers down.

    Rollout's value for the two ends of a path, over the same layers, is given beside the product along the path.
    """
    rest = f"from layer {layer + 1} down, {heads_in_words(read.head)}{', with residual' if read.residual else ''}"
    levels = [f"After layer {above}" if above else "Input" for above in range(layer + 1, -1, -1)]
    title, tree = f"Influence tree of “{traced.labels[token]}”, {rest}", tree_down(traced, read, layer, token, k, depth)
    return tree_chart(tree, traced.labels, levels=levels, value_title=_share(read), title=title)


def influence_within(traced: Trace, read: Reading, layer: int, token: int, k: int, depth: int) -> LiveChart:
    """Draw the tree that uses one layer at every level."""
    title = f"Tree of “{traced.labels[token]}”, layer {layer + 1} at every level, {heads_in_words(read.head)}"
    tree = tree_within(traced, read, layer, token, k, depth)
    return tree_chart(tree, traced.labels, title=title, value_title=value_name(read.norms))
