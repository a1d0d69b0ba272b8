"""The recipes of CONTRIBUTING.md, followed in a copy of the lab: what they name is all there is to touch."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.checkpoints import write_checkpoint
from tests.thorough import at_night

ROOT = Path(__file__).parents[1]
_APP = """
import re
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
    told = " ".join(part.value for part in (*at.title, *at.markdown, *at.latex, *at.info, *at.caption))
    return re.sub(r'\\[([^\\]]+)\\]\\(Glossary\\S+ "[^"]*"\\)', r"\\1", told)  # words that explain themselves
"""
# Imports what the lab imports and nothing of the lab, and runs the code that it is told in forks of itself.
_FORKS = """
import json, os, sys, traceback
import altair, pandas, plotly.graph_objects, sqlalchemy, streamlit.testing.v1, tokenizers, torch

for line in sys.stdin:
    if child := os.fork():
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
        continue
    os.dup2(2, 1)
    ended = 1
    try:
        exec(compile(json.loads(line), "recipe", "exec"), {"__name__": "__main__"})
        ended = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(ended)
"""
Run = Callable[[str], None]


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The lab without what it only carries: models and data are linked."""
    folder = tmp_path_factory.mktemp("copy")
    shutil.copytree(ROOT / "lab", folder / "lab", ignore=shutil.ignore_patterns("embedded", "__pycache__"))
    for carried in ("lab/models/embedded", "lab/text/embedded", "benchmarks", "training", "requirements.txt"):
        (folder / carried).symlink_to(ROOT / carried)
    shutil.copytree(ROOT / "pages", folder / "pages")
    shutil.copy(ROOT / "Home.py", folder)
    return folder


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text("utf-8")
    assert text.count(before) == 1, f"{before!r} in {path.name}"
    path.write_text(text.replace(before, after), "utf-8")


@pytest.fixture(scope="module")
def run(copy: Path) -> Iterator[Run]:
    """``run(code)``: in a process of its own, where ``lab`` is the copy as it is now."""
    said = copy / "said.txt"
    with (
        said.open("wb") as errors,
        subprocess.Popen(
            [sys.executable, "-c", _FORKS], cwd=copy, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors
        ) as server,
    ):

        def ran(code: str) -> None:
            assert server.stdin is not None and server.stdout is not None
            server.stdin.write(json.dumps(code).encode() + b"\n")
            server.stdin.flush()
            assert server.stdout.readline() == b"0\n", said.read_text("utf-8")[-3000:]

        yield ran


@at_night
def test_a_metric_is_an_entry(copy: Path, run: Run) -> None:
    metrics = copy / "lab/analysis/heads/metrics.py"
    edit(
        metrics,
        "\nMETRICS = (\n",
        (
            "\ndef _smallest(cells: Cells) -> Measured:\n"
            "    return cells.weights.min(-1), cells.scaled.min(-1)\n\n\n"
            "def _fill_smallest(cells: Cells, corrected: bool) -> str:\n"
            '    return rf"m = {tex(float(_smallest(cells)[corrected][0]))}"\n\n\n'
            "METRICS = (\n"
            '    Metric("smallest", "Smallest weight", _smallest, _fill_smallest, "m", "m", "", 1, 1, "r", "n", "u"),\n'
        ),
    )
    run(
        _APP
        + """
from lab.analysis.heads.metrics import METRICS
from lab.course.words import in_words
step = f"The {in_words(len(METRICS))} numbers"
at = visit("5_Attention_metrics.py", step=step, metric="Smallest weight", version="Raw")
[skip.click().run() for skip in at.button if skip.label == "Show me"]
at.session_state["_formula"] = True
at.run()
assert any("m = 0.0" in formula.value or "10^{" in formula.value for formula in at.latex)
[skip.click().run() for skip in at.button if skip.label == "Show me"]
assert at.selectbox(key="metric").value == "Smallest weight"
assert any("Smallest weight, raw" in chart.proto.spec for chart in at.get("vega_lite_chart"))
assert "Smallest weight" in visit("51_Model_view.py").selectbox(key="colour").options
import lab
from lab.figures.metric_figures import all_heads
assert all_heads(lab.trace(lab.load_model("lab-bert"), "A cat sat."), "smallest", 0, 0).table().size
""",
    )


