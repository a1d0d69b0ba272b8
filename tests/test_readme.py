"""What the README says of the course is what the course is."""

from __future__ import annotations

from pathlib import Path

from lab.course.lessons import LESSONS, number
from training.evaluation.experiments import (
    copying_table,
    explanation_table,
    grammar_table,
    needed_table,
    patching_table,
)

README = (Path(__file__).parents[1] / "README.md").read_text("utf-8")


def test_the_outline_is_the_course() -> None:
    outline = README.partition("## A course outline")[2].partition("\n## ")[0]
    rows = [line for line in outline.splitlines() if line.startswith("| ") and line[2].isdigit()]
    assert rows == [f"| {number(each)} | {each.title} | {each.minutes} | {each.question} |" for each in LESSONS]
    assert f"\n{sum(each.minutes for each in LESSONS)} minutes in all" in README


def test_what_was_reproduced_is_what_ships() -> None:
    told = README.partition("## What was reproduced")[2].partition("\n## ")[0]
    rows = [line for line in told.splitlines() if line.startswith("| ")]
    models = ["lab-minilm", "lab-bert", "lab-gpt2"]
    tables = grammar_table(models), needed_table(models), explanation_table(models), patching_table(models)
    assert rows == [line for table in (*tables, copying_table(["lab-gpt2"])) for line in table]
    assert [len(table) for table in tables][1:] == [8, 11, 12]
