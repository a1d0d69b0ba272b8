"""Three patterns, each on the head that shows it best, with the dimensions that produce it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import streamlit as st
from numpy.typing import NDArray

from lab.analysis.heads.patterns import trace_roles
from lab.analysis.heads.query_neurons import DECIDED, decide, neuron_row
from lab.analysis.heads.walk import Walk, best_head, neighbour, walk
from lab.benches.neuron_view import DECIDING, DIMENSIONS, NeuronView
from lab.benches.neuron_view.pattern import carried, decision, leader, pattern_of, show_way
from lab.charts.cells.heatmap import Heatmap
from lab.charts.cells.slices import VALUE, strips
from lab.course.words import escaped, number_of, quoted, signed
from lab.figures.attention import place
from lab.models.memo import once
from lab.models.trace import Trace
from lab.questions.question import MARGIN
from lab.ui.drawing import code, draw
from lab.ui.screen import meaning

# The patterns of neighbours, each with the distance to the neighbour.
_STEPS = {"next_token": 1, "previous_token": -1}
_STRONGEST = 5  # the most dimensions that are named for each token
_COUNTS = 0.01  # share of a token's largest product from which a dimension is named: a toy's head uses only a few


def show(view: NeuronView) -> None:
    """Draw three patterns, each on this model's best head for the pattern."""
    by_id, chosen = {pattern.id: pattern for pattern in DECIDED}, patterns_of(view.trace)
    if "delimiter" not in chosen:
        st.markdown("This text has no delimiters, such as [SEP], so you see three patterns that it can have.")
    for id in chosen:
        with st.container(border=True):
            st.markdown(f"### {by_id[id].name}")
            if id == "previous_token" and "next_token" not in chosen:
                st.markdown(
                    f"{escaped(view.trace.model.id)} is causal, so no query sees the next token. Try the mirror "
                    "image, the previous token."
                )
            found = walk(view.trace, by_id[id])
            if found is None:
                st.markdown("The pattern does not occur in this text.")
            else:
                _show_walk(view, found)
    code(best_head, decide)


def _show_walk(view: NeuronView, walk: Walk) -> None:
    """State the finding, draw a head's dimensions and, folded, the dimensions behind the pattern; link to the head."""
    best = walk.best
    at, id, shows = (best.layer, best.head), best.pattern.id, best.score > best.uniform
    _show_finding(walk)
    if walk.decision is not None and shows:
        draw(partial(dimensions, view.trace, *at, id), f"neurons-{id.replace('_', '-')}")
    if shows:
        with st.expander("What makes the pattern", icon=":material/notes:"):
            st.markdown(said(walk))
            if id in _STEPS:
                _show_neighbours(view, walk, _STEPS[id])
    if id == "delimiter":
        show_delimiter_keys(view.trace, *at)
    _show_ways(walk)


def _show_finding(walk: Walk) -> None:
    """Name the head that shows the pattern, or say that even a uniform head shows it, so its score is not split."""
    best = walk.best
    where = f"layer {best.layer + 1}, head {best.head + 1}"
    st.markdown(
        f"The head that shows the pattern best is **{where}**, with a score of **{best.score:.3f}**. On this text a "
        f"uniform head scores {best.uniform:.3f}."
    )
    if best.score <= best.uniform:
        st.markdown("So this head scores no higher than a uniform head, and there is nothing to take apart.")
    elif not best.named:
        st.markdown("This score is too low for a name. It would have to be at least halfway from a uniform head to 1.")
    st.caption(
        f"{best.pattern.reading} The best head of the same architecture with random weights scores "
        f"{best.untrained:.3f}.{left_out(best.left_out)}"
    )


def _show_neighbours(view: NeuronView, walk: Walk, step: int) -> None:
    """Draw the products at three tokens: a head that looks at a neighbour needs other dimensions at other places."""
    layer, head = walk.best.layer, walk.best.head
    queries = neighbour_queries(view.trace, step)
    if len(queries) < 2 or walk.best.score <= walk.best.uniform:
        return
    draw(partial(neighbour_products, view.trace, layer, head, step), f"neurons-at-three-tokens-{walk.best.pattern.id}")
    st.markdown(at_places(view.trace, (layer, head), queries, step))


