"""A figure to take along: as the few lines of Python that build it again, and the run that it shows as one file.

A figure that can become a notebook is a call, ``functools.partial(function, *arguments)``, of a public function of
the lab on plain values, traces and models. The notebook contains that call, so it cannot differ from the screen;
tests execute it and compare the numbers.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from functools import partial
from typing import Any, TypeVar, cast

import pandas as pd

import lab
from lab.charts.kept.file import EXPECTED, About, Drawing, expected, written
from lab.charts.kept.keepable import Keepable
from lab.models.encoding import Encoding, encode
from lab.models.interventions import Interventions
from lab.models.loading import LoadedModel
from lab.models.trace import Trace, trace, trace_encoding
from lab.toy.training import TrainingRun

Made = TypeVar("Made")
_PLAIN = (str, int, bool, type(None))
_COUNTED = "# Layers, heads and tokens count from 0 here, and from 1 on the page."
_INTRODUCTION = (
    "The first cell installs Inside BERT where `import lab` does not work yet. The lab is on no package index, so say "
    "where you have it. In this notebook, layers, heads and tokens count from 0, and on the page from 1."
)
# Not by the name alone: on a package index, that could be anybody's.
_INSTALLING = """\
inside_bert = "."  # where the lab is: its folder, its wheel, or the address of its repository

from importlib.util import find_spec

