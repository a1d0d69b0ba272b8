"""The picture of a word that forms at one token, layer by layer, for the first page, lessons 4 and 9, and notebooks."""

from __future__ import annotations

import numpy as np

from lab.analysis.flow.cuts import Cuts
from lab.charts.components.word_forms import SILENT, UNHEARD, WordForms
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
        The cuts, in the form of a link's parameter (:meth:`lab.analysis.flow.cuts.Cuts.read`): ``"5"`` cuts token 5 off
        from the watched one, ``"5*"`` from all, ``"6.7.5"`` cuts the link of layer 6 to token 7 from token 5, and
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
    cuts, _ = Cuts.read(cut, trace.model.config, len(trace), watched)
    forming = Forming.of(trace, watched, cuts)
    found = forming.arriving
    lanes = found.brought_most(LANES)
    rows = [lane for lane, token in enumerate(lanes) if token in found.rows]
    known = [found.rows.index(lanes[lane]) for lane in rows]
    states = range(forming.layers + 1) if forming.has_words else ()
    words = [_words(forming.now, watched, state, fitted) for state in states]
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
        cut_tokens=[SILENT if each in cuts.silent else UNHEARD if each in cuts.unheard else 0 for each in lanes],
        cut_links=_cut_links(forming, lanes, rows),
        cut_heads=_cut_heads(forming, lanes),
        words=words,
        before=_words(trace, watched, forming.layers, False) if cuts and words else [],
        headings=[_heading(forming, state) for state in range(forming.layers + 1)],
        story=story(forming, fitted),
        title=_title(forming),
        hint=_hint(forming, len(trace) - len(lanes)),
        is_blank=forming.is_blank,
    )


def _words(trace: Trace, watched: int, state: int, fitted: bool) -> list[tuple[str, float]]:
    return [(each.name, each.probability) for each in words_after(trace, watched, state, fitted)]


def _cut_links(forming: Forming, lanes: tuple[int, ...], rows: list[int]) -> np.ndarray:
    """(L, q, m), whether a link is cut: by itself, or because its token is cut."""
    cuts, at = forming.cuts, {token: lane for lane, token in enumerate(lanes)}
    marks = np.zeros((forming.layers, len(rows), len(lanes)), dtype=bool)
    for place, row in enumerate(rows):
        for lane, token in enumerate(lanes):
            marks[:, place, lane] = token in cuts.silent and lane != row
            marks[:, place, lane] |= token in cuts.unheard and lanes[row] == forming.watched
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
    at = forming.name(forming.watched)
    said = (
        "Click a cut word again to cut it off from every word, and once more to undo the cut."
        if forming.cuts.unheard or forming.cuts.silent
        else f"Click a word to cut it off from {at}: does it matter?"
    )
    left = f" {others} more tokens that contribute less are not drawn." if others > 0 else ""
    return said + left
