"""Experiment 1 part by part: serial, in processes and on a cluster that loses a worker, to the bit the same."""

from __future__ import annotations

import lzma
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import numpy as np
import pyarrow.parquet as pq
import pytest

from lab.evidence import relation_cases, shipped
from lab.evidence.__main__ import main
from lab.evidence.relation_cases import find_cases
from lab.evidence.scale import cluster, parquet_parts
from lab.evidence.scale.parquet_parts import TreebankPart, plan
from lab.evidence.treebank import EWT, halves_of
from lab.evidence.word_kinds import tags_of
from lab.experiments.grammar.measure import GrammarTest, Named, compared
from lab.models.loading import load_model
from lab.models.twin import twin
from tests.conftest import TinyCheckpoint
from tests.thorough import at_night

ROOT = Path(__file__).parents[2]
# A sentence of two words, with its relation to fill in.
GO_ON = "1\tGo\t_\t_\t_\t_\t0\troot\t_\t_\n2\ton\t_\t_\t_\t_\t1\t{}\t_\t_\n\n"
# Sentences of the treebank that ships, and how many of them are a part here: seven parts of each reader.
SENTENCES, CHUNK = 60, 9


@pytest.fixture(scope="module")
def treebank(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("treebank") / "some.conllu"
    blocks = lzma.decompress(EWT.read_bytes()).decode().split("\n\n")
    path.write_text("\n\n".join(blocks[:SENTENCES]) + "\n\n", "utf-8")
    return path


@pytest.fixture(scope="module")
def folder(tiny_checkpoint: TinyCheckpoint) -> Path:
    return tiny_checkpoint("bert", 3)


@pytest.fixture(scope="module", autouse=True)
def small_parts() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(relation_cases, "CHUNK", CHUNK)
        yield


Run = Callable[..., Path]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory, treebank: Path, folder: Path) -> Run:
    """``run(*more)``: the command, and the folder of its results."""

    def ran(*more: str, to: Path | None = None) -> Path:
        to = to or tmp_path_factory.mktemp("results")
        assert main(["grammar", "--model", str(folder), "--treebank", str(treebank), "--to", str(to), *more]) == 0
        return to

    return ran


@pytest.fixture(scope="module")
def serial(run: Run) -> Path:
    return run("--processes", "1")


def result_in(folder: Path) -> GrammarTest:
    made = shipped.signed(folder)
    assert made is not None
    found = shipped.read(folder, GrammarTest, made.model, made.data)
    assert found is not None
    return found


