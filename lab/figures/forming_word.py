"""The picture of a word that forms at one token, layer by layer, for the first page, lessons 4 and 9, and notebooks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

from lab.analysis.flow.cuts import Cuts, Way, is_sink, same_elsewhere
from lab.analysis.flow.ways_in import effect
from lab.analysis.layers.lens import first_read
from lab.charts.components.word_forms_picture import CUT_TOKENS, CutToken, OnPage, WordForms
from lab.charts.kept.file import Live
from lab.figures.choices import FITTED, PLAIN
from lab.figures.cut_story import cut_story, name_of, only_token
from lab.figures.forming import Forming, bare, story, words_after
from lab.models.trace import Trace

LANES = 24  # the most tokens that a reader can tell apart


def word_forms(trace: Trace, watched: int, cut: str = "", fitted: bool = False) -> WordForms:
    """Draw the picture of token ``watched`` (from 0).

    Parameters
    ----------
    trace
        The run without cuts.
    watched
        The token at which a word forms: a blank, or any other token.
    cut
        The cuts, in the form of a link's parameter (:meth:`lab.analysis.flow.cuts.Cuts.read`). Of token 5, ``"5"`` cuts
        the direct way to the watched token, ``"5~"`` the ways around, and ``"5*"`` both; ``"1!"`` lets a special
        token 1 say what it says in another sentence. ``"6.7.5"`` cuts the link of layer 6 to token 7 from token 5, and
        ``"6-11.7.5"`` cuts that link in head 11.
    fitted
        Whether the words of early layers are read with a lens that was fitted for each layer.

    Raises
    ------
    IndexError
        There is no such token.
    ValueError
        The model has no fitted lens.
    """
    cuts, _ = Cuts.read(cut, trace, watched)
    forming = Forming.of(trace, watched, cuts)
    found = forming.arriving
    lanes = found.brought_most(LANES)
    rows = [lane for lane, token in enumerate(lanes) if token in found.rows]
    known = [found.rows.index(lanes[lane]) for lane in rows]
    told = story(forming, fitted)
    return WordForms(
        tokens=[bare(label) for label in trace.labels],
        lanes=lanes,
        special=[trace.encoding.special[token] and token != watched for token in lanes],
        watched=lanes.index(watched),
        rows=rows,
        share=found.share[:, known][:, :, lanes],
        strength=found.strength[:, known],
        parts=found.parts[:, :, lanes],
        written=found.written[:, known],
        cut_tokens=[CUT_TOKENS.index(way.value if (way := cuts.way_of(each)) else None) for each in lanes],
        cut_links=_cut_links(forming, lanes, rows),
        cut_heads=_cut_heads(forming, lanes),
        words=_words(forming, fitted),
        before=_read(trace, watched, forming.layers, False) if cuts and forming.has_words else [],
        ways=[_of_token(forming, token, way) for token, way in cuts.tokens],
        cut_word=_cut_word(forming),
        headings=[_heading(forming, state) for state in range(forming.layers + 1)],
        story=(*told[:-1], cut_story(forming) if forming.has_words else (*cut_story(forming), *told[-1]))
        if cuts
        else told,
        title=_title(forming),
        hint=_hint(forming, len(trace) - len(lanes)),
        is_blank=forming.is_blank,
        with_ways=partial(_with_ways, watched=watched, cut=cut, fitted=fitted),
    )


def _with_ways(trace: Trace, watched: int, cut: str, fitted: bool) -> Live:
    """The picture without cuts and, for each token that is cut, in every way in which it can be cut.

    The lab has computed these runs already: the figure lists what the word keeps in each of them.
    """
    figure, (now, _) = word_forms(trace, watched, cut, fitted), Cuts.read(cut, trace, watched)
    known = {str(now): now, "": Cuts()}
    for each in figure.ways:
        known |= {str(cuts): cuts for cuts in [now.healed(each.token), *_every_way(now, each.token, each.offered)]}
    states = list(known)
    lens = "" if not figure.words else FITTED if fitted else PLAIN
    payloads = [word_forms(trace, watched, state, fitted).payload(OnPage(lens=lens)) for state in states]
    moves = {at: dict(_moves(known[state], figure, states)) for at, state in enumerate(states)}
    return Live("word_forms", payloads, moves)


def _every_way(cuts: Cuts, token: int, offered: Any) -> list[Cuts]:
    return [cuts.cut(token, Way(way)) for way in offered]


def _moves(cuts: Cuts, figure: WordForms, states: list[str]) -> Iterator[tuple[str, int]]:
    """Yield the report of each click, as ``host.js`` writes it, and the place of the state to which the click leads."""
    clicks: list[tuple[list[object], Cuts]] = [(["heal"], Cuts())]
    for each in figure.ways:
        clicks.append((["token", each.token], cuts.token(each.token)))
        clicks += [(["way", each.token, way], cuts.cut(each.token, Way(way))) for way in each.offered]
    for click, then in clicks:
        if str(then) in states:
            yield json.dumps(click, separators=(",", ":")), states.index(str(then))


def _words(forming: Forming, fitted: bool) -> list[list[tuple[str, float]]]:
    """The words of all states; none where the lens reads no better than a guess without context."""
    if not forming.has_words:
        return []
    first = min(first_read(forming.now, forming.watched, fitted=fitted), forming.layers)
    states = range(first, forming.layers + 1)
    return [[]] * first + [_read(forming.now, forming.watched, state, fitted) for state in states]


def _read(trace: Trace, watched: int, state: int, fitted: bool) -> list[tuple[str, float]]:
    return [(each.name, each.probability) for each in words_after(trace, watched, state, fitted)]


def _of_token(forming: Forming, token: int, way: Way) -> CutToken:
    """The ways in which a cut token can be cut; if nothing else is cut, also what the word keeps in each of them."""
    offered = [Way.DIRECT, Way.AROUND, Way.BOTH]
    if is_sink(forming.before, token) and same_elsewhere(forming.before, token) is not None:
        offered.append(Way.OTHER)
    kept = []
    if forming.has_words and only_token(forming.cuts) is not None:
        kept = [effect(forming.before, forming.watched, Cuts().cut(token, each)).kept for each in offered]
    return CutToken(token, forming.name(token), way.value, [each.value for each in offered], kept)


def _cut_word(forming: Forming) -> tuple[str, float] | None:
    """The best word before the cuts and its probability, if a single token is cut."""
    if not forming.has_words or only_token(forming.cuts) is None:
        return None
    found = effect(forming.before, forming.watched, forming.cuts)
    return name_of(forming, found.word), found.was


def _cut_links(forming: Forming, lanes: tuple[int, ...], rows: list[int]) -> np.ndarray:
    """(L, q, m), whether a link is cut: by itself, or because its token is cut."""
    cuts, at = forming.cuts, {token: lane for lane, token in enumerate(lanes)}
    blocked = cuts.blocked(forming.watched, len(forming.now))
    marks = np.zeros((forming.layers, len(rows), len(lanes)), dtype=bool)
    for place, row in enumerate(rows):
        for lane, token in enumerate(lanes):
            marks[:, place, lane] = (lanes[row], token) in blocked
    for layer, query, key in cuts.links:
        if key in at and at.get(query) in rows:
            marks[layer, rows.index(at[query]), at[key]] = True
    return marks


def _cut_heads(forming: Forming, lanes: tuple[int, ...]) -> np.ndarray:
    """(L, H, m), whether a link to the watched token is cut in a head alone."""
    marks = np.zeros((forming.layers, forming.now.model.config.heads, len(lanes)), dtype=bool)
    for layer, head, query, key in forming.cuts.in_heads:
        if query == forming.watched and key in lanes:
            marks[layer, head, lanes.index(key)] = True
    return marks


def _title(forming: Forming) -> str:
    if forming.is_blank:
        return "The blank becomes a word, layer by layer"
    return f"Tokens bring something to {forming.name(forming.watched)}, layer by layer"


def _heading(forming: Forming, state: int) -> str:
    """The heading above the words of a state."""
    what = "the next word" if forming.now.model.config.causal else forming.name(forming.watched)
    return f"{what[0].upper()}{what[1:]} {f'after layer {state}' if state else 'before layer 1'}"


def _hint(forming: Forming, others: int) -> str:
    """Say what to try next, and how many tokens are not drawn."""
    at, tokens = forming.name(forming.watched), forming.cuts.tokens
    said = (
        f"Click {forming.name(tokens[-1][0])} again to undo its cut."
        if tokens
        else f"Click a word to cut it off from {at}. Does this word matter?"
    )
    left = f" The figure leaves out {others} tokens that contribute less." if others > 0 else ""
    return said + left