def test_a_step_is_one_file_and_one_line(copy: Path, run: Run) -> None:
    """A step of lesson 3, with a finding, a sentence, a question that may return, and what shows it."""
    folder = copy / "lab/lessons/self_attention"
    (folder / "longest_key.py").write_text(
        '"""The longest key: the token whose key is longest."""\n\n'
        "from __future__ import annotations\n\nfrom dataclasses import dataclass\n\n"
        "from lab.course.words import named\nfrom lab.lessons.self_attention import LESSON\n"
        "from lab.questions.asking import asks\n"
        "from lab.questions.question import derivable, ranked\n"
        "from lab.ui.screen import meaning\nfrom lab.ui.quiz.step_questions import predict\n\n\n"
        "@dataclass(frozen=True)\nclass Longest:\n    key: str\n    length: float\n\n\n"
        "def longest(spot):\n    lengths = spot.traced.key[spot.head].norm(dim=-1)\n"
        "    return Longest(named(spot.trace, int(lengths.argmax())), float(lengths.max()))\n\n\n"
        "def said(found):\n    return f'The longest key is {found.key}: {found.length:.2f}.'\n\n\n"
        "@asks('layer', 'head', basis=derivable('self-attention', 'build-a-row', 'the keys'), "
        "hint='Compare the rows.')\n"
        "def longest_key(spot):\n    lengths = (spot.traced.key[spot.head].norm(dim=-1) * 10).tolist()\n"
        "    name = lambda key: named(spot.trace, key)\n"
        "    return ranked('longest-key', 'Which key is longest?', lengths, name, lambda key, best: 'Measured.')\n\n\n"
        "def show(view):\n    if predict(LESSON, longest_key(view.spot)):\n"
        "        meaning(said(longest(view.spot)))\n",
        "utf-8",
    )
    edit(
        folder / "lesson.toml",
        '\n[[steps]]\nid = "check"',
        '\n[[steps]]\nid = "longest-key"\nname = "Longest key"\nminutes = 2\n\n[[steps]]\nid = "check"',
    )
    run(
        _APP
        + """
at = visit("3_Self-attention.py", step="Longest key")
assert "Which key is longest?" in words(at)
[skip.click().run() for skip in at.button if skip.label == "Show me"]
assert "The longest key is" in words(at)
from lab.course.pages import lesson_of
from lab.lessons.open_lesson import askings
from lab.questions.asking import Spot
import lab
spot = Spot.of(lab.trace(lab.load_model("lab-bert"), "She gave her brother the book."))
asked = {each.id: each for asking in askings(lesson_of("self-attention")) if (each := asking(spot))}
assert asked["longest-key"].hint == "Compare the rows."
""",
    )


@at_night
def test_a_lesson_is_a_folder_two_lines_and_its_words(copy: Path, run: Run) -> None:
    folder = copy / "lab/lessons/counting"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        'from lab.ui.play import Parts, at_one_head\n\nLESSON = "counting"\nPARTS = Parts(look=at_one_head)\n',
        "utf-8",
    )
    (folder / "lesson.toml").write_text(
        'title = "Counting"\nicon = ":material/tag:"\nquestion = "How many tokens?"\nstop = "Word"\n'
        'objectives = ["count"]\nreading = ["A paper"]\n\n'
        '[story]\nlast = "Last."\nnow = "Now?"\nrecap = ["One.", "Two.", "Three."]\nremember = "Remember."\n\n'
        '[[steps]]\nid = "count"\nname = "Count"\nminutes = 2\n\n'
        '[[steps]]\nid = "check"\nname = "Check"\nminutes = 3\n',
        "utf-8",
    )
    (folder / "count.py").write_text(
        "import streamlit as st\n\nfrom lab.questions.asking import asks\n"
        "from lab.questions.question import Option, Question, derivable\nfrom lab.ui.screen import say\n\n"
        "@asks(basis=derivable('tokenization', 'tokens', 'the tokens'), hint='Count again.')\n"
        "def how_many(spot):\n    n = len(spot.trace)\n"
        "    options = tuple(Option(str(n + i), 'Counted.', correct=i == 0) for i in range(3))\n"
        "    return Question('how-many', f'How many tokens has {spot.trace.text}?', options)\n\n"
        "def show(view):\n    say('Count them.')\n    st.markdown(f'**{len(view.trace)}** tokens')\n",
        "utf-8",
    )
    (folder / "check.py").write_text(
        "from lab.lessons.counting import LESSON\nfrom lab.lessons.counting.count import how_many\n"
        "from lab.ui.quiz.draw_check import draw_checks\n\n"
        "def show(view):\n    draw_checks(LESSON, [how_many(view.spot)])\n",
        "utf-8",
    )
    (copy / "pages/10_Counting.py").write_text(
        "from lab.lessons.open_lesson import play\n\nplay('counting')\n", "utf-8"
    )
    edit(copy / "lab/course/order.toml", "\nend = ", ('\ncounting = "10_Counting.py"\nend = '))
    edit(
        copy / "lab/course/glossary.py",
        "\n    ),\n}  # fmt: skip\n",
        ('\n    ),\n    "counting": (("tally", "What one counts with.", {}),),\n}\n'),
    )
    run(
        _APP
        + """
at = visit("10_Counting.py", text="A cat sat.")
assert "This step: 2 min · lesson: 5 min" in words(at) and "Count them." in words(at)
assert at.title[0].value == "Counting" and "**6** tokens" in words(at)
assert at.segmented_control(key="step").options == ["Count", "Check"]
assert visit("10_Counting.py", step="count").segmented_control(key="step").value == "Count"
links = [link.proto.label for link in visit("11_A_task_of_your_own.py").get("page_link")]
assert "Counting" in links, links
assert any("12 · Counting" in link.proto.label for link in visit("0_Course.py").get("page_link"))
assert any("lesson 12" in link.proto.label for link in visit("21_Glossary.py").get("page_link"))
assert any("How many tokens has" in radio.label for radio in visit("10_Counting.py", step="Check").radio)
from lab.course.pages import lesson_of
from lab.lessons.open_lesson import askings
assert [each.make.__name__ for each in askings(lesson_of("counting"))] == ["how_many"]
from lab.ui.frame import strip
sent = strip._header(None, ["counting"], "counting")
assert [(stop["lit"], stop["lessons"][-1]["id"]) for stop in sent["stops"]][-1] == (True, "counting")
from lab.ui import shell
shell.st.Page = lambda script, title, **more: title
assert shell.sections()["Lessons"][-2:] == ["12 · Counting", "The story in pictures"]
""",
    )


