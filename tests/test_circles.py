"""No module imports in a circle, not even for types; names and docstrings of the lab can be read alone."""

from __future__ import annotations

import ast
from collections import defaultdict
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parents[1]
MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for top in ("lab", "training", "benchmarks")
    for path in sorted((ROOT / top).rglob("*.py"))
}


@cache
def nodes(path: Path) -> tuple[ast.AST, ...]:
    """All nodes of a file's syntax tree, the module first."""
    return tuple(ast.walk(ast.parse(path.read_text("utf-8"))))


def imports(path: Path) -> set[str]:
    """The modules that a file imports, anywhere in it."""
    found: set[str] = set()
    for node in nodes(path):
        if isinstance(node, ast.Import):
            found.update(each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            inner = {f"{node.module}.{each.name}" for each in node.names}
            found.update(inner & MODULES.keys() or {node.module})
    return found & MODULES.keys()


def test_nothing_imports_in_a_circle() -> None:
    order = TopologicalSorter({name: imports(path) - {name} for name, path in MODULES.items()})
    try:
        order.prepare()
    except CycleError as circle:
        raise AssertionError(" → ".join(circle.args[1])) from None


def test_no_two_public_classes_have_one_name() -> None:
    homes = defaultdict(list)
    for name, path in MODULES.items():
        if name.startswith("lab"):
            for node in ast.iter_child_nodes(nodes(path)[0]):
                if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                    homes[node.name].append(name)
    assert {name: where for name, where in homes.items() if len(where) > 1} == {}


def test_no_docstring_needs_the_one_above_it() -> None:
    described = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    leaning = [
        f"{name}: {text.partition(chr(10))[0]}"
        for name, path in MODULES.items()
        if name.startswith("lab")
        for node in nodes(path)
        if isinstance(node, described) and (text := ast.get_docstring(node) or "").startswith("The same")
    ]
    assert leaning == []


def test_no_module_has_another_name_for_its_sound() -> None:
    """A module is imported under its own name, unless something else in the file is called so."""
    renamed = []
    for path in MODULES.values():
        lines = [node for node in nodes(path) if isinstance(node, ast.ImportFrom)]
        bound = {each.asname or each.name for line in lines for each in line.names}
        for node in nodes(path):
            match node:
                case ast.Name(id=name) | ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                    bound.add(name)
        renamed += [
            f"{path.relative_to(ROOT)}: {each.name} as {each.asname}"
            for line in lines
            for each in line.names
            if each.asname and f"{line.module}.{each.name}" in MODULES and each.name not in bound
        ]
    assert renamed == []
