"""The figures of a page that somebody can take along, with the calls that make them.

python -m tests.pages.taken scripts.json    # the Python behind every figure of every page, for tests/scripts.py
"""

from __future__ import annotations

import argparse
import importlib
import json
import pkgutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import lab
from lab.course.pages import BENCHES, LESSONS
from lab.figures.notebook import script
from lab.ui import drawing
from tests.pages.apptest import on_screen, reveal, steps_of, visit

# All screens are there before a function of theirs is replaced for a while.
for found in pkgutil.walk_packages(lab.__path__, "lab."):
    importlib.import_module(found.name)


@dataclass(frozen=True)
class Taken:
    """A figure's call, what makes the table under it, and whether the figure can be kept as a file.

    ``call`` is None if nothing can make the figure again.
    """

    call: partial[Any] | None
    table: Callable[[], pd.DataFrame]
    kept: bool

    def script(self, name: str) -> str:
        """The lines of Python that the figure's button shows."""
        assert self.call is not None, f"{name} cannot be made again"
        return script(self.call, name, kept=self.kept)


@contextmanager
def taken_figures() -> Iterator[dict[str, Taken]]:
    """Collect the figures on the screens visited, by key."""
    figures: dict[str, Taken] = {}
    show = drawing.show_numbers

    def remember(
        table: Any, key: str, call: partial[Any] | None = None, figure: Any = None, *, of_step: bool = True
    ) -> None:
        figures[key] = Taken(call, table, figure is not None)
        show(table, key, call, figure, of_step=of_step)

    with pytest.MonkeyPatch.context() as patch:
        for name, module in list(sys.modules.items()):
            if name.startswith("lab.") and getattr(module, "show_numbers", None) is show:
                patch.setattr(module, "show_numbers", remember)
        yield figures


def look_at_all_steps(page: str, **params: str) -> None:
    """Visit a page (its path) and all its steps, and see past their predictions."""
    at = visit(page.removeprefix("pages/"), **params)
    steps = steps_of(at)
    for step in steps or ["the only one"]:
        if steps:
            at.session_state["step"] = on_screen(step)
            at.run()
        reveal(at)


def main(path: str) -> None:
    """Write the scripts of all lessons and benches as JSON, by page and figure."""
    scripts: dict[str, str] = {}
    for each in (*LESSONS, *BENCHES):
        with taken_figures() as figures:
            look_at_all_steps(each.page)
        scripts |= {f"{each.id} {key}": figure.script(key) for key, figure in figures.items()}
    Path(path).write_text(json.dumps(scripts, indent=1, ensure_ascii=False), "utf-8")
    print(f"{len(scripts)} scripts")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Write the lines of Python behind all figures as JSON.")
    parser.add_argument("path", help="the file to write")
    main(parser.parse_args().path)
