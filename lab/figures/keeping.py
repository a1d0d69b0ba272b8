"""A figure of a page as one file: the run that it shows, and for a forming word the other ways to cut its token."""

from __future__ import annotations

import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any

import pandas as pd

from lab.analysis.flow.cuts import Cuts, Way
from lab.charts.components.word_forms import OnPage, WordForms
from lab.charts.kept.drawings import Drawing, Live
from lab.charts.kept.file import EXPECTED, About, expected, written
from lab.charts.kept.keepable import Keepable
from lab.figures.choices import FITTED, PLAIN
from lab.figures.word_forms import word_forms
from lab.models.loading import LoadedModel
from lab.models.trace import Trace


def runs_of(call: object) -> list[Trace | LoadedModel]:
    """Return the runs that the call of a figure names, or the models without a run, each once."""
    found = {id(each): each for each in _runs(call)}
    models = {id(each.model) for each in found.values() if isinstance(each, Trace)}
    return [each for each in found.values() if id(each) not in models]


def _runs(value: object) -> Iterator[Trace | LoadedModel]:
    if isinstance(value, Trace | LoadedModel):
        yield value
    elif isinstance(value, partial):
        yield from _runs((*value.args, *value.keywords.values()))
    elif isinstance(value, tuple | list):
        for each in value:
            yield from _runs(each)
    elif isinstance(value, Mapping):
        yield from _runs(list(value.values()))
    elif is_dataclass(value) and not isinstance(value, type):
        yield from _runs([getattr(value, each.name) for each in fields(value)])


def keep(figure: Keepable, call: object, about: About, table: pd.DataFrame) -> bytes:
    """Return the file of a figure with the ``table`` that its page shows; ``call`` has made the figure."""
    return written(figure, about, drawing_of(figure, call), table)


def drawing_of(figure: Keepable, call: object) -> Drawing:
    """Return the figure as a file draws it; a forming word brings its other cuts along."""
    if isinstance(figure, WordForms) and isinstance(call, partial) and call.func is word_forms:
        return _with_ways(figure, **inspect.signature(word_forms).bind(*call.args, **call.keywords).arguments)
    return figure.drawing()


def size_if_large(figure: Keepable, call: object, table: pd.DataFrame) -> int | None:
    """Return about how many bytes the file has if these are more than one expects of its kind of figure."""
    drawing = figure.drawing()
    size = expected(drawing, table)
    return size if size > EXPECTED[type(drawing)] else None


def _with_ways(figure: WordForms, trace: Trace, watched: int, cut: str = "", fitted: bool = False) -> Live:
    """The picture without cuts and, for each token that is cut, in every way in which it can be cut.

    The lab has computed these runs already: the figure lists what the word keeps in each of them.
    """
    now, _ = Cuts.read(cut, trace, watched)
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
    """What a click reports, as ``host.js`` writes it, and the place of the known state to which it leads."""
    clicks: list[tuple[list[object], Cuts]] = [(["heal"], Cuts())]
    for each in figure.ways:
        clicks.append((["token", each.token], cuts.token(each.token)))
        clicks += [(["way", each.token, way], cuts.cut(each.token, Way(way))) for way in each.offered]
    for click, then in clicks:
        if str(then) in states:
            yield json.dumps(click, separators=(",", ":")), states.index(str(then))