def test_a_view_of_a_bench_is_a_file_and_a_line(copy: Path, run: Run) -> None:
    folder = copy / "lab/benches/flow"
    (folder / "looks_most.py").write_text(
        "from lab.ui.screen import meaning\nfrom lab.ui.sentence import show_sentence\n\n"
        "def said(view):\n    weights = view.trace.layer(view.layer).attention.mean(dim=0)[view.token]\n"
        "    return f'{view.name(view.token)} looks most at {view.name(int(weights.argmax()))}.'\n\n"
        "def show(view):\n    show_sentence(view.trace, view.token)\n    meaning(said(view))\n",
        "utf-8",
    )
    record = folder / "bench.toml"
    record.write_text(record.read_text("utf-8") + '\n[[steps]]\nid = "looks-most"\nname = "Looks most"\n', "utf-8")
    run(
        _APP
        + """
at = visit("53_Flow.py", step="Looks most")
assert "looks most at" in words(at)
assert at.segmented_control(key="step").options[-1] == "Looks most"
""",
    )


@at_night
def test_a_bench_is_a_folder_and_two_lines(copy: Path, run: Run) -> None:
    folder = copy / "lab/benches/token_count"
    folder.mkdir()
    (folder / "__init__.py").write_text(
        "from lab.ui.bench import BenchParts\n\nPARTS = BenchParts(look=lambda page, trace, step: trace)\n", "utf-8"
    )
    (folder / "view.py").write_text(
        "import streamlit as st\n\ndef show(trace):\n    st.markdown(f'**{len(trace)}** tokens')\n", "utf-8"
    )
    (folder / "bench.toml").write_text(
        'title = "Token count"\nicon = ":material/tag:"\nquestion = "How many tokens are there?"\n'
        'after = ["embeddings"]\nreading = ["A paper"]\n',
        "utf-8",
    )
    (copy / "pages/16_Token_count.py").write_text(
        "from lab.benches.open_bench import play\n\nplay('token-count')\n", "utf-8"
    )
    edit(copy / "lab/course/order.toml", "\n[Experiments]", 'token-count = "16_Token_count.py"\n\n[Experiments]')
    run(
        _APP
        + """
at = visit("16_Token_count.py", text="A cat sat.")
assert at.title[0].value == "Token count" and "**6** tokens" in words(at)
links = [link.proto.label for link in visit("2_Embeddings.py", step="Check").get("page_link")]
assert "On the bench Token count: How many tokens are there?" in links, links
from lab.ui import shell
shell.st.Page = lambda script, title, **more: title
assert shell.sections()["Benches"][-1] == "Token count"
""",
    )


