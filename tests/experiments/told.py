"""What the tests of several experiments read in a text."""

from __future__ import annotations

import re


def numbers(text: str) -> list[float]:
    """The numbers with a decimal point in a text."""
    return [float(each.replace("−", "-")) for each in re.findall(r"[−-]?\d+\.\d+", text)]