def _show_ways(walk: Walk) -> None:
    """Offer two ways to the head: its dimensions at the clearest query, and the dimensions that decide."""
    with st.container(horizontal=True):
        for step, label in ((DIMENSIONS, "See its dimensions"), (DECIDING, "See which decide")):
            show_way(walk, step, label, f"_walk.{walk.best.pattern.id}.{step}")


def dimensions(traced: Trace, layer: int, head: int, pattern: str) -> Heatmap:
    """List the mean score that every dimension adds to the pattern's keys and to other keys, and the difference.

    Raises ValueError if no query of the text sees both kinds of key.
    """
    found = decision(traced, layer, head, pattern)
    vectors, names = [found.pattern, found.others, found.difference], ["its keys", "other keys", "difference"]
    title = f"{pattern_of(pattern).name}: mean of q_d · k_d, {place(layer, head)}"
    return strips(vectors, names, replace(VALUE, title="Product"), title=title)


def neighbour_queries(traced: Trace, step: int) -> tuple[int, ...]:
    """Return the queries, from 0, whose products with a neighbour are shown: tokens 2, 8 and 14, as in Vig (2019).

    In a shorter text, take the first, the middle and the last word for which the token ``step`` places on is a word.
    """
    n, special = len(traced), traced.encoding.special
    able = [i for i in range(n) if not special[i] and 0 <= i + step < n and not special[i + step]]
    wanted = tuple(i for i in (1, 7, 13) if i in able)
    if len(wanted) == 3 or not able:
        return wanted
    return tuple(dict.fromkeys((able[0], able[len(able) // 2], able[-1])))


def neighbour_products(traced: Trace, layer: int, head: int, step: int) -> Heatmap:
    """Draw the products q_d · k_d of a few queries with the token ``step`` places on, one row for each query.

    Raises ValueError for a text without two words beside each other.
    """
    queries = neighbour_queries(traced, step)
    if not queries:
        raise ValueError("No word of this text has a word beside it.")
    rows = [neuron_row(traced, layer, head, i).products[i + step] for i in queries]
    names = [f"{i + 1} {traced.labels[i]} → {traced.labels[i + step]}" for i in queries]
    title = f"q_d · k_d of three tokens with their neighbours, {place(layer, head)}"
    return strips(rows, names, replace(VALUE, title="Product"), title=title)


def said(walk: Walk) -> str:
    """Name the few dimensions that carry half of a pattern, and its score with and without them."""
    found = walk.decision
    if found is None:
        return "No query sees both the pattern’s keys and other keys, so no score can be taken apart."
    if walk.count is None:
        return "On average, keys outside the pattern score as high or higher, so no dimension carries the pattern."
    first = found.order[: walk.count]
    inside, outside = (signed(part[first].sum(), plus=True) for part in (found.pattern, found.others))
    names = ", ".join(str(dimension + 1) for dimension in first)
    adds, gives, them = ("It adds", "it gives", "it") if walk.count == 1 else ("Together they add", "they give", "them")
    return (
        f"{carried(found, walk.count)}: {names}. {adds} {inside} to the score of a key of the pattern and {outside} to "
        f"the score of another key. {leader(found)} Alone, {gives} the pattern a score of {walk.only:.3f}. Without "
        f"{them}, the score is {walk.without:.3f}.{_either(walk)}"
    )


def _either(walk: Walk) -> str:
    """Say whether these dimensions alone and the rest alone are both enough for the pattern, or neither is."""
    enough = [walk.best.would_name(score) for score in (walk.only, walk.without)]
    if not walk.best.named or enough[0] != enough[1]:
        return ""
    if enough[0]:
        return " Each of the two parts alone is enough to give the head its name."
    return " Neither of the two parts alone is enough to give the head its name."


def at_places(trace: Trace, head: tuple[int, int], queries: Sequence[int], step: int) -> str:
    """Name the strongest dimensions at each of a few queries, and say how many dimensions they share."""
    strongest = []
    for query in queries:
        products = neuron_row(trace, *head, query).products[query + step]
        first = np.argsort(-products, kind="stable")[:_STRONGEST]
        strongest.append([int(each) + 1 for each in first if products[each] > max(0, _COUNTS * products.max())])
    listed = "; ".join(
        f"at token {query + 1}: {', '.join(map(str, own)) or 'none'}"
        for query, own in zip(queries, strongest, strict=True)
    )
    same = len(set(strongest[0]).intersection(*strongest[1:]))
    told = (
        "No dimension is among the strongest at all of these tokens"
        if not same
        else f"{same} of them {'is' if same == 1 else 'are'} among the strongest at all of these tokens"
    )
    return (
        f"These dimensions add the most: {listed}. {told}. In BERT base, the dimensions of such a head "
        "differ from place to place, because the head must know which place comes next (Vig 2019)."
    )


def patterns_of(trace: Trace) -> tuple[str, str, str]:
    """Return the ids of the three patterns of Vig (2019), or of three that a text without delimiters can show.

    A toy's text has no delimiters and a single segment: every head would show a bag of words.
    """
    if not trace_roles(trace).delimiters.any():
        return "previous_token", "next_token", "same_word"
    return "delimiter", "bag_of_words", neighbour(trace)


def left_out(heads: int) -> str:
    """Say how many heads were left out of the search for the best one; "" if none was."""
    verb, end = ("attends", "is") if heads == 1 else ("attend", "are")
    told = f" {number_of(heads, 'head')} that {verb} nearly alike to all tokens {end} left out."
    return told if heads else ""


# The most words in one figure.
WORDS = 8


@dataclass(frozen=True, eq=False)
class DelimiterKeys:
    """The keys of the delimiters that end texts, such as [SEP], against the keys of all words, in one head.

    Attributes
    ----------
    delimiter
        The delimiter as it is shown.
    ends, words
        The places of the delimiters, and of the words whose keys are drawn, in text order.
    among
        The least cosine of two delimiters' keys; None if there is a single delimiter.
    beyond
        The greatest cosine of a delimiter's key and a word's key.
    dimension
        The dimension that tells delimiters from words best; None if no single dimension tells them all.
    bounds
        In this dimension: the delimiters' number that is nearest to the words, and the words' that is nearest to them.
    """

    delimiter: str
    ends: tuple[int, ...]
    words: tuple[int, ...]
    among: float | None
    beyond: float
    dimension: int | None
    bounds: tuple[float, float]

    @property
    def shared(self) -> bool:
        """Whether the delimiters' keys are clearly more like each other than like any word's key."""
        return self.among is not None and self.among >= self.beyond + MARGIN


@once
def delimiter_keys(traced: Trace, layer: int, head: int) -> DelimiterKeys | None:
    """Compare the keys of a head; None if no special token ends the text, or if there is no word beside it."""
    special = np.array(traced.encoding.special, dtype=np.bool_)
    if not special[-1] or special.all():
        return None
    ids = np.array(traced.token_ids)
    ends, words = np.flatnonzero(special & (ids == ids[-1])), np.flatnonzero(~special)
    keys = traced.layer(layer).key[head].numpy().astype(np.float64)
    turned = keys / np.maximum(np.linalg.norm(keys, axis=-1, keepdims=True), 1e-12)
    own, cross = turned[ends] @ turned[ends].T, turned[ends] @ turned[words].T
    nearest = words[np.argsort(-cross.max(axis=0), kind="stable")[:WORDS]]
    dimension, bounds = _apart(keys[ends], keys[words])
    among = float(own[np.triu_indices(len(ends), 1)].min()) if len(ends) > 1 else None
    drawn = tuple(np.sort(nearest).tolist())
    delimiter = traced.labels[-1]
    return DelimiterKeys(delimiter, tuple(ends.tolist()), drawn, among, float(cross.max()), dimension, bounds)


def _apart(ends: NDArray[np.float64], words: NDArray[np.float64]) -> tuple[int | None, tuple[float, float]]:
    """Find the dimension with the widest gap between all delimiters and all words, and the two edges of this gap."""
    above, below = ends.min(axis=0) - words.max(axis=0), words.min(axis=0) - ends.max(axis=0)
    gaps = np.maximum(above, below)
    best = int(gaps.argmax())
    if gaps[best] <= 0:
        return None, (0.0, 0.0)
    higher = above[best] > below[best]
    edges = (ends.min(axis=0), words.max(axis=0)) if higher else (ends.max(axis=0), words.min(axis=0))
    return best, (float(edges[0][best]), float(edges[1][best]))


def keys_beside_words(traced: Trace, layer: int, head: int) -> Heatmap:
    """Draw the keys of the delimiters and, below them, of the words whose keys are most like them.

    Raises ValueError for a text without a delimiter at its end, or without a word.
    """
    found = delimiter_keys(traced, layer, head)
    if found is None:
        raise ValueError("This text has no delimiter beside words.")
    rows = [*found.ends, *found.words]
    names = [f"{i + 1} {traced.labels[i]}" for i in rows]
    keys = traced.layer(layer).key[head].numpy()
    title = f"Keys of {found.delimiter} and of words, {place(layer, head)}"
    scale = replace(VALUE, title="Number in the key")
    return strips([keys[i] for i in rows], names, scale, title=title, highlight=(None, found.dimension))


def delimiter_said(found: DelimiterKeys) -> str:
    """Say whether the delimiters' keys share their numbers, and which dimension tells them from the words."""
    return f"{_alike(found)} {_told_apart(found)}"


def _alike(found: DelimiterKeys) -> str:
    """Compare the cosine of two delimiters' keys with the cosine of a delimiter's key and a word's key."""
    name, beyond, count = quoted(found.delimiter), f"**{signed(found.beyond)}**", len(found.ends)
    if found.among is None:
        return f"The cosine of the key of {name} and the key of a word reaches {beyond}."
    cosine = f"{'their' if count == 2 else 'their lowest'} cosine is **{signed(found.among)}**"
    if found.shared:
        return (
            f"The {count} keys of {name} are alike: {cosine}. The cosine of a key of {name} and the key of a word "
            f"reaches only {beyond}."
        )
    return (
        f"The {count} keys of {name} are not clearly more like each other than like the key of a word: {cosine}, and "
        f"the cosine with the key of a word reaches {beyond}."
    )


def _told_apart(found: DelimiterKeys) -> str:
    """Name the dimension that tells every delimiter from every word, with the two numbers that come closest there."""
    name = quoted(found.delimiter)
    if found.dimension is None:
        return f"No single dimension tells {name} from every word."
    end, word = (signed(bound) for bound in found.bounds)
    lowest, highest = ("lowest", "highest") if found.bounds[0] > found.bounds[1] else ("highest", "lowest")
    own = f"{name} has {end}" if len(found.ends) == 1 else f"the {lowest} number of {name} is {end}"
    return (
        f"Dimension {found.dimension + 1} tells them apart best. There, {own}, and the {highest} "
        f"number of a word is {word}."
    )


def show_delimiter_keys(trace: Trace, layer: int, head: int) -> None:
    """Draw, folded, the keys of the delimiters beside the keys of words; draw nothing for a text without delimiters."""
    found = delimiter_keys(trace, layer, head)
    if found is None:
        return
    with st.expander(f"The keys of {quoted(found.delimiter)} beside the keys of words", icon=":material/vpn_key:"):
        draw(partial(keys_beside_words, trace, layer, head), "neurons-delimiter-keys")
        meaning(delimiter_said(found))
        few = f" The {WORDS} words are the ones whose keys are most like a key of {quoted(found.delimiter)}."
        st.caption(
            "Each row is a key, and each column is a dimension. In BERT base, the keys of [SEP] have a few large "
            "numbers in "
            f"common, and the queries match these (Vig 2019).{few if len(found.words) == WORDS else ''}"
        )
        if found.among is None:
            st.caption("This text ends once. Add a second text to see whether two such keys are alike.")