def test_an_experiment_is_a_folder_and_two_lines(copy: Path, run: Run) -> None:
    folder = copy / "lab/experiments/counting"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "experiment.toml").write_text(
        'title = "Layers"\nicon = ":material/tag:"\nquestion = "How many?"\nafter = ["embeddings"]\n'
        'claim = "There are four."\nwhose = "A paper"\ntest = "Count."\nagainst = "Five."\nnot_shown = ["Why."]\n'
        'reading = ["A paper"]\n',
        "utf-8",
    )
    (folder / "measure.py").write_text(
        """
from dataclasses import dataclass, field

from lab.evidence.measurement import Measurement
from lab.evidence.shipped import Provenance
from lab.evidence.tables import APART


@dataclass(frozen=True)
class Counted:
    heads: tuple[int, ...]
    made: Provenance | None = field(default=None, metadata=APART)


def replicate(model, progress):
    return Counted((model.config.heads,) * model.config.layers)


MEASUREMENT = Measurement("counting", __name__, Counted, replicate, data_hash=lambda: "no data")
""",
        "utf-8",
    )
    (folder / "page.py").write_text(
        """
from functools import partial

import streamlit as st

from lab.charts.base.axes import AxisPlaces, Scale
from lab.charts.marks.lines import lines
from lab.experiments.counting.measure import MEASUREMENT
from lab.questions.bets import Belief, Bet
from lab.evidence.verdicts import Effect, judge
from lab.ui.experiments.claim_table import ClaimLine
from lab.ui.experiments.experiment import Experiment


def line(found):
    count = len(found.heads)
    return ClaimLine("It is deep", "–", str(count), "–", count, judge(Effect(count, count, count, 0.01, 1.0, count)))


def heads_chart(model):
    heads = MEASUREMENT.result(model).heads
    return lines({"heads": heads}, AxisPlaces("Layer"), Scale("Heads"), title="Heads of each layer")


EXPERIMENT = Experiment(
    measurement=MEASUREMENT,
    bet=lambda model: Bet(
        "layers",
        "How many layers has it?",
        (Belief("Four", "It is small.", "it would have four"), Belief("More", "It is deep.", "it would have more")),
    ),
    decided=lambda found: (int(len(found.heads) > 4), f"It has {len(found.heads)}."),
    takes=lambda model: "This takes no time.",
    help="The lab counts.",
    figure=lambda model, found: partial(heads_chart, model),
    name="heads",
    caption=lambda model, found: "All heads.",
    meaning=lambda found, model_id: f"**{len(found.heads)}** layers",
    claims=lambda found: [line(found)],
    note="Layers are counted.",
    rule="The effect is a number.",
    data="nothing",
    code=(heads_chart,),
    cases="The layers behind the number",
    show_cases=lambda model, found: st.markdown("One by one") and None,
    method=lambda model: "One counts.",
)
""",
        "utf-8",
    )
    (copy / "pages/35_Layers.py").write_text(
        "from lab.experiments.open_experiment import play\n\nplay('counting')\n", "utf-8"
    )
    edit(copy / "lab/course/order.toml", "\n[Reference]", ('counting = "35_Layers.py"\n\n[Reference]'))
    run(
        """
import sys
from training.evaluation import experiments
sys.argv = ["experiments", "counting", "lab-minilm"]
experiments.main()
assert list(experiments.MEASURED)[-1] == "counting"
from lab.models.loading import load_model
from training.evaluation import reproduced
assert reproduced.table("counting", load_model("lab-minilm"))[-1].startswith("| It is deep | – | 6 |")
""",
    )
    run(
        _APP
        + """
at = visit("35_Layers.py", model="lab-minilm")
assert at.title[0].value == "Layers" and "There are four." in words(at) and "**6** layers" not in words(at)
next(each for each in at.button if each.label == "Show me").click().run()
assert not at.exception and "**6** layers" in words(at)
assert "This result ships with the lab. `python -m training.evaluation.experiments counting lab-minilm`" in words(at)
at = visit("35_Layers.py", model="lab-gpt2")
next(each for each in at.button if each.label == "Show me").click().run()
assert "has not been measured yet. This takes no time." in words(at)
links = [link.proto.label for link in visit("2_Embeddings.py", step="Check").get("page_link")]
assert "The experiment Layers: How many?" in links, links
from lab.ui import shell
shell.st.Page = lambda script, title, **more: title
assert shell.sections()["Experiments"][-1] == "Layers"
""",
    )


@at_night
def test_a_family_is_a_file_and_a_line(copy: Path, run: Run, tmp_path: Path) -> None:
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
    run(
        f"""
import lab
model = lab.load_model({str(folder)!r})
assert model.config.family == "marble"
assert lab.prove(model, lab.trace(model, "The cat sat.", "The dog ran.")).passed
""",
    )


def test_the_recipes_name_files_that_are_there() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
    linked = [part.partition(")")[0].partition("#")[0] for part in text.split("](")[1:]]
    assert len(linked) > 8
    assert not [path for path in linked if not (ROOT / path).exists()]
