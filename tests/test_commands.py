"""Every command that the repository names can be started: the targets of the Makefile, each ``python -m …``."""

from __future__ import annotations

import json
import os
import re
import runpy
import shlex
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

from lab.models.catalogue import CATALOGUE, ships
from training import bert, gpt2, minilm
from training.loop import Schedule, argument_parser, schedule_of

ROOT = Path(__file__).parents[1]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
TARGETS = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)[0].split()
OURS = ("lab", "benchmarks", "training", "tests")
# The target `train` names its module by a variable.
MODELS = re.findall(r"MODEL=(\w+(?:\|\w+)+)", MAKEFILE)[0].split("|")
_COMMAND = re.compile(rf"python3? -m ((?:{'|'.join(OURS)})(?:\.\w+)*)")
_SECONDS = 20  # in which a command must have shown its help
# Starts each command in this one process, which imports PyTorch once; a command that works instead is interrupted.
_STARTER = f"""
import contextlib, io, json, re, runpy, signal, sys, traceback

def late(*_):
    raise TimeoutError("it works instead of showing its help")

def helped(name, *words):
    said, sys.argv, ended = io.StringIO(), [name, *words, "--help"], "it does not end by showing its help"
    run = runpy.run_path if name.endswith(".py") else runpy.run_module
    signal.alarm({_SECONDS})
    with contextlib.redirect_stdout(said):
        try:
            run(name, run_name="__main__")
        except SystemExit as end:
            ended = "" if not end.code else f"it ends with {{end.code}}"
        except BaseException:
            ended = traceback.format_exc()
    signal.alarm(0)
    return ended, said.getvalue()

signal.signal(signal.SIGALRM, late)
found = {{}}
for name in json.load(sys.stdin):
    ended, said = helped(name)
    # What is in braces may be subcommands, which have options of their own.
    parts = [helped(name, word) for words in re.findall("[{{]([^}}]*)[}}]", said)[:1] for word in words.split(",")]
    found[name] = [ended + "".join(wrong for wrong, _ in parts), said + "".join(told for _, told in parts)]
json.dump(found, sys.stdout)
"""


def listed(*patterns: str) -> list[Path]:
    """The files of the repository with these names."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    found = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return [ROOT / each for each in found if (ROOT / each).is_file()]


@cache
def commands() -> tuple[str, ...]:
    """Each module that a document or a comment starts with ``python -m``, and each file that can be started."""
    named = {
        name
        for path in listed("*.md", "*.py", "*.toml", "*.yaml", "*.yml", "*.json", "Makefile", "Dockerfile")
        for name in _COMMAND.findall(path.read_text("utf-8"))
    }
    guarded = set()
    for path in listed("*.py"):
        if re.search(r'^if __name__ == "__main__":', path.read_text("utf-8"), re.MULTILINE):
            parts = path.relative_to(ROOT).with_suffix("").parts
            whole = ".".join(parts).removesuffix(".__main__")
            guarded.add(whole if parts[0] in OURS else str(path.relative_to(ROOT)))
    return tuple(sorted((named | guarded | {f"training.{model}" for model in MODELS}) - {"training"}))


@cache
def helped() -> dict[str, tuple[str, str]]:
    """For each command with ``--help``: what is wrong with its end, empty if nothing is, and the help itself."""
    result = subprocess.run(
        [sys.executable, "-c", _STARTER],
        input=json.dumps(commands()),
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=600,
        check=True,
    )
    found: dict[str, tuple[str, str]] = json.loads(result.stdout)
    return found


@pytest.mark.parametrize("command", commands())
def test_a_command_shows_its_help_and_does_nothing_else(command: str) -> None:
    wrong, said = helped()[command]
    assert not wrong and said.startswith("usage:")


def test_the_options_that_documents_name_exist() -> None:
    """An option that stands behind a command is in the command's help, or in that of a subcommand."""
    unknown = []
    for path in listed("*.md", "*.py", "Makefile"):
        for line in path.read_text("utf-8").splitlines():
            for match in _COMMAND.finditer(line):
                rest = re.split(r"[`|;)>&]|  ", line[match.end() :])[0]
                options = re.findall(r"(?<= )--[a-z][\w-]*", rest)
                text = helped()[match[1]][1] if match[1] in commands() else "".join(options)
                unknown += [f"{path.name}: {match[0]} {each}" for each in options if each not in text]
    assert not unknown


