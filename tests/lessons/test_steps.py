"""Steps that are files: every step has its file, every gap is named, and only what shows or chooses draws."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from lab.course.pages import BENCHES, LESSONS, Lesson, lesson_of
from lab.lessons.open_lesson import askings, step_file

LAB = Path(__file__).parents[2] / "lab"
FOLDERS = [
    *(LAB / "lessons" / lesson.id.replace("-", "_") for lesson in LESSONS),
    *(LAB / "benches" / bench.id.replace("-", "_") for bench in BENCHES),
]
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.py"))]
# The functions that know the screen: they show, they draw and read what the learner chooses, or they judge what a
# learner has typed, with the models of this server.
KNOW_THE_SCREEN = ("show", "choose", "chosen", "look", "judge")
# Screens that only run steps, whatever the steps show: streamlit, and what draws with it.
SCREEN = ("streamlit", "lab.ui")


def drawn_by(tree: ast.Module) -> set[str]:
    """The names in a module that come from the screen."""
    return {
        (alias.asname or alias.name).partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for alias in node.names
        if (getattr(node, "module", None) or alias.name).startswith(SCREEN)
    }


def used(node: ast.AST, screen: set[str], inside: str = "") -> Iterator[tuple[str, str]]:
    """Each use of a name of the screen, and the function around it; what only types is no use."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.arg | ast.Import | ast.ImportFrom):
            continue
        if isinstance(child, ast.AnnAssign) and child.value is None:  # a field of a dataclass
            continue
        if isinstance(child, ast.Name) and child.id in screen and isinstance(child.ctx, ast.Load):
            yield child.id, inside
        name = child.name if isinstance(child, ast.FunctionDef) and not inside else inside
        yield from used(child, screen, name)


def wrong(source: str) -> set[tuple[str, str]]:
    """The names of the screen that functions use whose name does not say that they show or choose."""
    tree = ast.parse(source)
    return {(name, at) for name, at in used(tree, drawn_by(tree)) if not at.lstrip("_").startswith(KNOW_THE_SCREEN)}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_only_functions_that_show_or_choose_know_the_screen(path: Path) -> None:
    found = {at for _, at in wrong(path.read_text("utf-8"))}
    assert found <= ({""} if path.stem == "__init__" else set())  # PARTS is made of what draws


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_what_a_step_shows_comes_before_what_it_is_made_of(path: Path) -> None:
    tree = ast.parse(path.read_text("utf-8"))
    defined = [node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)]
    assert "show" not in defined[1:]


def test_a_function_that_draws_under_another_name_is_found() -> None:
    source = "import streamlit as st\nfrom lab.ui.drawing import draw\ndef said(view):\n    st.markdown('x')\n"
    source += "def show(view: st.X):\n    draw(view)\n    def inner():\n        draw(view)\n"
    assert wrong(source) == {("st", "said")}
    assert wrong("from lab.ui.drawing import draw\nDRAWN = draw()\n") == {("draw", "")}


def test_a_lesson_in_files_has_questions_and_each_has_a_hint_that_is_for_something() -> None:
    for lesson in LESSONS:
        asked = list(askings(lesson))
        assert asked and len({asking.make.__name__ for asking in asked}) == len(asked)
        assert all(asking.hint or asking.figure for asking in asked)


@pytest.fixture
def lesson(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lesson:
    """A lesson of two steps in a folder of its own: the first has its file, the second has none."""
    (tmp_path / "gaps").mkdir()
    (tmp_path / "gaps/__init__.py").write_text("PARTS = None\n", "utf-8")
    (tmp_path / "gaps/one_step.py").write_text("def show(view):\n    pass\n", "utf-8")
    (tmp_path / "gaps/silent.py").write_text("def said(found):\n    return ''\n", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr("lab.lessons.open_lesson._folder", lambda id: SimpleNamespace(__name__="gaps"))
    first = lesson_of("self-attention").steps[0]
    steps = (replace(first, id="one-step"), replace(first, id="missing"), replace(first, id="silent"))
    return replace(lesson_of("self-attention"), id="gaps", steps=steps)


def test_every_gap_is_named(lesson: Lesson) -> None:
    assert callable(step_file(lesson, "one-step").show)
    with pytest.raises(ValueError, match=r"gaps: the step missing has no file missing\.py beside lesson\.toml"):
        step_file(lesson, "missing")
    with pytest.raises(ValueError, match=r"silent\.py has no function show\(view\)"):
        step_file(lesson, "silent")
