"""docs/reproduced.md is what training/evaluation/reproduced.py makes of the results that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.models.loading import load_model
from training.evaluation import reproduced

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def tables() -> list[list[str]]:
    minilm, gpt2 = load_model("lab-minilm"), load_model("lab-gpt2")
    return [
        *(reproduced.table(id, minilm) for id in ("grammar", "needed-heads", "explanation", "patching")),
        reproduced.table("copying", gpt2),
    ]


def test_every_table_has_its_cases_and_the_twin(tables: list[list[str]]) -> None:
    for head, _, *cases in tables:
        columns = [cell.strip() for cell in head.strip("|").split("|")]
        assert {"n", "here", "untrained twin", "verdict", "why"} <= set(columns), head
        assert cases
        for row in cases:
            cells = [cell.strip() for cell in row.strip("|").split("|")]
            assert len(cells) == len(columns)
            tested = cells[columns.index("verdict")] != "not testable here"
            assert cells[columns.index("n")].replace(",", "").isdigit() or not tested, row


def test_the_page_of_all_models_is_what_ships() -> None:
    assert (ROOT / "docs" / "reproduced.md").read_text("utf-8") == reproduced.page()
