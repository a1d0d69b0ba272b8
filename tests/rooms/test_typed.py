"""A number as it is typed in many places of the world; anything else is a sentence."""

from __future__ import annotations

import pytest

from lab.questions.forms import Bounds
from lab.rooms.typed import NotANumber, read_number

SHARE, ANY = Bounds(0.0, 1.0, ""), Bounds(-1e9, 1e9, "nats")


@pytest.mark.parametrize(
    ("typed", "bounds", "number"),
    [
        ("0.25", SHARE, 0.25),
        ("0,25", SHARE, 0.25),
        (" ,25 ", SHARE, 0.25),
        ("25%", SHARE, 0.25),
        ("25,5 %", SHARE, 0.255),
        ("1,000", SHARE, 1.0),
        ("0,125", SHARE, 0.125),
        ("1", SHARE, 1.0),
        ("1e-3", SHARE, 0.001),
        ("\u0660\u066b\u0662\u0665", SHARE, 0.25),
        ("\u22121.5 nats", ANY, -1.5),
        ("30,522.5", ANY, 30522.5),
        ("30.522,5", ANY, 30522.5),
        ("1.234", ANY, 1.234),
        ("1,234,567", ANY, 1234567.0),
        ("30 522", ANY, 30522.0),
    ],
)
def test_a_number_is_read(typed: str, bounds: Bounds, number: float) -> None:
    assert read_number(typed, bounds) == pytest.approx(number)


@pytest.mark.parametrize("typed", ["abc", "", "-", "1.2.3", "nan", "inf", "0x10", "1_000", "1/4", "%", "9" * 50, "<b>"])
def test_what_is_no_number_is_told_what_is(typed: str) -> None:
    with pytest.raises(NotANumber, match=r"not a number. Type a number from 0 to 1, as 0\.25"):
        read_number(typed, SHARE)


def test_a_number_out_of_bounds_or_of_two_readings_is_told_so() -> None:
    for typed in ("1.5", "-0.1", "250%", "1e400"):
        with pytest.raises(NotANumber, match="cannot be the answer"):
            read_number(typed, SHARE)
    with pytest.raises(NotANumber, match=r"Is it 30\.522 or 30522\?"):
        read_number("30,522", ANY)
    with pytest.raises(NotANumber):
        read_number("25%", ANY)