def assert_same_to_the_bit(one: Path, other: Path) -> None:
    files = sorted(path.relative_to(one) for path in one.rglob("*.parquet"))
    assert len(files) == 3 + 2 * -(-59 // CHUNK)  # one of the sixty sentences has one word
    assert files == sorted(path.relative_to(other) for path in other.rglob("*.parquet"))
    for path in files:
        assert (one / path).read_bytes() == (other / path).read_bytes(), path


def test_parts_give_what_the_page_gives(serial: Path, treebank: Path, folder: Path) -> None:
    """The page reads both halves at once, in memory; the command goes by files."""
    model, (a, b) = load_model(folder), halves_of(treebank)
    own, untrained = (find_cases(each, a.sentences + b.sentences) for each in (model, twin(model, 0)))
    named = Named(own, untrained, tags_of(a.sentences + b.sentences))
    page, here = compared(named, len(a.sentences), b.documents), result_in(serial)
    assert repr(page.rows) == repr(here.rows) and len(page.rows) > 10
    assert all(np.array_equal(page.cases[name], each) for name, each in here.cases.items())
    assert here.made is not None and here.made.model == shipped.model_hash(model)


@at_night
def test_processes_give_the_same(run: Run, serial: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A new process runs the main module again. Here that is none of ours: pytest, or the page that AppTest ran last.
    monkeypatch.setitem(sys.modules, "__main__", ModuleType("__main__"))
    assert_same_to_the_bit(serial, run("--processes", "2"))


def test_who_is_killed_goes_on_where_he_stopped(
    run: Run, serial: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed while it writes the fifth part; of the first four one is torn, and one is of other weights."""
    write = TreebankPart.write
    done: list[str] = []

    def stop(part: TreebankPart, where: Path, content: bytes) -> None:
        if len(done) == 4:
            (where / f"{part.file}.unfinished").write_bytes(content[:100])
            raise KeyboardInterrupt
        done.append(part.file)
        write(part, where, content)

    monkeypatch.setattr(TreebankPart, "write", stop)
    with pytest.raises(AssertionError):  # its exit code is not 0
        run("--processes", "1", to=tmp_path)
    assert sorted(path.name for path in (tmp_path / "parts").glob("*.parquet")) == sorted(done)
    torn, foreign, *whole = (tmp_path / "parts" / name for name in done)
    torn.write_bytes(torn.read_bytes()[:-100])
    table = pq.read_table(foreign)
    pq.write_table(table.replace_schema_metadata({**table.schema.metadata, b"model": b"other"}), foreign)
    before = [path.stat().st_mtime_ns for path in whole]
    monkeypatch.setattr(TreebankPart, "write", write)
    run("--processes", "1", to=tmp_path)
    assert [path.stat().st_mtime_ns for path in whole] == before
    assert_same_to_the_bit(serial, tmp_path)
    monkeypatch.setattr(parquet_parts, "find_cases", None)  # whatever stands is not computed
    run("--processes", "1", to=tmp_path)


def test_a_part_is_of_its_model_its_sentences_and_its_code(
    treebank: Path, folder: Path, tmp_path: Path, tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = (half.sentences for half in halves_of(treebank))

    def planned(model: Path = folder, sentences: tuple = a + b) -> TreebankPart:
        return plan(load_model(model), str(model), sentences)[0]

    planned().write(tmp_path, parquet_parts.measured(planned()))
    assert planned().is_written(tmp_path)
    others = (planned(model=tiny_checkpoint("bert", 4)), planned(sentences=b + a))
    assert {other.file for other in others} == {planned().file} and not any(
        other.is_written(tmp_path) for other in others
    )
    monkeypatch.setattr(parquet_parts, "_code", lambda: ("of tomorrow",))
    assert not planned().is_written(tmp_path)


def test_other_weights_under_the_same_name_are_refused(treebank: Path, folder: Path) -> None:
    a, b = (half.sentences for half in halves_of(treebank))
    (part, *_) = plan(load_model(folder), str(folder), a + b)
    with pytest.raises(parquet_parts.OtherWeights, match="other weights"):
        parquet_parts.measured(TreebankPart(part.reader, 0, part.sentences, part.model, "0" * 64))


class Cluster:
    """A scheduler and two workers, each a process of its own."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / "scheduler.json"
        self.scheduler = self._start("scheduler", "--port", "0", "--host", "127.0.0.1")
        until(self._file.exists)
        self.workers = [
            self._start("worker", "--name", name, "--nthreads", "1", "--no-nanny", "--host", "127.0.0.1")
            for name in ("one", "two")
        ]

    def _start(self, *what: str) -> subprocess.Popen[bytes]:
        options = ("--scheduler-file", str(self._file), "--no-dashboard")
        return subprocess.Popen([sys.executable, "-m", "dask", *what, *options], cwd=ROOT, stderr=subprocess.DEVNULL)

    @property
    def address(self) -> str:
        import json

        return str(json.loads(self._file.read_text())["address"])

    def end(self) -> None:
        for process in (*self.workers, self.scheduler):
            process.kill()
            process.wait()


def until(true: Callable[[], object], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.05)


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Cluster]:
    found = Cluster(tmp_path)
    yield found
    found.end()


@at_night
def test_a_cluster_that_loses_a_worker_gives_the_same(run: Run, serial: Path, started: Cluster, tmp_path: Path) -> None:
    """One worker is stopped before it can do its share, and killed when the other one has done a part."""
    from distributed import Client

    with Client(started.address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=120)
        names = {about["name"]: address for address, about in client.scheduler_info()["workers"].items()}
        victim = started.workers[0]
        os.kill(victim.pid, signal.SIGSTOP)
        to = tmp_path / "results"
        command = threading.Thread(target=run, args=("--scheduler", started.address), kwargs={"to": to})
        command.start()
        until(lambda: list(to.glob("parts/*.parquet")) or not command.is_alive())
        assert client.processing()[names["one"]], "it has parts to do"
        victim.kill()
        command.join(120)
    assert_same_to_the_bit(serial, to)


@pytest.mark.parametrize("listens", [False, True])
def test_a_scheduler_that_does_not_answer(
    treebank: Path,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    listens: bool,
) -> None:
    assert cluster.ANSWERS == 10
    monkeypatch.setattr(cluster, "ANSWERS", 1)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        if listens:
            silent.listen()
        address = f"tcp://127.0.0.1:{silent.getsockname()[1]}"
        begin = time.monotonic()
        asked = ["--model", str(folder), "--treebank", str(treebank), "--to", str(tmp_path), "--scheduler", address]
        assert main(["grammar", *asked]) == 1
    assert time.monotonic() - begin < 10
    assert f"No scheduler answers at {address}" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "model", "said"),
    [
        (None, "lab-bert", "There is no file"),
        ("They know.\n", "lab-bert", "is not CoNLL-U: a line of CoNLL-U has 10 columns"),
        ("1\tGo\t_\t_\t_\t_\t_\troot\t_\t_\n", "lab-bert", "'Go' has '_'"),
        ("1\tGo\t_\t_\t_\t_\t7\tobj\t_\t_\n", "lab-bert", "a head is beyond"),
        ("", "lab-bert", "has not the two sentences"),
        ("\udcff", "lab-bert", "no text in UTF-8"),
        (GO_ON.format("advmod") * 2, "lab-ber", "no model or folder called 'lab-ber'"),
        (GO_ON.format("xcomp") * 2, "lab-bert", "No relation of"),
    ],
)
def test_what_cannot_be_done_is_said_in_a_sentence(
    tmp_path: Path, content: str | None, model: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "some.conllu"
    if content is not None:
        path.write_bytes(content.encode("utf-8", "surrogateescape"))
    asked = ["grammar", "--model", model, "--treebank", str(path), "--to", str(tmp_path), "--processes", "1"]
    assert main(asked) == 2
    assert said in capsys.readouterr().err


def test_without_dask_the_command_says_what_to_install(
    treebank: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)  # as if it were not installed
    monkeypatch.delitem(sys.modules, cluster.__name__)
    monkeypatch.delattr("lab.evidence.scale.cluster")
    asked = ["--model", "lab-bert", "--treebank", str(treebank), "--scheduler", "tcp://127.0.0.1:1"]
    assert main(["grammar", *asked]) == 2
    assert "pip install -r requirements-cluster.txt" in capsys.readouterr().err


def test_processes_are_at_least_one(treebank: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["grammar", "--model", "lab-bert", "--treebank", str(treebank), "--processes", "0"]) == 2
    assert "1 or more" in capsys.readouterr().err