def planned(*words: str) -> subprocess.CompletedProcess[str]:
    """What make says that it would run, by a make that knows nothing of the one that may have started these tests."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    return subprocess.run(
        ["make", "-n", *words], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize("target", TARGETS)
def test_make_reads_each_target(target: str) -> None:
    read = planned(target)
    assert read.returncode == 0 and read.stdout.strip() and not read.stderr.strip()
    for name in _COMMAND.findall(read.stdout):
        assert name in commands()


def test_each_target_is_explained() -> None:
    explained = set(re.findall(r"^# make ([\w-]+)", MAKEFILE, re.MULTILINE))
    assert explained | {"chromium", "haproxy"} == set(TARGETS)


@pytest.mark.parametrize("target", ["check", "test", "test-all"])
def test_make_runs_the_tests_that_it_is_asked_for(target: str) -> None:
    """And says nothing of all tests, which it did not run."""
    asked = planned(target, "ARGS=tests/rooms -x").stdout
    ran = [line for line in asked.splitlines() if "-m pytest" in line]
    assert len(ran) == 1 and ran[0].endswith("tests/rooms -x") and "all tests" not in ran[0]
    assert ("--ignore tests/browser" in ran[0]) is (target == "check")
    assert "tests/rooms" not in planned(target).stdout


def test_an_environment_that_is_a_link_is_ignored_too(tmp_path: Path) -> None:
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / ".venv").symlink_to("elsewhere")
    subprocess.run(["git", "init", "-q"], cwd=tmp_path, check=True)
    seen = subprocess.run(["git", "status", "--short"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert ".venv" not in seen.stdout and ".gitignore" in seen.stdout


def test_make_test_brings_what_the_tests_need() -> None:
    read = planned("test").stdout
    for module in ("tests.browser.chromium", "benchmarks.balancer"):
        assert read.index(module) < read.index("-m pytest")


@pytest.mark.filterwarnings("ignore:'training.* found in sys.modules")  # another test has imported it
@pytest.mark.parametrize("model", MODELS)
def test_make_train_starts_each_training(model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the words that the Makefile gives, a training gets as far as to look for its texts, which are not there."""
    variables = [f"MODEL={model}", f"CORPORA={tmp_path}", *([f"BASE={tmp_path}"] if model == "minilm" else [])]
    made = planned("train", *variables)
    words = shlex.split(made.stdout.splitlines()[-1])
    assert words[1:3] == ["-m", f"training.{model}"]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", words[2:])
    with pytest.raises(Exception, match="No such file"):
        runpy.run_module(words[2], run_name="__main__")


@pytest.mark.parametrize("module", [bert, gpt2, minilm])
def test_a_training_goes_through_the_schedule_that_its_card_names(module: object, tmp_path: Path) -> None:
    shipped: Schedule = module.SCHEDULE  # type: ignore[attr-defined]
    (model_id,) = (e.id for e in CATALOGUE if ships(e) and module.__name__.endswith(e.id.removeprefix("lab-")))  # type: ignore[attr-defined]
    card = (ROOT / "lab/models/embedded" / model_id / "MODEL_CARD.md").read_text("utf-8")
    constant, decay = re.findall(r"--until ([\d.]+) --decay ([\d.]+)", card)[0]
    assert (shipped.constant, shipped.decay) == (float(constant) * 1e6, float(decay) * 1e6)
    parser = argument_parser(None, tmp_path, shipped)
    for words, expected in (
        ("", shipped),
        ("--until 3", Schedule(3_000_000, 0)),
        ("--until 3 --decay 1 --warm-up 2", Schedule(3_000_000, 1_000_000, 2_000_000)),
        ("--warm-up 1", Schedule(shipped.constant, shipped.decay, 1_000_000)),
    ):
        assert schedule_of(parser.parse_args(["--corpora", str(tmp_path), *words.split()])) == expected
