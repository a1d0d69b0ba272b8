"""The floors of the house that import-linter cannot see: scripts in pages/, and who may draw on the screen.

Together with the contracts in pyproject.toml: pages -> lab.lessons, lab.benches, lab.experiments, lab.reference,
lab.classroom, lab.front -> lab.ui -> lab.figures -> lab.rooms -> lab.questions, lab.charts -> lab.course ->
lab.evidence -> lab.analysis -> lab.toy, lab.text -> lab.models; nothing imports upward, no lesson, bench or experiment
another.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping, Set
from functools import cache
from pathlib import Path

from lab.evidence.code_hash import modules
from training.evaluation.experiments import MEASURED

ROOT = Path(__file__).parents[1]
LAB = sorted((ROOT / "lab").rglob("*.py"))
SCRIPTS = [ROOT / "Home.py", *sorted((ROOT / "pages").glob("*.py"))]

# Screen library -> the rooms of lab/ that may import it.
SCREEN = {
    # __main__.py starts its server, and first_visit.py speaks its protocol, as a browser does.
    "streamlit": {
        *("lessons", "benches", "experiments", "reference", "classroom", "front", "ui"),
        *("__main__.py", "first_visit.py"),
    },
    "altair": {"charts"},
    "plotly": {"ui", "charts"},
}
# Inside a lesson, a bench or an experiment, what a notebook calls and what is asked knows no screen either.
BLIND = re.compile(r"(.*_)?(figures|checks)\.py|(reading|meanings|claims)\.py")
# A page has words, controls and calls; arithmetic and drawing have rooms of their own in lab/.
PAGES_MAY_IMPORT = {"lab", "streamlit", *sys.stdlib_module_names}


@cache
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


def _module(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_only_the_upper_rooms_know_a_screen() -> None:
    """The others return data, and it is drawn upstairs."""
    wrong = {
        name(path): library
        for path in LAB
        for library in imported(path.read_text("utf-8")) & SCREEN.keys()
        if path.relative_to(ROOT).parts[1] not in SCREEN[library]
    }
    assert wrong == {}


def test_figures_and_checks_know_no_screen() -> None:
    screen = re.compile(r"^\s*(import streamlit|from streamlit|from lab\.ui)", re.M)
    blind = [path for path in LAB if BLIND.fullmatch(path.name)]
    assert blind and [name(path) for path in blind if screen.search(path.read_text("utf-8"))] == []


def test_what_an_experiment_measures_knows_no_screen() -> None:
    """Its page may; the contract "measure" in pyproject.toml keeps it from lab.ui and all that draws or asks."""
    found = {module for measured in MEASURED.values() for module in modules(measured.module)}
    sources = {path: path.read_text("utf-8") for path in LAB if _module(path) in found}
    assert (
        len(sources) == len(found)
        and [name(path) for path, text in sources.items() if imported(text) & {*SCREEN}] == []
    )


def test_a_cluster_is_known_to_the_command_alone() -> None:
    """Dask comes by requirements-cluster.txt; a page that reached the module that imports it would need it, too."""
    within = ROOT / "lab" / "evidence" / "scale"
    knows = {path for path in LAB if imported(path.read_text("utf-8")) & {"dask", "distributed"}}
    assert knows == {within / "cluster.py"}
    asks = {path for path in [*LAB, *SCRIPTS] if "lab.evidence.scale" in _imports_anywhere(path.read_text("utf-8"))}
    assert asks - set(within.iterdir()) == {ROOT / "lab" / "experiments" / "grammar" / "any_treebank.py"}


def test_the_lab_stands_without_what_is_built_on_it() -> None:
    above = {"Home", "pages", "tests", "training", "benchmarks"}
    assert {name(path): found for path in LAB if (found := imported(path.read_text("utf-8")) & above)} == {}


def test_a_page_imports_streamlit_and_the_lab_only() -> None:
    """What needs more moves into a room of lab/."""
    found = {name(path): imported(path.read_text("utf-8")) - PAGES_MAY_IMPORT for path in SCRIPTS if path.exists()}
    assert {page: wrong for page, wrong in found.items() if wrong} == {}


def test_imports_are_found_wherever_they_stand() -> None:
    source = "import os.path, numpy as np\nfrom lab.ui import shell\ndef f():\n    import altair.vegalite\n"
    assert imported(source + "from . import here") == {"os", "numpy", "lab", "altair"}


def _at_import(source: str) -> Iterator[str]:
    """The modules of the lab that ``source`` imports as it is itself imported, each after the packages it is in."""
    pending: list[ast.AST] = [ast.parse(source)]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
            continue
        pending += ast.iter_child_nodes(node)
        yield from _named_by(node)


def _imports_anywhere(source: str) -> set[str]:
    """The same, inside functions and type checks too."""
    return {module for node in ast.walk(ast.parse(source)) for module in _named_by(node)}


def _named_by(node: ast.AST) -> Iterator[str]:
    found = []
    if isinstance(node, ast.Import):
        found = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        found = [str(node.module), *(f"{node.module}.{alias.name}" for alias in node.names)]
    for module in found:
        parts = module.split(".")
        yield from (".".join(parts[:end]) for end in range(1, len(parts) + 1))


def _waits_for_itself(graph: Mapping[str, Set[str]]) -> list[str]:
    """Modules on a circle of imports, or behind one: what is left when those that wait for nobody are taken away."""
    left = dict(graph)
    while ready := [module for module, needs in left.items() if not needs & left.keys() - {module}]:
        for module in ready:
            del left[module]
    return sorted(left)


def test_two_visitors_may_import_the_lab_at_once() -> None:
    """On a circle of imports two threads that come from two sides each see the other's half-made module.

    A package that imports what is inside it is such a circle: whoever comes by the inner module needs the package.
    """
    sources = {_module(path): path.read_text("utf-8") for path in LAB}
    inner = {module: set(_at_import(source)) & sources.keys() for module, source in sources.items()}
    outer = {module: {module.rpartition(".")[0]} & sources.keys() for module in sources}
    assert not _waits_for_itself({module: inner[module] | outer[module] for module in sources})


def test_circles_are_found() -> None:
    assert _waits_for_itself({"a": {"b"}, "b": {"c"}, "c": set()}) == []
    assert _waits_for_itself({"a": {"b"}, "b": {"c"}, "c": {"b"}}) == ["a", "b", "c"]
    assert set(_at_import("import lab.a\nif TYPE_CHECKING:\n    import lab.b\ndef f():\n    import lab.c\n")) == {
        "lab",
        "lab.a",
    }


def test_a_way_inside_the_lab_loads_no_page_anew() -> None:
    """A link in Markdown opens the page in a new session, without what the learner typed and answered."""
    inside = re.compile(r"\]\((?!https?:|#)[A-Z][A-Za-z_-]*[?)]")
    assert [name(path) for path in LAB if inside.search(path.read_text("utf-8"))] == []
