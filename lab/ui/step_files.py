"""Finds the file of a step by the step's id."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def file_of(step: str, page: str, folder: ModuleType, record: str) -> ModuleType:
    """Import the file that shows a step of a page: it is named after the step's id, in the ``folder`` of the record.

    Raises ValueError, with the gap, for a step without a file, and for a file that shows nothing.
    """
    name = step.replace("-", "_")
    if find_spec(f"{folder.__name__}.{name}") is None:
        raise ValueError(f"{page}: the step {step} has no file {name}.py beside {record}.")
    found = import_module(f"{folder.__name__}.{name}")
    if not callable(getattr(found, "show", None)):
        raise ValueError(f"{page}: {name}.py has no function show(view), which draws the step {step}.")
    return found
