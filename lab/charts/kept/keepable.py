"""A figure that can be kept as a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from lab.charts.kept.file import About, Drawing, Live, written

if TYPE_CHECKING:
    from collections.abc import Callable

    import pandas as pd

    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace


class Keepable(ABC):
    """A figure with a heading, a description, a table and a drawing.

    A subclass has ``alt`` (the figure in a sentence), and ``table``, a function without arguments.
    """

    if TYPE_CHECKING:  # a dataclass would take a property of this name for the default of its field

        @property
        def alt(self) -> str: ...
        @property
        def table(self) -> Callable[[], pd.DataFrame]: ...

    @property
    @abstractmethod
    def heading(self) -> str:
        """The name of the figure."""

    @abstractmethod
    def drawing(self) -> Drawing:
        """Return the figure as a file draws it."""

    def drawing_from(self, runs: Sequence[Trace | LoadedModel]) -> Drawing:
        """Return :meth:`drawing`, and all parts of it that need the figure's ``runs``."""
        return self.drawing()

    def save(self, path: str | Path, run: Trace | Sequence[Trace] = ()) -> None:
        """Keep the figure as one HTML file, which needs neither the lab nor a network.

        Parameters
        ----------
        path
            The file to write, which ends with ".html".
        run
            The run that the figure shows, or its runs. The file's last lines then name the model with its hash, and the
            text; and the picture of a word that forms brings the other ways to cut its tokens along.

        Raises
        ------
        ValueError
            If the file's name has the ending of another kind of file.
        """
        from lab.models.stamp import stamp

        if Path(path).suffix.lower() not in ("", ".html", ".htm"):
            raise ValueError(f"A figure is kept as HTML: name the file {Path(path).with_suffix('.html').name}.")
        runs = run if isinstance(run, Sequence) else [run]
        about = About(stamp=stamp(runs))
        Path(path).write_bytes(written(self, about, self.drawing_from(runs)))


@dataclass(frozen=True)
class LiveChart(Keepable):
    """A figure that a hand-written component draws from one block of bytes.

    Attributes
    ----------
    component
        The component's file in :mod:`lab.charts.components`.
    title, alt
        The name of the figure, and the figure in a sentence.
    payload
        The bytes to send.
    table
        Makes the table of the figure's numbers.
    """

    component: str
    title: str
    alt: str
    payload: bytes = field(repr=False)
    table: Callable[[], pd.DataFrame]

    @property
    def heading(self) -> str:
        """The name of the figure."""
        return self.title

    def drawing(self) -> Drawing:
        """Return the figure as a file draws it."""
        return Live(self.component, [self.payload], titled=True)

    def _repr_html_(self) -> str:
        """Show the table in a notebook."""
        return str(self.table().to_html())
