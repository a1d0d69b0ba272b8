"""No local hides a module that its file imports: ``learners = …`` once took the module ``learners`` from a function."""

from __future__ import annotations

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def sources() -> list[Path]:
    """Every Python file of the repository that git knows or would add."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.splitlines()
    return [ROOT / each for each in listed if (ROOT / each).is_file()]


@cache
def is_module(package: str, name: str) -> bool:
    """Return whether ``from package import name`` brings a module: found on the disk, and nothing is imported."""
    path = None
    for part in package.split("."):
        found = PathFinder.find_spec(part, path)
        if found is None or found.submodule_search_locations is None:
            return False
        path = list(found.submodule_search_locations)
    return PathFinder.find_spec(name, path) is not None


def imported_modules(statements: list[ast.stmt]) -> set[str]:
    """The names under which these statements, or blocks of them such as ``if TYPE_CHECKING``, import modules."""
    found = set[str]()
    for node in statements:
        match node:
            case ast.Import():
                found |= {each.asname or each.name.partition(".")[0] for each in node.names}
            case ast.ImportFrom(module=str(package), level=0):
                found |= {each.asname or each.name for each in node.names if is_module(package, each.name)}
            case ast.If() | ast.Try() | ast.With():
                parts = (getattr(node, name, []) for name in ("body", "orelse", "finalbody"))
                found |= set[str]().union(*map(imported_modules, parts))
    return found


def own_names(scope: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> Iterator[tuple[str, int]]:
    """The names that a function binds itself, with the line: parameters, and all that is assigned in its body."""
    arguments = scope.args
    for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg):
        if each is not None:
            yield each.arg, each.lineno
    waiting: list[ast.AST] = list(scope.body) if isinstance(scope.body, list) else [scope.body]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                yield node.id, node.lineno
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                yield node.name, node.lineno
            case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield name, node.lineno
            case ast.MatchMapping(rest=str(name)):
                yield name, node.lineno
        if not isinstance(node, (*_SCOPES, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)


def hidden(text: str) -> list[tuple[str, int]]:
    """Each local that hides a module which the text imports outside functions: its name and its line."""
    tree = ast.parse(text)
    modules = imported_modules(tree.body)
    scopes = [node for node in ast.walk(tree) if isinstance(node, _SCOPES)] if modules else []
    # A name that ``global`` declares is no local.
    return [
        (name, line)
        for scope in scopes
        for name, line in own_names(scope)
        if name in modules and not any(isinstance(each, ast.Global) and name in each.names for each in ast.walk(scope))
    ]


@pytest.mark.parametrize(
    "text",
    [
        "from benchmarks import learners\ndef play():\n    wall, learners = 1, 2",
        "from benchmarks import learners\ndef play(learners):\n    pass",
        "from benchmarks import learners\nasync def play():\n    for learners in ():\n        pass",
        "from benchmarks import learners\ndef play():\n    with open('') as learners:\n        pass",
        "from benchmarks import learners\ndef play():\n    return [learners for learners in ()]",
        "from benchmarks import learners\ndef play():\n    if (learners := 1):\n        pass",
        "import random as chance\ndef play():\n    def chance():\n        pass",
        "import random\nkeep = lambda random: random",
        "if True:\n    import random\ndef play(x):\n    match x:\n        case [*random]:\n            pass",
        "import os.path\ndef play():\n    try:\n        pass\n    except ValueError as os:\n        pass",
    ],
)
def test_each_way_to_hide_a_module_is_found(text: str) -> None:
    assert hidden(text)


def test_what_hides_nothing_is_not_found() -> None:
    assert not hidden("from lab.models.jobs import Job\ndef play(Job, jobs):\n    jobs = Job")
    assert not hidden("import random\nclass Chance:\n    random: int\ndef play(x):\n    return x.random")
    assert not hidden("def one():\n    import random\ndef two():\n    random = 1")


def test_no_local_hides_an_imported_module() -> None:
    found = [f"{path.relative_to(ROOT)}:{line} {name}" for path in sources() for name, line in hidden(path.read_text())]
    assert not found
