"""What the README says of the course is what the course is."""

from __future__ import annotations

from pathlib import Path

from lab.course.lessons import LESSONS, number

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_outline_is_the_course() -> None:
    outline = README.partition("## A course outline")[2].partition("\n## ")[0]
    rows = [line for line in outline.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert rows == [f"| {number(each)} | {each.title} | {each.minutes} | {each.question} |" for each in LESSONS]
    assert f"\n{sum(each.minutes for each in LESSONS)} minutes in all" in README
