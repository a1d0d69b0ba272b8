"""Opens an experiment by its id: the page in its folder, in the frame of all experiments."""

from __future__ import annotations

from importlib import import_module

from lab.ui import shell


def play(id: str) -> None:
    """Run the page of the experiment with this id. The page's file calls this and nothing else.

    What needs PyTorch is imported only here: on a new server, the shell says first that it loads.
    """
    shell.route()
    play_page = import_module("lab.ui.experiments.page").play
    play_page(id, import_module(f"lab.experiments.{id.replace('-', '_')}.page").EXPERIMENT)
