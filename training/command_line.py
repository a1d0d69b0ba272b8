"""The command lines of the modules that train and measure: each shows the docstring of its module as its help."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from lab.models.catalogue import CATALOGUE, ships

SHIPPED = tuple(entry.id for entry in CATALOGUE if ships(entry))


def documented(docstring: str | None) -> argparse.ArgumentParser:
    """Return a command line without options yet, which prints ``docstring`` for ``--help``."""
    return argparse.ArgumentParser(description=docstring, formatter_class=argparse.RawDescriptionHelpFormatter)


def models_asked(docstring: str | None, known: Sequence[str] = SHIPPED) -> list[str]:
    """Read the ids of models from a command line that takes nothing else; all ``known`` models if none is named."""
    parser = documented(docstring)
    parser.add_argument("models", nargs="*", metavar="MODEL", help=f"{', '.join(known)}; all if none is named")
    asked: list[str] = parser.parse_args().models
    if unknown := [each for each in asked if each not in known]:
        parser.error(f"There is no model {unknown[0]} here; name some of {', '.join(known)}.")
    return asked or list(known)
