"""The hash of the code that makes a result: a module and all modules of the lab that it imports.

Comments, docstrings, messages of errors, blank lines and layout at the ends of lines do not count: they do not change
any measured number. So a result becomes stale only when the code that measures the result changes. The hash is the same
under every version of Python.
"""

from __future__ import annotations

import ast
import hashlib
import io
import tokenize
from collections.abc import Iterator
from functools import cache
from pathlib import Path

_ROOT = Path(__file__).parents[2]
# Modules left out of the hash. They find, download and load models, keep results and share out the work, and change no
# number. A result names its weights by a separate hash. The list of families is among them, so that a new family makes
# no result stale: the families of the embedded models count, and no other.
_BRING = frozenset(
    {f"lab.models.{name}" for name in ("catalogue", "cores", "hub", "jobs", "loading", "memo")}
    | {f"lab.models.families.{name}" for name in ("library", "registry")}
    | {f"lab.evidence.{name}" for name in ("code_hash", "measurement", "shipped")}
)
_READ = ("lab.models.families.bert", "lab.models.families.gpt2")
_DOCUMENTED = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


@cache
def code_hash(module: str) -> str:
    """SHA-256 of the code of ``module`` (a dotted name) and of every lab module that it imports, at any depth."""
    texts = "".join(f"{name}\n{_bare(_text(name))}\n" for name in modules(module))
    return hashlib.sha256(texts.encode()).hexdigest()


def modules(module: str) -> list[str]:
    """Return the names of the modules whose code is in the hash of ``module``: its imports, and the families."""
    found, waiting = set[str](), [module, *_READ]
    while waiting:
        name = waiting.pop()
        if name not in found | _BRING and _file(name) is not None:
            found.add(name)
            waiting += _imports(name)
    return sorted(found)


def _file(name: str) -> Path | None:
    """Return the file of a module or package of the lab; None if the name is neither a module nor a package."""
    path = _ROOT.joinpath(*name.split("."))
    return next((each for each in (path.with_suffix(".py"), path / "__init__.py") if each.is_file()), None)


def _text(name: str) -> str:
    path = _file(name)
    return path.read_text("utf-8") if path else ""


def _imports(name: str) -> Iterator[str]:
    """Return the modules of the lab that a module may import at run time.

    Names imported from a package may be modules, too.
    """
    for node in _run(ast.parse(_text(name))):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name.startswith("lab."))
        elif isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "lab":
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def _run(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield every node of a syntax tree except the nodes under ``if TYPE_CHECKING``."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            continue
        yield node
        yield from _run(node)


def _bare(text: str) -> str:
    """Return source code without its docstrings, comments, messages of errors and blank lines."""
    lines, tree = text.splitlines(), ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, _DOCUMENTED) and ast.get_docstring(node, clean=False) is not None:
            docstring = node.body[0]
            for at in range(docstring.lineno - 1, docstring.end_lineno or docstring.lineno):
                lines[at] = ""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT and lines[token.start[0] - 1]:
            lines[token.start[0] - 1] = lines[token.start[0] - 1][: token.start[1]]
    for node in ast.walk(tree):
        if isinstance(node, ast.Raise):
            first, last = node.lineno - 1, node.end_lineno or node.lineno
            before = lines[first].encode()[: node.col_offset].decode()
            lines[first:last] = [before + ast.unparse(_Wordless().visit(node)), *[""] * (last - first - 1)]
    return "\n".join(line.rstrip() for line in lines if line.strip())


class _Wordless(ast.NodeTransformer):
    """Makes every text in a syntax tree empty, with the values that are written into it."""

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        return ast.Constant("") if isinstance(node.value, str) else node

    def visit_JoinedStr(self, _: ast.JoinedStr) -> ast.Constant:
        return ast.Constant("")
