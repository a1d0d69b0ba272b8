"""The numbers that a learner may set in toy mode, with their bounds."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Setting:
    """A whole number from ``low`` to ``high``; ``reason`` gives the reason for the bounds."""

    low: int
    high: int
    reason: str


# The default number of heads of a trained toy.
TRAINED_HEADS = 2
SETTINGS = {
    "vocabulary": Setting(
        2, 50, "with one word there is nothing to tell apart, and beyond 50 the matrices are too big to read"
    ),
    "max_length": Setting(2, 32, "a lone token can only attend to itself, and beyond 32 a heatmap is too big to read"),
    "count": Setting(1, 200, "without a sentence there is nothing to trace, and nobody reads more than 200"),
    "seed": Setting(0, 2**32 - 1, "a seed names one run of the random generator"),
    "heads": Setting(1, 12, "attention needs a head, and BERT base has no more than 12 in a layer"),
    "layers": Setting(1, 2, "attention needs a layer, and a third would not be learned while somebody waits"),
    "head_width": Setting(4, 64, "LayerNorm leaves too little to tell tokens apart in fewer, and BERT's heads have 64"),
}


class SettingError(ValueError):
    """A setting out of bounds; the message gives the bounds and the reason for them."""


def divisors(width: int) -> tuple[int, ...]:
    """Return the numbers of heads into which ``width`` dimensions can be split evenly."""
    return tuple(heads for heads in range(1, width + 1) if width % heads == 0)


def check_settings(**values: object) -> None:
    """Raise :class:`SettingError` for the first of ``values`` that :data:`SETTINGS` does not allow."""
    for name, value in values.items():
        setting = SETTINGS[name]
        if not isinstance(value, int) or not setting.low <= value <= setting.high:
            raise SettingError(
                f"{name} is {value!r}; choose a whole number from {setting.low} to {setting.high}: {setting.reason}."
            )
