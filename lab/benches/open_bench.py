"""Opens a bench by its id: the files of its steps, or the file of its only view."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from lab.course.pages import Bench, bench_of
from lab.ui import shell
from lab.ui.play import file_of

VIEW = "view"  # the file of a bench without steps


def play(id: str) -> None:
    """Run the page of the bench with this id. The page's file calls this and nothing else.

    What needs PyTorch is imported only here: on a new server, the shell says first that it loads.
    """
    shell.route()
    play_page, bench = import_module("lab.ui.bench").play, bench_of(id)
    play_page(id, _folder(id).PARTS, lambda step: view_file(bench, step).show)


def view_file(bench: Bench, step: str) -> ModuleType:
    """Import the file of a step, or the only view of a bench without steps; raises as :func:`file_of` does."""
    return file_of(step or VIEW, bench.id, _folder(bench.id), "bench.toml")


def _folder(id: str) -> ModuleType:
    return import_module(f"lab.benches.{id.replace('-', '_')}")
