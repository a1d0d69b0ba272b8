"""A URL parameter means one thing: where two widgets are bound to one, both offer the same."""

from __future__ import annotations

import ast
from collections import defaultdict
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from lab.ui.parameters import CHOICES, INTERVENTION, NUMBERS, RANDOM, TWO_WEIGHTS, Selection
from tests.pages.apptest import ROOT, visit, walk

COMPARE = "15_Compare.py"
# Where widgets of a shared parameter are: on one of the steps of a page, behind a link.
SHARED: dict[str, list[tuple[str, dict[str, str]]]] = {
    "metric": [("5_Attention_metrics.py", {}), (COMPARE, {"figure": "Metric of every head"})],
    "version": [("5_Attention_metrics.py", {}), (COMPARE, {"figure": "Metric of every head"})],
    "measure": [
        ("7_Inter-sentence_attention.py", {"text": "The cat sat. It slept."}),
        (COMPARE, {"figure": "Sentence to sentence", "text": "The cat sat. It slept."}),
    ],
    "twin_seed": [("3_Self-attention.py", {"weights": RANDOM}), (COMPARE, {"compare": TWO_WEIGHTS})],
}


def bound_keys() -> dict[str, list[str]]:
    """Every key written out beside ``bind=``, with the places in the source."""
    found = defaultdict(list)
    for path in sorted([*ROOT.glob("pages/*.py"), *ROOT.glob("lab/**/*.py")]):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call):
                named = {each.arg: each.value for each in call.keywords}
                key = named.get("key")
                if "bind" in named and isinstance(key, ast.Constant):
                    found[str(key.value)].append(f"{path.name}:{call.lineno}")
    return found


def test_keys_bound_twice_are_known() -> None:
    found = bound_keys()
    twice = {key: places for key, places in found.items() if len(places) > 1}
    assert twice.keys() <= SHARED.keys(), twice
    assert len(found) > 30


@pytest.mark.parametrize("key", SHARED)
def test_what_is_bound_twice_offers_the_same_everywhere(key: str) -> None:
    for page, link in SHARED[key]:
        widget = first(visit(page, **link), key)
        if key in NUMBERS:
            assert (widget.min, widget.max) == NUMBERS[key][1:]
        else:
            assert sorted(widget.options) == sorted(CHOICES[key])


def first(at: AppTest, key: str) -> Any:
    """The widget, on the first step that has it."""
    steps = walk(at) if any(row.key == "step" for row in at.segmented_control) else [""]
    for _ in steps:
        for widget in (*at.selectbox, *at.segmented_control, *at.number_input):
            if widget.key == key:
                return widget
    raise AssertionError(f"no step has {key}")


def test_every_offered_parameter_is_one_of_the_selection() -> None:
    assert INTERVENTION in CHOICES["compare"]
    assert set(CHOICES) | set(NUMBERS) <= set(vars(Selection()))
