"""A link with a value that means nothing: each such value is noted in a sentence, and none is replaced in silence."""

from __future__ import annotations

import re

import pytest

from lab.course.pages import BENCHES, EXPERIMENTS, LESSONS
from lab.ui.parameter_kinds import Name
from lab.ui.parameters import PARAMETERS
from lab.ui.parameters_of_a_run import Counted, Listed
from tests.pages.apptest import step_of, steps_of, visit
from tests.thorough import THOROUGH, one_by_day

PAGES = {page.page.removeprefix("pages/"): page for page in (*LESSONS, *BENCHES, *EXPERIMENTS)}
# A value that is refused whatever the model and the text.
NONSENSE = ("nonsense", "-3", "2.5.1", "")


def refused() -> dict[str, set[str]]:
    """By page, the parameters that it refuses nonsense for; by day, each parameter on the first page that has it."""
    found, seen = dict[str, set[str]](), set[str]()
    for page, record in PAGES.items():
        names = {each.name for each in PARAMETERS if each.name in record.parameters and not isinstance(each, Name)}
        found[page] = names if THOROUGH else names - seen
        seen |= names
    return {page: names for page, names in found.items() if names}


@one_by_day
@pytest.mark.parametrize("raw", NONSENSE)
def test_every_value_without_a_meaning_is_noted(raw: str) -> None:
    for page, names in refused().items():
        said = [warning.value.replace("_", " ") for warning in visit(page, **dict.fromkeys(names, raw)).warning]
        for name in names:
            assert any(re.search(rf"\b{name.replace('_', ' ')}\b", each) for each in said), (page, name, said)


@pytest.mark.parametrize(
    "page", [page for page, record in PAGES.items() if "step" in record.parameters or record.steps]
)
def test_a_step_that_the_page_does_not_have_is_noted(page: str) -> None:
    at = visit(page, step="nonsense")
    assert step_of(at) == steps_of(at)[0]
    assert any("nonsense" in warning.value for warning in at.warning)
    assert not at.run().warning  # once


@pytest.mark.parametrize("page", [page for page, record in PAGES.items() if record.steps])
def test_a_step_that_the_page_has_is_not_noted(page: str) -> None:
    for step in steps_of(visit(page))[:2]:
        assert not any("no step" in warning.value for warning in visit(page, step=step).warning)


@pytest.mark.parametrize(
    ("page", "step", "name"),
    [
        ("1_Tokenization.py", "pieces", "word"),
        ("8_Feed-forward_and_LayerNorm.py", "two-meanings", "sense"),
        ("10_How_it_learns.py", "what-did-it-read", "gap"),
        ("55_Compare.py", "", "other_model"),
        ("20_Models.py", "", "card"),
        ("54_Tensors.py", "", "tensor"),
        ("50_Head_view.py", "", "heads"),
        ("9_Masked_language_model.py", "", "masked"),
    ],
)
def test_a_name_that_is_not_in_the_list_is_noted(page: str, step: str, name: str) -> None:
    at = visit(page, **{name: "nonsense"}, **({"step": step} if step else {}))
    assert any("nonsense" in warning.value for warning in at.warning)


def test_every_list_of_names_is_tried() -> None:
    tried = {"word", "sense", "gap", "other_model", "card"}
    assert {each.name for each in PARAMETERS if isinstance(each, Listed)} - {"model"} == tried


@pytest.mark.parametrize("page", ["3_Self-attention.py", "7_Inter-sentence_attention.py", "50_Head_view.py"])
def test_a_number_of_a_part_that_is_a_word_is_noted_once(page: str) -> None:
    counted = [each.name for each in PARAMETERS if isinstance(each, Counted) and each.name in PAGES[page].parameters]
    for name in counted:
        at = visit(page, **{name: "abc"})
        assert len(at.warning) == 1, name
        assert not at.run().warning


@pytest.mark.parametrize(
    ("page", "step", "name"),
    [
        *((page, "", name) for page in PAGES for name in ("token", "key_token") if name in PAGES[page].parameters),
        ("9_Masked_language_model.py", "", "place"),
        ("8_Feed-forward_and_LayerNorm.py", "", "neuron"),
    ],
)
def test_a_place_outside_the_text_is_noted_once(page: str, step: str, name: str) -> None:
    at = visit(page, **{name: "9998"}, **({"step": step} if step else {}))
    assert len(at.warning) == 1
    assert "9,998" in at.warning[0].value or "9998" in at.warning[0].value
    assert not at.run().warning
