"""The checkpoint folders that an operator offers beside the models of the catalogue, each under a name of its own."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from lab.models.catalogue import card, ships

VARIABLE = "LAB_MODELS"


def listed() -> tuple[Path, ...]:
    """Return the folders in ``LAB_MODELS=/a/folder:/another``, each once."""
    named = [path for path in os.environ.get(VARIABLE, "").split(os.pathsep) if path]
    # os.path leaves a home that it does not know as it is, where pathlib raises an error on every page.
    return tuple(dict.fromkeys(Path(os.path.expanduser(path)).absolute() for path in named))  # noqa: PTH111


def by_name(folders: Iterable[Path]) -> dict[str, Path]:
    """Return folders by their names.

    Folders of one name, and a folder with the name of a model that ships, also have as much of their path in the name
    as tells them apart: "run_a/checkpoint-500".

    >>> list(by_name([Path("/run_a/last"), Path("/run_b/last"), Path("/models/mine")]))
    ['run_a/last', 'run_b/last', 'mine']
    """
    every = tuple(folders)
    return {_name(folder, every): folder for folder in every}


def _name(folder: Path, every: tuple[Path, ...]) -> str:
    def taken(length: int) -> bool:
        entry = card("/".join(folder.parts[-length:]))
        alike = sum(other.parts[-length:] == folder.parts[-length:] for other in every)
        return alike > 1 or (entry is not None and ships(entry))

    shortest = next((length for length in range(1, len(folder.parts)) if not taken(length)), len(folder.parts))
    return "/".join(folder.parts[-shortest:])
