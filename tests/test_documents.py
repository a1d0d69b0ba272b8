"""The documents of the repository: their links lead to a file and a heading, the paths and commands they name exist."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import results

ROOT = Path(__file__).parents[1]
FOLDERS = ("docs", "benchmarks", "cloud", "deploy", "training", "lab", "tests")
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.md"))])
# CHANGELOG.md says what was, so it names files that are gone.
TODAY = [path for path in DOCUMENTS if path.name != "CHANGELOG.md"]
_LINK = re.compile(r"\]\(([^)\s]+)\)")
_ELSEWHERE = re.compile(r"[a-z]+:")
_PATH = re.compile(rf"`((?:{'|'.join(FOLDERS)}|pages)/[\w./-]+)`")
_SECTION = re.compile(r'((?:docs/)?[\w-]+\.md), "([^"]+)"')
_COMMAND = re.compile(r"python -m ((?:lab|training|benchmarks|tests)\b[\w.]*)")


def name(path: Path) -> str:
    return str(path.relative_to(ROOT))


def anchors(text: str) -> set[str]:
    """The anchors that a document's headings get: lower case, hyphens for spaces, no other punctuation."""
    titles = re.findall(r"^#+ (.+)$", text, re.M)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


def leads_nowhere(document: Path, link: str) -> bool:
    path, _, anchor = link.partition("#")
    target = (document.parent / path).resolve() if path else document
    if not target.exists():
        return True
    return bool(anchor) and anchor not in anchors(target.read_text("utf-8"))


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_link_leads_to_a_file_and_a_heading(document: Path) -> None:
    links = [link for link in _LINK.findall(document.read_text("utf-8")) if not _ELSEWHERE.match(link)]
    assert [link for link in links if leads_nowhere(document, link)] == []


@pytest.mark.parametrize("document", TODAY, ids=name)
def test_every_path_and_command_it_names_exists(document: Path) -> None:
    text = document.read_text("utf-8")
    assert [path for path in _PATH.findall(text) if not (ROOT / path).exists()] == []
    modules = {command: ROOT.joinpath(*command.rstrip(".").split(".")) for command in _COMMAND.findall(text)}
    assert [
        command
        for command, path in modules.items()
        if not (path.with_suffix(".py").exists() or (path / "__main__.py").exists())
    ] == []


@pytest.mark.parametrize("folder", ["lab", "benchmarks", "training", "tests"])
def test_every_section_that_code_names_exists(folder: str) -> None:
    """As in (docs/results.md, "What a cut may say")."""
    named = [
        (document, title)
        for path in (ROOT / folder).rglob("*.py")
        for document, title in _SECTION.findall(path.read_text("utf-8"))
    ]
    missing = [each for each in named if f"# {each[1]}\n" not in (ROOT / each[0]).read_text("utf-8")]
    assert missing == [] and (named or folder != "training")


def test_a_link_that_leads_nowhere_is_found() -> None:
    readme = ROOT / "README.md"
    assert leads_nowhere(readme, "docs/no.md") and leads_nowhere(readme, "docs/deploying.md#no-such-heading")
    assert not leads_nowhere(readme, "docs/deploying.md#a-large-class") and not leads_nowhere(readme, "#in-python")


def test_the_ratios_in_measured_are_those_of_the_benchmarks() -> None:
    """docs/measured.md quotes benchmarks/RESULTS.md: as a ratio, or as how many times as fast."""
    told = {
        cells[0].strip(): cells[2].strip()
        for line in (ROOT / "docs" / "measured.md").read_text("utf-8").splitlines()
        if line.startswith("|") and len(cells := line.strip("|").split("|")) == 4
    }
    found = results.recorded(results.FILE.read_text("utf-8"))
    forward = "lab.trace / eager Hugging Face forward, time"
    layer = "trace.layer(l) / the same forward, time"
    assert told["`lab.trace` over an eager Hugging Face forward (bert-base size, one thread)"] == " / ".join(
        f"{found[forward, tokens]:.2f}" for tokens in (16, 128, 512)
    )
    assert told["one `trace.layer(l)` over that forward"] == " / ".join(
        f"{found[layer, tokens]:.2f}" for tokens in (16, 128, 512)
    )
    times = {
        "six metrics of 144 heads, times as fast as loops over heads": (
            "six metrics raw and corrected / loop over heads",
            (32, 128, 512),
        ),
        "attention between 8 sentences, times as fast as loops over token pairs": (
            "attention between 8 sentences / token pairs",
            (32, 128, 512),
        ),
        "the likelihood of a text, times as fast as all masks in one batch": (
            "pseudo-log-likelihood / all masks at once, time",
            (32, 128),
        ),
    }
    for row, (ratio, sizes) in times.items():
        quoted = [float(figure) for figure in told[row].split(" / ")]
        assert quoted == pytest.approx([1 / found[ratio, tokens] for tokens in sizes], rel=0.04), row


def test_the_tree_of_folders_has_a_line_for_each_folder() -> None:
    architecture = (ROOT / "docs/architecture.md").read_text("utf-8")
    tree = architecture.partition("\n## Folders\n")[2].partition("\n## ")[0]
    lines = [line.split()[0] for line in tree.splitlines() if line.startswith("    ") and line.strip()]
    folders = {path.parent.name for path in ROOT.glob("lab/*/__init__.py")} | {
        "pages",
        "training",
        "benchmarks",
        "tests",
    }
    assert {f"{folder}/" for folder in folders} <= set(lines)
