"""What the browser reports is checked and bounded: a report of another shape, or one that is too long, is none."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lab.ui import reports
from lab.ui.reports import Report, heard

UI = Path(__file__).parents[2] / "lab"
KINDS = [kind for kind in vars(reports).values() if isinstance(kind, type) and issubclass(kind, Report)]
GOOD: dict[str, Any] = {
    "SeatKept": {"seat": ["K7W2QD", "a.b", "key", "me"]},
    "RoomsKept": {"rooms": [["K7W2QD", "key"]]},
    "ProgressKept": {"kept": ["me", "{}", 0]},
    "FileChosen": {"file": ["1.2", 3, "{}"]},
    "TokenChosen": {"choice": ["1", 2, -1]},
    "WordChosen": {"candidate": ["1", 2]},
    "SentencesKept": {"kept": ["1", '{"labels": ["yes", "no"], "own": [["It is.", true]]}']},
    "HeadOpened": {"opened": "1.2"},
    "HeadsShown": {"view": ["1.2", False, 70]},
    "LessonAsked": {"lesson": "embeddings"},
    "PictureActed": {"act": ["1", "token", 3]},
    "CellsClicked": {"cell": [{"q": 1, "k": 2.5, "token": "the"}]},
}
# Anything that JSON can hold.
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.text(max_size=5), inner, max_size=5),
    max_leaves=10,
)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not Report], ids=lambda kind: kind.__name__)
def test_a_report_as_a_browser_sends_it_is_heard_without_what_is_unknown(kind: type[Report]) -> None:
    good = GOOD[kind.__name__]
    report = heard(good | {"unknown": "x" * 10**6}, kind)
    assert report is not None and report.model_dump(exclude_unset=True).keys() == good.keys()


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind is not Report], ids=lambda kind: kind.__name__)
@given(value=ANYTHING)
def test_anything_else_is_no_report_or_a_small_one(kind: type[Report], value: object) -> None:
    for name in kind.model_fields:
        report = heard({name: value}, kind)
        assert report is None or len(report.model_dump_json()) < 10**5


@pytest.mark.parametrize("states", [None, {}, {"seat": None}, {"seat": 7}, "text", 7, [1]])
def test_what_is_no_mapping_reports_nothing(states: Any) -> None:
    assert heard(states, reports.SeatKept) is None


@pytest.mark.parametrize(
    "seat",
    [
        ["K7W2QD" * 10**6, "", "", "me"],
        ["K7W2QD\n", "", "", "me"],
        ["O0I1LU", "", "", "me"],
        ["K7W2QD", "", "", "m" * 10**6],
        ["K7W2QD", "", ""],
        [7, "", "", "me"],
    ],
)
def test_a_seat_of_no_room_or_for_nobody_is_dropped(seat: list[object]) -> None:
    assert heard({"seat": seat}, reports.SeatKept) is None


@pytest.mark.parametrize("kept", ["x" * 10**6, None, 7, ["a"], {"a": 1}])
def test_a_browser_whose_storage_was_changed_comes_in_as_somebody_new(kept: object) -> None:
    report = heard({"seat": ["K7W2QD", kept, kept, "me"]}, reports.SeatKept)
    assert report is not None and report.seat == ("K7W2QD", "", "", "me")


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400, True, "1"])
def test_a_number_that_is_none_chooses_nothing(number: object) -> None:
    for kind, name in ((reports.TokenChosen, "choice"), (reports.WordChosen, "candidate")):
        assert heard({name: ["1", number, number][: 3 if name == "choice" else 2]}, kind) is None or number == 10**400
    clicked = heard({"cell": [{"q": number}]}, reports.CellsClicked)
    assert clicked is None or isinstance(clicked.cell[0]["q"], str | float | int)


def test_no_module_reads_a_component_s_state_by_itself() -> None:
    """Each reading of a component's result goes through :func:`heard`."""
    own = []
    for path in UI.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            match node:
                case ast.Call(
                    func=ast.Attribute(
                        value=ast.Subscript(value=ast.Attribute(attr="session_state")) | ast.Call(func=ast.Call()),
                        attr="get",
                    )
                ):
                    own.append(path.name)
    assert own == []


@pytest.mark.parametrize(
    "act",
    [
        None,
        "heal",
        [],
        ["1"],
        ["1", "token", True],
        ["1", "token", 10**9],
        ["1", "token", -1],
        ["1", "x" * 101],
        ["1", "token", 2.5],
        ["1", "token", [2]],
        ["1", *range(9)],
        {"token": 2},
    ],
)
def test_a_click_in_the_picture_that_nobody_can_make_is_dropped(act: object) -> None:
    assert heard({"act": act}, reports.PictureActed) is None


@pytest.mark.parametrize(
    "act",
    [
        ["1", "heal"],
        ["1", "token", 3],
        ["1", "way", 3, "~"],
        ["1", "head", 4, 10, 6, 2],
        ["1", "door", "link", 5, 0, 6, 4],
    ],
)
def test_a_click_in_the_picture_is_heard(act: list[object]) -> None:
    report = heard({"act": act}, reports.PictureActed)
    assert report is not None and report.act == tuple(act)
