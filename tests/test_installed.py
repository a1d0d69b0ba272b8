"""The lab installed from its wheel, started by its one command in a folder without a checkout."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import tomllib
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ClientState_pb2 import ClientState
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg
from streamlit.proto.NewSession_pb2 import Config, NewSession
from websockets.sync.client import connect

import lab
from benchmarks.server import Lab, free_port, stop, wait_until_healthy
from benchmarks.visitor import visiting
from lab import first_visit
from lab.__main__ import NoCheckpoint, checkpoints, main
from lab.course.pages import BENCHES, LESSONS, Page
from lab.first_visit import SUBPROTOCOLS
from tests.checkpoints import write_checkpoint
from tests.installed import ROOT, Installed, install, outside
from tests.pages.taken import look_at_all_steps, taken_figures
from tests.test_config import CONFIG
from tests.thorough import some

MEGABYTES = 80
# Settings of a folder in which somebody happens to start the lab.
OTHERS = '[client]\ntoolbarMode = "developer"\n[theme]\nfont = "monospace"\n[theme.light]\nprimaryColor = "#ff0000"\n'
_PROOF = """
import lab

traced = lab.trace(lab.load_model("lab-minilm"), "The cat sat.")
assert lab.prove(traced.model, traced).passed and lab.__file__.startswith({place!r})
print(lab.__file__)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    return install(tmp_path_factory.mktemp("installed"))


@contextmanager
def started(installed: Installed, folder: Path, *options: str) -> Iterator[Lab]:
    port = free_port()
    command = [str(installed.scripts / "inside-bert"), "--no-browser", "--port", str(port), *options]
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, env=outside())
    server = Lab(f"http://127.0.0.1:{port}", folder / "server.log", process)
    try:
        wait_until_healthy(server)
        yield server
    finally:
        stop(process)


def test_the_wheel_has_all_of_the_lab_and_nothing_beside_it(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
        named = {line.partition(": ")[2] for line in _metadata(wheel) if line.startswith("Requires-Dist: ")}
    carried = {
        path.relative_to(ROOT).as_posix()
        for path in (ROOT / "lab").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    screen = {"Home.py", ".streamlit/config.toml", *(f"pages/{path.name}" for path in (ROOT / "pages").glob("*.py"))}
    assert packed == carried | {f"lab/app/{name}" for name in screen}
    pins = [line for line in (ROOT / "requirements.txt").read_text("utf-8").splitlines() if line[:1] not in ("", "#")]
    assert _canonical(named) == _canonical(pins)
    assert installed.wheel.stat().st_size < MEGABYTES * 1e6


def test_the_tests_build_it_as_pip_does() -> None:
    (builder,) = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["build-system"]["requires"]
    assert builder in (ROOT / "requirements-dev.txt").read_text("utf-8").splitlines()


def test_it_serves_in_any_folder_by_its_own_settings(
    installed: Installed, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Those of the folder do not count; the models that ship and those of --models can be chosen.

    After a first visit, a lesson is there at once.
    """
    write_checkpoint(tmp_path / "models" / "mine", "bert")
    here = tmp_path / "here"
    (here / ".streamlit").mkdir(parents=True)
    (here / ".streamlit" / "config.toml").write_text(OTHERS)
    with started(installed, here, "--models", str(tmp_path / "models")) as server:
        assert first_visit.main([server.url]) == 0
        again = first_visit.visit(server.url, ["Self-attention"])
        words, models = asyncio.run(_look(server))
        session = _session(server)
        assert "Traceback" not in server.log
    assert again < float(capsys.readouterr().out.split(" took ")[1].split(" s;")[0]) / 3
    assert any("blank" in word.lower() for word in words), words
    assert models[:3] == ["lab-minilm", "lab-bert", "lab-gpt2"] and models[-1] == "mine"
    assert session.config.toolbar_mode == Config.ToolbarMode.Value(CONFIG["client"]["toolbarMode"].upper())
    assert session.custom_theme.light.primary_color == CONFIG["theme"]["light"]["primaryColor"]
    assert installed.told.read_text() == ""


@pytest.mark.parametrize("page", some((*BENCHES, *LESSONS), 1), ids=lambda each: each.id)
def test_a_proof_and_the_lines_behind_figures_run_where_it_is_installed(
    installed: Installed, tmp_path: Path, page: Page
) -> None:
    with taken_figures() as figures:
        look_at_all_steps(page.page)
    scripts = {key: figure.script(key) for key, figure in figures.items()}
    assert scripts or page.id == "tokenization"
    scripts["a proof"] = _PROOF.format(place=str(installed.packages))
    (tmp_path / "scripts.json").write_text(json.dumps(scripts), "utf-8")
    shutil.copy(ROOT / "tests" / "scripts.py", tmp_path)
    told = installed.run("python", "scripts.py", "scripts.json", folder=tmp_path)
    assert told == f"{len(scripts)} scripts ran\n"
    assert installed.told.read_text() == ""


def test_it_says_its_version_and_how_it_is_called(installed: Installed, tmp_path: Path) -> None:
    assert installed.run("inside-bert", "--version", folder=tmp_path) == f"Inside BERT {lab.__version__}\n"
    told = installed.run("python", "-m", "lab", "--help", folder=tmp_path)
    assert all(option in told for option in ("--port", "--no-browser", "--models FOLDER"))


def test_a_folder_is_a_checkpoint_or_has_some(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for empty in (tmp_path, tmp_path / "absent"):
        with pytest.raises(NoCheckpoint):
            checkpoints(empty)
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "config.json").write_text("{}")
    (tmp_path / "none").mkdir()
    assert checkpoints(tmp_path) == [tmp_path / "one", tmp_path / "two"]
    assert checkpoints(tmp_path / "one") == [tmp_path / "one"]
    assert main(["--models", str(tmp_path / "one"), "--models", str(tmp_path / "none")]) == 2
    assert f"no checkpoint in {tmp_path / 'none'}" in capsys.readouterr().err


def _canonical(requirements: Iterable[str]) -> set[str]:
    read = [Requirement(each) for each in requirements]
    return {str(each).replace(each.name, canonicalize_name(each.name)) for each in read}


def _metadata(wheel: zipfile.ZipFile) -> list[str]:
    (name,) = [name for name in wheel.namelist() if name.endswith(".dist-info/METADATA")]
    return wheel.read(name).decode().splitlines()


async def _look(server: Lab) -> tuple[list[str], list[str]]:
    """Open the first page and a lesson; return what the first says, and the models that the second offers."""
    async with visiting(server.url) as visitor:
        first = await visitor.open("")
        words = [*visitor.words]
        lesson = await visitor.open("Self-attention")
        assert not first.errors and not lesson.errors, (first, lesson)
        return words, visitor.options("model")


def _session(server: Lab) -> NewSession:
    """What the server tells a browser of its settings."""
    with connect(server.url.replace("http", "ws", 1) + "/_stcore/stream", subprotocols=SUBPROTOCOLS) as socket:
        socket.send(BackMsg(rerun_script=ClientState(page_name="")).SerializeToString())
        while True:
            message = ForwardMsg.FromString(socket.recv(timeout=60, decode=False))
            if message.HasField("new_session"):
                return message.new_session