if find_spec("lab") is None:
    import subprocess
    import sys

    if subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", inside_bert]).returncode:
        raise SystemExit(f"The lab is not at {inside_bert!r}. Say in the first line of this cell where it is.")"""


def argument(function: Callable[..., Made], *arguments: Any, **options: Any) -> Made:
    """Return a call to be an argument of another call, in place of its result: the notebook writes both calls."""
    return cast("Made", partial(function, *arguments, **options))


def python_of(call: partial[Any]) -> tuple[str, str]:
    """Return (setup, expression): code for imports, models and traces, and an expression with the result of ``call``.

    Raises TypeError for an argument that Python code cannot make again: an array, a tensor.
    """
    writer = _Writer()
    expression = writer.write(call)
    return writer.setup(), expression


def notebook(call: partial[Any], title: str, *, kept: bool = True) -> str:
    """Write the notebook (JSON, nbformat 4) that makes the figure of ``call`` again, and lists its numbers in a table.

    ``title`` is shown as plain text. A figure that cannot be ``kept`` as a file is a table itself. Raises the errors of
    :func:`python_of`.
    """
    import nbformat
    from nbformat import v4

    setup, expression = python_of(call)
    made = v4.new_notebook(
        cells=[
            v4.new_raw_cell(title),
            v4.new_markdown_cell(_INTRODUCTION),
            v4.new_code_cell(f"# Written by Inside BERT {lab.__version__}.\n{_INSTALLING}"),
            v4.new_code_cell(setup),
            v4.new_code_cell(f"figure = {expression}\nfigure"),
            *([v4.new_code_cell("figure.table()")] if kept else []),
        ],
        metadata={"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}},
    )
    nbformat.validate(made)
    return nbformat.writes(made)


def script(call: partial[Any], name: str, *, kept: bool) -> str:
    """Write a few lines of Python that make the figure of ``call`` and print its numbers.

    If the figure can be ``kept`` as a file, they also save it as ``name``.html, with its run. Raises the errors of
    :func:`python_of`.
    """
    writer = _Writer()
    expression = writer.write(call)
    lines = [_COUNTED, writer.setup(), f"figure = {expression}"]
    if kept:
        runs = [each for each in writer.names.values() if each.startswith("traced")]
        run = ", run=" + (runs[0] if len(runs) == 1 else "[" + ", ".join(runs) + "]") if runs else ""
        lines.append(f"figure.save({name + '.html'!r}{run})")
    return "\n".join([*lines, f"print({'figure.table()' if kept else 'figure'})"])


class _Writer:
    """Collects the imports and the models and traces that the expressions need."""

    def __init__(self) -> None:
        self.imports: dict[str, set[str]] = {}
        self.lines: list[str] = []
        self.names: dict[int, str] = {}

    def setup(self) -> str:
        imports = [f"from {module} import {', '.join(sorted(names))}" for module, names in sorted(self.imports.items())]
        return "\n".join([*imports, "", *self.lines])

    def write(self, value: object) -> str:
        """Write an expression for ``value``; a value that is made once and used often gets a name."""
        if isinstance(value, Trace):
            return self._named(value, "traced", self._trace)
        if isinstance(value, LoadedModel):
            return self._named(value, "model", self._made)
        if isinstance(value, TrainingRun):
            return self._named(value, "training", self._made)
        if isinstance(value, tuple | list | frozenset | slice | dict):
            return self._collection(value)
        if isinstance(value, float):
            return _number(value)
        return repr(value) if isinstance(value, _PLAIN) else self._code(value)

    def _code(self, value: object) -> str:
        """Write a call, a frozen dataclass as the call that makes it, or the name of a function."""
        if isinstance(value, partial):
            return self._call(value.func, value.args, value.keywords)
        if is_dataclass(value) and not isinstance(value, type):
            changed = {f.name: getattr(value, f.name) for f in fields(value) if getattr(value, f.name) != _default(f)}
            return self._call(type(value), (), changed)
        if callable(value) and hasattr(value, "__qualname__"):
            return self._imported(value)
        raise TypeError(f"a {type(value).__name__} cannot be written as Python; give what it is computed from.")

    def _named(self, value: Any, kind: str, write: Callable[[Any], str]) -> str:
        if id(value) not in self.names:
            expression = write(value)  # comes before the name, because a trace needs its model's line above its own
            count = sum(name.startswith(kind) for name in self.names.values())
            self.names[id(value)] = kind if count == 0 else f"{kind}_{count + 1}"
            self.lines.append(f"{self.names[id(value)]} = {expression}")
        return self.names[id(value)]

    def _made(self, value: LoadedModel | TrainingRun) -> str:
        if value.made is None:
            raise TypeError("a model that was built by hand cannot be made again by a notebook.")
        return self.write(value.made)

    def _trace(self, traced: Trace) -> str:
        """Write ``trace(model, text)``, or ``trace_encoding`` if tokens or segments differ from the tokenizer's."""
        encoding, changes = traced.encoding, traced.interventions
        own = encode(traced.model.tokenizer, traced.model.config, encoding.text, encoding.pair)
        differs = {f.name for f in fields(Encoding) if getattr(encoding, f.name) != getattr(own, f.name)}
        options = {} if changes == Interventions() else {"interventions": changes}
        if not differs:
            pair = {} if encoding.pair is None else {"pair": encoding.pair}
            return self._call(trace, (traced.model, encoding.text), pair | options)
        model = self.write(traced.model)
        read = f"{self._imported(encode)}({model}.tokenizer, {model}.config, {encoding.text!r}, {encoding.pair!r})"
        changed = "".join(f", {name}={self.write(getattr(encoding, name))}" for name in sorted(differs))
        others = "".join(f", {name}={self.write(value)}" for name, value in options.items())
        return f"{self._imported(trace_encoding)}({model}, {self._imported(replace)}({read}{changed}){others})"

    def _call(self, function: Callable[..., Any], arguments: Collection[Any], options: Mapping[str, Any]) -> str:
        """Write a call with the first argument by place, the other arguments by name, and without defaults."""
        name, signature = self._imported(function), inspect.signature(function)
        bound = signature.bind(*arguments, **options).arguments.items()
        given = [(key, value) for key, value in bound if value is not signature.parameters[key].default]
        by_place = 1 if arguments else 0
        written = [self.write(value) for _, value in given[:by_place]]
        written += [f"{key}={self.write(value)}" for key, value in given[by_place:]]
        return f"{name}({', '.join(written)})"

    def _collection(self, value: Any) -> str:
        if isinstance(value, dict):
            return "{" + ", ".join(f"{self.write(k)}: {self.write(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.write(value.start)}, {self.write(value.stop)}, {self.write(value.step)})"
        items = [self.write(item) for item in (sorted(value) if isinstance(value, frozenset) else value)]
        if isinstance(value, frozenset):
            return f"frozenset([{', '.join(items)}])"
        if isinstance(value, list):
            return f"[{', '.join(items)}]"
        return f"({', '.join(items)}{',' if len(items) == 1 else ''})"

    def _imported(self, thing: Any) -> str:
        """Return the name of a public function or class of the lab or the standard library, and note its import."""
        module, name = thing.__module__, thing.__qualname__
        if getattr(sys.modules.get(module), name, None) is not thing:
            raise TypeError(f"{module}.{name} is not a public function or class, so a notebook cannot import it.")
        self.imports.setdefault(module, set()).add(name)
        return str(name)


def _default(field: Field[Any]) -> object:
    return field.default if field.default_factory is MISSING else field.default_factory()


def _number(value: float) -> str:
    return repr(float(value)) if abs(value) < float("inf") else f"float({str(value)!r})"


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
