"""Docstrings keep the form that NumPy's sections have: an edit by machine once joined names and their texts."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted(path for folder in ("lab", "training", "benchmarks", "tests") for path in (ROOT / folder).rglob("*.py"))
_LINE = re.compile(r"-{3,}")
_NAMES = re.compile(r"[\w*.\[\]]+(, [\w*.\[\]]+)*")
# Sections in which a line without an indent is a name, or several names, and nothing else.
_NAMED = {"Attributes", "Parameters", "Raises"}


def docstrings(source: str) -> Iterator[str]:
    """Every docstring of a module that has a section."""
    if "---\n" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield ast.get_docstring(node) or ""


def _is_joined(line: str) -> bool:
    if re.search(r"\. \w+, \w+$", line):
        return True
    return bool(line) and not line.startswith(" ") and not _LINE.fullmatch(line) and not _NAMES.fullmatch(line)


def joined(docstring: str) -> list[str]:
    """The lines in which a name of a NumPy section and its text have come together."""
    lines, found, named = docstring.split("\n"), list[str](), False
    for line, below in zip(lines, [*lines[1:], ""], strict=True):
        if _LINE.fullmatch(below):
            named = line in _NAMED
        elif named and _is_joined(line):
            found.append(line)
    return found


def test_the_check_finds_what_an_edit_had_joined() -> None:
    section = "A thing.\n\nAttributes\n----------\n"
    assert joined(f"{section}waits True if it waits.") == ["waits True if it waits."]
    assert joined(f"{section}one\n    It decides. effect, low\n    The rise.") == ["    It decides. effect, low"]
    assert joined(f"{section}one, other\n    Two numbers.\n\nRaises\n------\nValueError\n    If not.") == []


@pytest.mark.parametrize("folder", ["lab", "training", "benchmarks", "tests"])
def test_a_name_in_a_section_has_a_line_of_its_own(folder: str) -> None:
    wrong = {
        str(path.relative_to(ROOT)): lines
        for path in FILES
        if path.relative_to(ROOT).parts[0] == folder
        for docstring in docstrings(path.read_text("utf-8"))
        if (lines := joined(docstring))
    }
    assert wrong == {}
