"""What tests read in the texts of the lab."""

from __future__ import annotations

import re


def numbers(text: str) -> list[float]:
    """The numbers with a decimal point in a text, but no powers of ten."""
    found = re.findall(r"-?[\d,]*\d\.\d+(?![\de])", text.replace("−", "-"))
    return [float(each.replace(",", "")) for each in found]
