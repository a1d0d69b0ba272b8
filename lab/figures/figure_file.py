"""A figure of a page as one file: the run that it shows, and for a forming word the other ways to cut its token."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import partial

import pandas as pd

from lab.charts.kept.drawings import Drawing
from lab.charts.kept.file import EXPECTED, About, expected, written
from lab.charts.kept.keepable import Keepable
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
    """Return the figure as a file draws it, with the parts that need its runs."""
    return figure.drawing_from(runs_of(call))


def size_if_large(figure: Keepable, call: object, table: pd.DataFrame) -> int | None:
    """Return about how many bytes the file has if these are more than one expects of its kind of figure."""
    drawing = figure.drawing()
    size = expected(drawing, table)
    return size if size > EXPECTED[type(drawing)] else None
