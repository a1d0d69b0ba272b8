"""The data of the influence tree for the browser; ``influence_tree.js`` draws it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pandas as pd

from lab.analysis.flow.influence import Tree
from lab.charts.base.axes import distinct, visible
from lab.charts.base.chart_table import unique_names
from lab.charts.components.packing import pack
from lab.charts.kept.keepable import LiveChart


def tree_chart(
    tree: Tree, tokens: Sequence[str], *, title: str, value_title: str, levels: Sequence[str] = ()
) -> LiveChart:
    """Pack ``tree``; its nodes are places in ``tokens``, n labels of any text. A node takes 20 or 24 bytes, and the
    bytes of its label.

    ``levels`` names the columns, one for each depth: the root's first.
    """
    names = distinct([visible(token) for token in tokens])
    alt = _alt(tree, names)
    header = {
        "title": title,
        "value": value_title,
        "levels": list(levels),
        "labels": [names[token] for token in tree.token],
        "alt": alt,
    }
    arrays = {name: getattr(tree, name) for name in ("token", "parent", "depth", "weight", "product")}
    if tree.rolled is not None:
        arrays["rolled"] = tree.rolled
    return LiveChart(
        "influence_tree", title, alt, pack(header, arrays), partial(_table, tree, tokens, value_title, levels)
    )


def _alt(tree: Tree, names: Sequence[str]) -> str:
    text = f"Influence tree of “{names[tree.token[0]]}”: {len(tree)} nodes, {int(tree.depth.max())} levels deep."
    if len(tree) > 1:
        text += f" Its strongest target is “{names[tree.token[1]]}”, {tree.weight[1]:.3f}."
    return text


def _table(tree: Tree, tokens: Sequence[str], value_title: str, levels: Sequence[str]) -> pd.DataFrame:
    """One line for each edge; tokens are counted from 1."""
    every = unique_names(tokens)
    names = [every[token] for token in tree.token]
    edges = range(1, len(tree))
    return pd.DataFrame(
        {
            "depth": tree.depth[1:],
            **({"target is": [levels[depth] for depth in tree.depth[1:]]} if levels else {}),
            "from": tree.token[tree.parent[1:]] + 1,
            "from token": [names[tree.parent[node]] for node in edges],
            "to": tree.token[1:] + 1,
            "to token": names[1:],
            value_title.lower(): tree.weight[1:],
            "product along the path": tree.product[1:],
            **({} if tree.rolled is None else {"rollout": tree.rolled[1:]}),
            "path": [" → ".join(names[each] for each in tree.path(node)) for node in edges],
        }
    )
