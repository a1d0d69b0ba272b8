"""The recipes of CONTRIBUTING.md, followed in a copy of the lab: what they name is all there is to touch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.checkpoints import write_checkpoint

ROOT = Path(__file__).parents[1]
_APP = """
import benchmarks.routed
from streamlit.testing.v1 import AppTest

def visit(page, **link):
    at = AppTest.from_file("Home.py", default_timeout=120)
    for name, value in link.items():
        at.query_params[name] = value
    at.switch_page(f"pages/{page}").run()
    assert not at.exception, at.exception[0]
    return at

def words(at):
    return " ".join(part.value for part in (*at.title, *at.markdown, *at.latex, *at.info))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab without what it only carries: models and data are linked."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "lab", folder / "lab", ignore=shutil.ignore_patterns("embedded", "__pycache__"))
    for carried in ("lab/models/embedded", "lab/text/embedded", "benchmarks", "requirements.txt"):
        (folder / carried).symlink_to(ROOT / carried)
    shutil.copytree(ROOT / "pages", folder / "pages")
    shutil.copy(ROOT / "Home.py", folder)
    return folder


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(before) == 1, f"{before!r} in {path.name}"
    path.write_text(text.replace(before, after), "utf-8")


def run(folder: Path, code: str) -> None:
    """In a process of its own, where ``lab`` is the copy."""
    done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]


def test_a_metric_is_an_entry_and_its_card(copy: Path) -> None:
    metrics = copy / "lab/analysis/heads/metrics.py"
    edit(metrics, "\nMETRICS = (\n", (
        "\ndef _smallest(cells: Cells) -> Measured:\n"
        "    return cells.weights.min(-1), cells.scaled.min(-1)\n\n\n"
        "METRICS = (\n"
        '    Metric("smallest", "Smallest weight", _smallest, "m", "m", "", 1, 1, "High: all.", "Note.", "Use."),\n'
    ))  # fmt: skip
    edit(
        copy / "lab/course/metric_cards.py",
        '    "confidence_max": _largest,\n',
        ('    "confidence_max": _largest,\n    "smallest": lambda parts, corrected: "m = 0",\n'),
    )
    run(copy, _APP + """
at = visit("5_Attention_metrics.py", step="Six numbers")
assert "**Smallest weight**" in words(at) and "m = 0" in words(at)
at = visit("5_Attention_metrics.py", step="All heads", metric="Smallest weight")
[skip.click().run() for skip in at.button if skip.label == "Skip"]
assert at.selectbox(key="metric").value == "Smallest weight"
assert any("Smallest weight, raw" in chart.proto.spec for chart in at.get("vega_lite_chart"))
assert "Smallest weight" in visit("11_Model_view.py").selectbox(key="colour").options
import lab
from lab.figures.metrics import all_heads
assert all_heads(lab.trace(lab.load_model("lab-bert"), "A cat sat."), "smallest", 0, 0).table().size
""")  # fmt: skip


def test_a_lesson_is_a_folder_a_page_and_a_record(copy: Path) -> None:
    folder = copy / "lab/lessons/counting"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "screens.py").write_text(
        "import streamlit as st\n\ndef show_count(trace):\n    st.markdown(f'**{len(trace)}** tokens')\n", "utf-8"
    )
    (copy / "pages/10_Counting.py").write_text(
        "from lab.lessons.counting import screens\n"
        "from lab.ui.page import open_lesson\n"
        "from lab.ui.play import chosen_run, play\n\n"
        'page = open_lesson("10_Counting.py")\n'
        "trace = chosen_run(page)\n"
        'play(page, trace, {"Count": screens.show_count, "Again": screens.show_count}, lambda: trace)\n',
        "utf-8",
    )
    edit(copy / "lab/course/lessons.py", "    ),\n)\n\n\ndef number(", (
        '    ),\n    Lesson("counting", "pages/10_Counting.py", "Counting", ":material/tag:", "How many tokens?",\n'
        '           ("count",), ("A paper",)),\n)\n\n\ndef number('
    ))  # fmt: skip
    edit(copy / "lab/course/minutes.py", "= {\n", '= {\n    "counting": {"Count": 2, "Again": 3},\n')
    run(copy, _APP + """
at = visit("10_Counting.py", text="A cat sat.")
assert "This step: 2 of 5 minutes" in words(at)
assert at.title[0].value == "Counting" and "**6** tokens" in words(at)
assert at.segmented_control(key="step").options == ["Count", "Again"]
links = [link.proto.label for link in visit("9_Masked_language_model.py").get("page_link")]
assert "Counting" in links, links
from lab.course.pages import LESSONS
from lab.ui import shell
shell.st.Page = lambda script, title, **more: title
assert shell.sections()["Lessons"][-1] == "10 · Counting"
""")  # fmt: skip


def test_an_experiment_is_a_folder_a_page_and_a_record(copy: Path) -> None:
    folder = copy / "lab/studies/counting"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "screens.py").write_text(
        "import streamlit as st\n\ndef show(page):\n    st.markdown(f'**{page.model().config.layers}** layers')\n",
        "utf-8",
    )
    (copy / "pages/31_Layers.py").write_text(
        "from lab.studies.counting.screens import show\n"
        "from lab.ui.experiments.page import open_experiment\n\n"
        'page = open_experiment("31_Layers.py")\n'
        "show(page)\npage.finish()\n",
        "utf-8",
    )
    edit(copy / "lab/course/experiments.py", "    ),\n)\n\n\ndef experiment_of(", (
        '    ),\n    Experiment("layers", "pages/31_Layers.py", "Layers", ":material/tag:", "How many?",\n'
        '               "There are four.", "A paper", "Five.",'
        '               ("Why.",), ("A paper",), ("embeddings",)),\n)\n\n\ndef experiment_of('
    ))  # fmt: skip
    run(copy, _APP + """
at = visit("31_Layers.py")
assert at.title[0].value == "Layers" and "**6** layers" in words(at) and "There are four." in words(at)
links = [link.proto.label for link in visit("2_Embeddings.py", step="Check").get("page_link")]
assert "The experiment Layers: How many?" in links, links
from lab.ui import shell
shell.st.Page = lambda script, title, **more: title
assert shell.sections()["Experiments"][-1] == "Layers"
""")  # fmt: skip


def test_a_family_is_a_file_and_a_line(copy: Path, tmp_path: Path) -> None:
    families = copy / "lab/models/families"
    (families / "marble.py").write_text(
        "from lab.models.families.bert import Bert\n\nclass Marble(Bert):\n"
        '    """BERT under another name."""\n    name = "marble"\n    title = "Marble"\n\nFAMILY = Marble()\n',
        "utf-8",
    )
    edit(families / "registry.py", "import bert, ", "import bert, marble, ")
    edit(families / "registry.py", "in (bert, ", "in (bert, marble, ")
    folder = write_checkpoint(tmp_path / "marble", "bert")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"model_type": "marble"}))
    run(copy, f"""
import lab
model = lab.load_model({str(folder)!r})
assert model.config.family == "marble"
assert lab.prove(model, lab.trace(model, "The cat sat.", "The dog ran.")).passed
""")  # fmt: skip


def test_the_recipes_name_files_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    linked = [part.partition(")")[0] for part in text.split("](")[1:]]
    assert len(linked) > 8
    assert not [path for path in linked if not (ROOT / path).exists()]
