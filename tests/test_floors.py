"""The floors of the house that import-linter cannot see: scripts in pages/, and who may draw on the screen.

Together with the contract in pyproject.toml: pages -> lab.ui -> (lab.course, lab.charts) ->
lab.analysis -> (lab.toy, lab.text) -> lab.models, and nothing imports upward.
"""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LAB = sorted((ROOT / "lab").rglob("*.py"))
SCRIPTS = [ROOT / "Home.py", *sorted((ROOT / "pages").glob("*.py"))]

# Screen library -> the rooms of lab/ that may import it.
SCREEN = {
    "streamlit": {"ui"},
    "altair": {"ui", "charts"},
    "plotly": {"ui", "charts"},
}
# A page has words, controls and calls; arithmetic and drawing have rooms of their own in lab/.
PAGES_MAY_IMPORT = {"lab", "streamlit", *sys.stdlib_module_names}


def imported(source: str) -> set[str]:
    """Top-level names of everything ``source`` imports, inside functions and type checks too."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names.update(alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


@pytest.mark.parametrize("path", LAB, ids=name)
def test_only_the_upper_rooms_know_a_screen(path: Path) -> None:
    room = path.relative_to(ROOT).parts[1]
    wrong = {library for library in imported(path.read_text("utf-8")) if room not in SCREEN.get(library, {room})}
    assert not wrong, f"lab/{room} must not import {', '.join(sorted(wrong))}; return data and draw it upstairs"


@pytest.mark.parametrize("path", LAB, ids=name)
def test_the_lab_stands_without_what_is_built_on_it(path: Path) -> None:
    assert not imported(path.read_text("utf-8")) & {"Home", "pages", "tests", "training", "benchmarks"}


@pytest.mark.parametrize("path", [path for path in SCRIPTS if path.exists()], ids=name)
def test_a_page_imports_streamlit_and_the_lab_only(path: Path) -> None:
    wrong = imported(path.read_text("utf-8")) - PAGES_MAY_IMPORT
    assert not wrong, f"move what needs {', '.join(sorted(wrong))} into a room of lab/"


def test_imports_are_found_wherever_they_stand() -> None:
    source = "import os.path, numpy as np\nfrom lab.ui import shell\ndef f():\n    import altair.vegalite\n"
    assert imported(source + "from . import here") == {"os", "numpy", "lab", "altair"}
