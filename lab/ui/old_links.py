"""Links made before: when a parameter or a value had another name, or another default."""

from __future__ import annotations

from collections.abc import Mapping

from lab.ui import parameters


def renamed(link: Mapping[str, str]) -> dict[str, str]:
    """Return a link with the names of today, and what it says unchanged where it says nothing old."""
    now = dict(link)
    for old, new in parameters.RENAMED.items():
        if old in now and new.meant(now[old]) is not None:
            now[new.name] = now.pop(old)
    values = parameters.RENAMED_VALUES.items()
    return now | {name: names[old] for name, names in values if (old := now.get(name, "")) in names}


def toy_without_weights(link: Mapping[str, str]) -> bool:
    """Whether a link leads to a toy and leaves out its weights: it did so for the toy that is written by hand."""
    return link.get(parameters.MODE.name) == parameters.TOY and parameters.TOY_WEIGHTS.name not in link
