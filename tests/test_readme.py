"""What the README says of the course is what the course is, and its example runs."""

from __future__ import annotations

from pathlib import Path

from lab.course.pages import LESSONS, number

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text("utf-8")
MOST_WORDS = 1_500


def rows(text: str) -> list[str]:
    """The rows of the tables in a text."""
    return [line for line in text.splitlines() if line.startswith("|")]


def section(title: str) -> str:
    """The README under a heading."""
    return README.partition(f"\n## {title}\n")[2].partition("\n## ")[0]


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
