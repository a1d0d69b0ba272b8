"""What the README says of the course is what the course is, its example runs, and docs/ has the results that ship."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.course.pages import LESSONS, number
from lab.models.loading import load_model
from training.evaluation import reproduced

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
MOST_WORDS = 1_500


def rows(text: str) -> list[str]:
    """The rows of the tables in a text."""
    return [line for line in text.splitlines() if line.startswith("|")]


def section(title: str) -> str:
    """The README under a heading."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


@pytest.fixture(scope="module")
def tables() -> list[list[str]]:
    minilm, gpt2 = load_model("lab-minilm"), load_model("lab-gpt2")
    return [
        *(reproduced.table(id, minilm) for id in ("grammar", "needed-heads", "explanation", "patching")),
        reproduced.table("copying", gpt2),
    ]


def test_the_readme_is_short() -> None:
    assert len(README.split()) <= MOST_WORDS


def test_the_outline_is_the_course() -> None:
    outline = [line for line in rows(section("The course")) if line[2].isdigit()]
    assert outline == [f"| {number(each)} | {each.title} | {each.minutes} | {each.question} |" for each in LESSONS]
    assert f"\n{sum(each.minutes for each in LESSONS)} minutes in all" in README


def test_the_example_in_python_runs() -> None:
    example = section("In Python").partition("```python\n")[2].partition("```")[0]
    assert "lab.prove(" in example
    exec(compile(example, "README.md", "exec"), {})


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
