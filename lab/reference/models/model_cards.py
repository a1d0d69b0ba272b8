"""Model cards: the MODEL_CARD.md beside a trained part, which says how the part was made and what it can do.

The module imports nothing heavy, because a page may show a card without torch.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from textwrap import dedent
from typing import Any

CARD = "MODEL_CARD.md"

_FRONT = re.compile(r"\A---\n(.*?)\n---\n", re.DOTALL)
_PICTURE_LINE = re.compile(r"!\[([^\]]*)\]\(([^)\s]+)\)\s*")
_PICTURE = re.compile(r"!\[([^\]]*)\]\([^)]*\)")
_CODE_OR_DOLLAR = re.compile(r"(`+[^`]*`+)|\$")
_LIST_ITEM = re.compile(r"([-*+]|\d+[.)]) ")
_CELL_END = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True)
class Picture:
    """A picture in a card: a file beside the card, and a description for readers who cannot see the picture."""

    path: Path
    alt: str


@dataclass(frozen=True)
class Code:
    """Lines to be shown unchanged."""

    text: str


@dataclass(frozen=True)
class Table:
    """A table; its cells are Markdown. Every row has the header's number of cells."""

    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


Part = str | Picture | Code | Table


@dataclass(frozen=True)
class ModelCardText:
    """A card taken apart.

    ``front`` is the metadata above the text, in the Hugging Face Hub's terms (license, language,
    library_name, pipeline_tag …), ``title`` the first heading, ``body`` the Markdown after it, as written.
    """

    folder: Path
    front: Mapping[str, Any]
    title: str
    body: str

    def parts(self, demote: int = 0) -> tuple[Part, ...]:
        """The body in order: Markdown (str), and the pictures, code and tables between it.

        ``demote`` adds that number of # to each heading. If a picture is not a file beside the card, only its
        description stays, because nothing is fetched. Dollar signs are escaped, as a page may take them for LaTeX.
        """
        found: list[Part] = []
        for kind, group in groupby(self._kinds(), key=lambda each: each[0]):
            lines = [line for _, line in group]
            if kind == "code":
                found.append(Code(dedent("\n".join(line for line in lines if not _is_fence(line))).strip("\n")))
            elif kind == "table":
                found.append(_table(lines))
            elif kind == "picture":
                found += [picture for line in lines if (picture := self._picture(line))]
            else:
                found.append("\n".join(_plain(line, demote) for line in lines).strip("\n"))
        return tuple(part for part in found if part)

    def sections(self, demote: int = 0) -> dict[str, tuple[Part, ...]]:
        """The :meth:`parts` by their heading, in the card's order; parts before the first heading are under ""."""
        found: dict[str, list[Part]] = {"": []}
        title, marks = "", "#" * (demote + 2)
        for part in self.parts(demote):
            if not isinstance(part, str):
                found[title].append(part)
                continue
            before, *headed = re.split(rf"^{marks} ", part, flags=re.MULTILINE)
            found[title].append(before.strip("\n"))
            for each in headed:
                title, _, text = each.partition("\n")
                found.setdefault(title, []).append(text.strip("\n"))
        return {name: tuple(part for part in parts if part != "") for name, parts in found.items()}

    def column(self, name: str) -> tuple[str, ...]:
        """The first cells of each row of the first table whose header begins with ``name``, or nothing."""
        tables = (part for part in self.parts() if isinstance(part, Table))
        return next((tuple(row[0] for row in table.rows) for table in tables if table.header[0] == name), ())

    def _kinds(self) -> Iterator[tuple[str, str]]:
        """Yield each line with its kind: text, code (fenced or indented), table or picture."""
        fenced = in_list = False
        kind, before = "text", ""
        for line in self.body.splitlines():
            if _is_fence(line) or fenced:
                fenced ^= _is_fence(line)
                kind = "code"
            elif line.startswith(("    ", "\t")) and not in_list and (kind == "code" or not before.strip()):
                kind = "code"
            elif line.strip() or kind != "code":
                kind = "picture" if self._picture(line) else "table" if line.startswith("|") else "text"
            yield kind, line
            if line.strip() and not line.startswith(" "):
                in_list = bool(_LIST_ITEM.match(line))
            before = line

    def _picture(self, line: str) -> Picture | None:
        match = _PICTURE_LINE.fullmatch(line)
        # Only a file's name is allowed, so that a card cannot reach outside its folder.
        if match is None or Path(match[2]).name != match[2] or not (self.folder / match[2]).is_file():
            return None
        return Picture(self.folder / match[2], match[1])


def read_model_card(folder: Path) -> ModelCardText:
    """Read the card in ``folder``.

    Raises FileNotFoundError without a MODEL_CARD.md, and ValueError for metadata that are not YAML names
    with values.
    """
    import yaml

    text = (folder / CARD).read_text(encoding="utf-8")
    match = _FRONT.match(text)
    try:
        front = yaml.safe_load(match[1]) if match else {}
    except yaml.YAMLError as error:
        raise ValueError(f"the lines between --- in {folder.name}/{CARD} are not YAML: {error}") from error
    if not isinstance(front, dict):
        raise ValueError(f"the lines between --- in {folder.name}/{CARD} are not names with values.")
    body = text[match.end() :] if match else text
    first, _, rest = body.lstrip("\n").partition("\n")
    if first.startswith("# "):
        return ModelCardText(folder, front, first.removeprefix("# ").strip(), rest)
    return ModelCardText(folder, front, folder.name, body)


def _is_fence(line: str) -> bool:
    return line.lstrip().startswith("```")


def _plain(line: str, demote: int = 0) -> str:
    """Return a line of text with headings demoted, pictures replaced by descriptions, and dollar signs escaped."""
    line = _PICTURE.sub(r"\1", line)
    line = _CODE_OR_DOLLAR.sub(lambda found: found[1] or r"\$", line)
    return "#" * demote + line if re.match("#+ ", line) else line


def _table(lines: list[str]) -> Table:
    """Make a table from its lines: the row of dashes is left out, and rows are brought to the header's length."""
    header, *rows = ([_plain(cell.strip()) for cell in _CELL_END.split(line.strip())[1:-1]] for line in lines)
    width = len(header)
    cells = [tuple((row + [""] * width)[:width]) for row in rows if set("".join(row)) - set("-: ")]
    return Table(tuple(header), tuple(cells))
