"""Models from the Hub: asked for by size first, safetensors only, and a plain sentence without a network."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
import torch
import transformers
from huggingface_hub.errors import HfHubHTTPError, LocalEntryNotFoundError
from safetensors.torch import load_file, save_file

from lab.models import hub
from lab.models.catalogue import CATALOGUE, ModelCard, ModelUnavailable, card
from lab.models.loading import load_model
from lab.models.proof import prove
from lab.models.trace import trace
from tests.conftest import TinyCheckpoint

ROOT = Path(__file__).parents[2]
ON_THE_HUB = [entry for entry in CATALOGUE if entry.repository is not None]
BERT_BASE = {
    "config.json": 570,
    "model.safetensors": 440_449_768,
    "tokenizer.json": 466_062,
    "tokenizer_config.json": 48,
    "vocab.txt": 231_508,
    "pytorch_model.bin": 440_473_133,
    "tf_model.h5": 536_063_208,
    "README.md": 10_000,
    "coreml/model.mlpackage/weights.bin": 532_000_000,
    "onnx/config.json": 600,
    "onnx/model.safetensors": 440_000_000,
    "rust_model.ot": 500_000_000,
    ".gitattributes": 100,
    "flax_model.msgpack": 438_000_000,
}
DANGEROUS = (
    "pytorch_model.bin",
    "pytorch_model-00001-of-00002.bin",
    "model.pt",
    "model.pth",
    "model.ckpt",
    "model.pkl",
    "model.pickle",
    "model.bin",
    "model.safetensors.bin",
    "model.safetensors.index.pkl",
    "model.safetensors/data.pkl",
    "training_args.bin",
    "optimizer.pt",
    "modeling_bert.py",
    "tf_model.h5",
    "flax_model.msgpack",
    "model.joblib",
    "sub/model.safetensors",
    "model.npz",
)


@dataclass
class FakeHub:
    """A Hub in memory: what it offers, where a download lands, and what it was asked."""

    files: dict[str, int]
    folder: Path
    error: Exception | None = None

    def __post_init__(self) -> None:
        self.downloads: list[list[str]] = []

    def model_info(self, repository: str, files_metadata: bool) -> Any:
        @dataclass
        class Sibling:
            rfilename: str
            size: int

        @dataclass
        class Info:
            siblings: list[Sibling]

        assert repository and files_metadata
        if self.error is not None:
            raise self.error
        return Info([Sibling(name, size) for name, size in self.files.items()])

    def snapshot_download(
        self, repository: str, allow_patterns: list[str], local_files_only: bool = False, tqdm_class: Any = None
    ) -> str:
        if local_files_only:
            raise LocalEntryNotFoundError(f"{repository} is not in the cache")
        if self.error is not None:
            raise self.error
        self.downloads.append(allow_patterns)
        return str(self.folder)


@pytest.fixture
def fake_hub(tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch) -> FakeHub:
    fake = FakeHub(dict(BERT_BASE), tiny_checkpoint("bert"))
    monkeypatch.setattr(hub, "HfApi", lambda: fake)
    monkeypatch.setattr(hub, "snapshot_download", fake.snapshot_download)
    return fake


def _bert_base() -> ModelCard:
    entry = card("bert-base-uncased")
    assert entry is not None
    return entry


def test_a_download_brings_what_is_read_and_nothing_else(fake_hub: FakeHub) -> None:
    planned = hub.plan(_bert_base())
    assert set(planned.files) == {
        "config.json",
        "model.safetensors",
        "tokenizer.json",
        "tokenizer_config.json",
        "vocab.txt",
    }
    assert planned.megabytes == 441

    model = load_model("bert-base-uncased")
    assert sorted(fake_hub.downloads[0]) == sorted(planned.files) and len(fake_hub.downloads) == 1
    assert model.id == "bert-base-uncased"
    assert prove(model, trace(model, "The cat sat.")).passed


class _LocalHub(BaseHTTPRequestHandler):
    """One repository of the Hub, with the files of ``folder``, over HTTP: what its client asks, and no more."""

    folder: Path
    commit = "1" * 40
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self._answer(whole=True)

    def do_HEAD(self) -> None:
        self._answer(whole=False)

    def _answer(self, whole: bool) -> None:
        files = sorted(path for path in self.folder.iterdir() if path.is_file())
        headers = {"Content-Type": "application/json"}
        if "/resolve/" in self.path:
            path = self.folder / self.path.rpartition("/")[2]
            body = path.read_bytes()
            etag = hashlib.sha256(body).hexdigest()
            headers = {"ETag": f'"{etag}"', "X-Repo-Commit": self.commit, "Content-Type": "application/octet-stream"}
        elif "/tree/" in self.path:
            rows = [
                {"type": "file", "path": path.name, "size": path.stat().st_size, "oid": f"{place:040x}"}
                for place, path in enumerate(files)
            ]
            body = json.dumps(rows).encode()
        else:
            siblings = [{"rfilename": path.name, "size": path.stat().st_size} for path in files]
            body = json.dumps({"id": "a/b", "sha": self.commit, "siblings": siblings}).encode()
        self.send_response(200)
        for name, value in {**headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        if whole:
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_download_tells_how_many_megabytes_have_arrived(
    tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The Hub's own client, against a server on this machine: its bars are what the progress is counted from."""
    folder = Path(shutil.copytree(tiny_checkpoint("modernbert"), tmp_path / "offered"))
    many = {"unread": torch.zeros(8_000_000)}  # 32 MB, so that they arrive in several pieces
    save_file({**load_file(folder / "model.safetensors"), **many}, folder / "model.safetensors")
    monkeypatch.setattr(_LocalHub, "folder", folder, raising=False)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _LocalHub)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    code = (
        "import json\nfrom lab.models import hub\nfrom lab.models.catalogue import ModelCard\nseen = []\n"
        "entry = ModelCard('b', 'B', 'modernbert', 32, '', 'a/b')\n"
        "folder = hub.download(entry, lambda *told: seen.append(told))\nprint(json.dumps([str(folder), seen]))\n"
    )
    here = {
        "HF_ENDPOINT": f"http://127.0.0.1:{server.server_port}",
        "HF_HUB_OFFLINE": "0",
        "HF_HOME": str(tmp_path / "hf"),
        "HF_HUB_DISABLE_XET": "1",
    }
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **here}, capture_output=True, text=True, check=True
    )
    server.shutdown()
    fetched, seen = json.loads(done.stdout.splitlines()[-1])
    total = round(sum(path.stat().st_size for path in Path(fetched).iterdir()) / 1e6)
    assert {planned for _, planned in seen} == {total} and total > 31
    assert seen[0] == [0.0, total] and seen[-1][0] == pytest.approx(total, abs=0.6)
    assert len({arrived for arrived, _ in seen}) > 3, "it tells on the way, not only at the end"
    assert load_model(Path(fetched)).config.family == "modernbert"


def test_shards_are_part_of_a_download(fake_hub: FakeHub) -> None:
    del fake_hub.files["model.safetensors"]
    shards = {"model-00001-of-00002.safetensors": 300_000_000, "model-00002-of-00002.safetensors": 140_000_000}
    fake_hub.files |= shards | {"model.safetensors.index.json": 25_000}
    planned = hub.plan(_bert_base())
    assert {*shards, "model.safetensors.index.json"} < set(planned.files)
    assert planned.megabytes == 441


@pytest.mark.parametrize("name", DANGEROUS)
def test_no_pickle_and_no_code_is_ever_asked_for(name: str, fake_hub: FakeHub) -> None:
    # The Hub's client matches patterns with fnmatch, where * also crosses folders.
    assert not any(fnmatch.fnmatch(name, pattern) for pattern in hub.WANTED)
    fake_hub.files[name] = 10
    assert name not in hub.plan(_bert_base()).files


def test_a_repository_that_grew_is_refused_before_the_download(fake_hub: FakeHub) -> None:
    fake_hub.files["model.safetensors"] = 900_000_000
    with pytest.raises(
        ModelUnavailable, match=r"is 901 MB now; the catalogue expects 440 MB, so nothing was downloaded"
    ):
        load_model("bert-base-uncased")
    assert fake_hub.downloads == []


def test_a_repository_without_safetensors_is_refused(fake_hub: FakeHub) -> None:
    fake_hub.files = {name: size for name, size in BERT_BASE.items() if not name.endswith(".safetensors")}
    with pytest.raises(ModelUnavailable, match="google-bert/bert-base-uncased offers no safetensors"):
        load_model("bert-base-uncased")
    assert fake_hub.downloads == []


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (ConnectionResetError("reset by peer"), "comes from the Hugging Face Hub, which cannot be reached"),
        (OSError(28, "No space left on device"), "could not be stored here: No space left on device"),
    ],
)
def test_a_full_disk_is_not_called_a_missing_network(
    fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    planned = hub.plan(_bert_base())
    monkeypatch.setattr(hub, "plan", lambda entry: planned)
    fake_hub.error = error
    with pytest.raises(ModelUnavailable, match=f"BERT base {said}"):
        load_model("bert-base-uncased")


def test_an_earlier_download_needs_no_network(fake_hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_hub.error = ConnectionError("no network")
    asked: list[bool] = []

    def in_the_cache(repository: str, allow_patterns: list[str], local_files_only: bool = False) -> str:
        asked.append(local_files_only)
        return str(fake_hub.folder)

    monkeypatch.setattr(hub, "snapshot_download", in_the_cache)
    assert load_model("bert-base-uncased").id == "bert-base-uncased"
    assert asked == [True]


def test_a_cached_folder_without_weights_is_no_model(
    fake_hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub, "snapshot_download", lambda *_, **__: str(tmp_path))
    assert hub.cached(_bert_base()) is None


@pytest.mark.parametrize("entry", ON_THE_HUB, ids=lambda entry: entry.id)
def test_offline_is_one_plain_sentence_for_every_model(entry: ModelCard) -> None:
    with pytest.raises(ModelUnavailable) as caught:
        load_model(entry.id)
    message = str(caught.value)
    assert message.startswith(f"{entry.title} comes from the Hugging Face Hub, which cannot be reached from here")
    assert "The models that ship with the lab work without a network." in message
    assert "\n" not in message and "Traceback" not in message


def test_a_server_that_answers_with_an_error(fake_hub: FakeHub) -> None:
    class Unavailable(HfHubHTTPError):
        def __init__(self) -> None:
            Exception.__init__(self, "503 Service Unavailable")

    fake_hub.error = Unavailable()
    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        load_model("gpt2")


def test_an_unreachable_hub_answers_the_same(tmp_path: Path) -> None:
    code = (
        "from lab.models.loading import ModelUnavailable, load_model\ntry:\n    load_model('gpt2')\nexcept "
        "ModelUnavailable as error:\n    print(error)\n"
    )
    nowhere = {"HF_ENDPOINT": "http://127.0.0.1:9", "HF_HUB_OFFLINE": "0", "HF_HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **nowhere},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("GPT-2 small comes from the Hugging Face Hub, which cannot be reached from here")
    assert done.stdout.count("\n") == 1


@pytest.fixture
def hub_cache(tiny_checkpoint: TinyCheckpoint, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A real cache of the Hub's client with bert-base-uncased in it (a tiny one, in shards); returns the snapshot."""
    repository, commit = tmp_path / "models--google-bert--bert-base-uncased", "0" * 40
    snapshot = repository / "snapshots" / commit
    (repository / "refs").mkdir(parents=True)
    (repository / "refs" / "main").write_text(commit)
    model = transformers.BertForPreTraining.from_pretrained(tiny_checkpoint("bert"))
    model.save_pretrained(snapshot, max_shard_size="40KB")
    for name in ("tokenizer.json", "tokenizer_config.json"):
        shutil.copy(tiny_checkpoint("bert") / name, snapshot)
    # As the client keeps it: blobs, and links to them.
    (repository / "blobs").mkdir()
    for path in snapshot.iterdir():
        blob = repository / "blobs" / path.name
        path.rename(blob)
        path.symlink_to(blob)
    real = hub.snapshot_download
    monkeypatch.setattr(hub, "snapshot_download", lambda *args, **kwargs: real(*args, cache_dir=tmp_path, **kwargs))
    return snapshot


def test_a_whole_download_in_the_cache_is_used(hub_cache: Path) -> None:
    assert hub.cached(_bert_base()) == hub_cache
    model = load_model("bert-base-uncased")
    assert prove(model, trace(model, "The cat sat.")).passed


@pytest.mark.parametrize(
    "missing",
    ["config.json", "tokenizer.json", "model.safetensors.index.json", "model-00002-of-*.safetensors"],
)
@pytest.mark.parametrize("how", ["no link", "no blob", "incomplete"])
def test_a_download_that_stopped_half_way_is_none(hub_cache: Path, missing: str, how: str) -> None:
    (path,) = hub_cache.glob(missing)
    blob = path.resolve()
    if how != "no blob":
        path.unlink()
    if how == "incomplete":
        blob.write_bytes(blob.read_bytes()[: blob.stat().st_size // 2])
        blob.rename(f"{blob}.incomplete")
    else:
        blob.unlink()
    assert hub.cached(_bert_base()) is None
    # It is asked for again, and offline that is one sentence.
    with pytest.raises(ModelUnavailable, match="BERT base comes from the Hugging Face Hub, which cannot be reached"):
        load_model("bert-base-uncased")


@pytest.mark.parametrize("content", [b"{", b"{}", b"[]", b'{"weight_map": 3}', b"\xff\xfe"])
def test_a_damaged_index_in_the_cache_is_no_model(hub_cache: Path, content: bytes) -> None:
    (hub_cache / "model.safetensors.index.json").resolve().write_bytes(content)
    assert hub.cached(_bert_base()) is None


ENTRY = ModelCard("a-model", "A model", "bert", 100, "MIT", "a/model")


class Slow:
    """In place of the Hub's download: each call of :meth:`arrive` brings megabytes."""

    def __init__(self) -> None:
        self.calls = 0
        self._arrived: list[float | None] = []
        self._more = threading.Condition()

    def arrive(self, megabytes: float | None) -> None:
        """So many have arrived in all; None: it is complete."""
        with self._more:
            self._arrived.append(megabytes)
            self._more.notify()

    def download(self, entry: ModelCard, seen: hub.Seen) -> Path:
        self.calls += 1
        while True:
            with self._more:
                assert self._more.wait_for(lambda: self._arrived, timeout=20)
                megabytes = self._arrived.pop(0)
            if megabytes is None:
                return Path("/nowhere")
            seen(megabytes, entry.megabytes)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch) -> Iterator[Slow]:
    fake = Slow()
    monkeypatch.setattr(hub, "download", fake.download)
    yield fake
    fake.arrive(None)
    until(lambda: hub.running(ENTRY.id) is None)


def until(true: Callable[[], bool]) -> None:
    """Wait for another thread."""
    end = time.monotonic() + 20
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_it_tells_how_far_it_is_and_is_gone_when_it_is_complete(slow: Slow) -> None:
    assert hub.running(ENTRY.id) is None
    found = hub.start(ENTRY)
    assert (found.done, found.planned, found.share) == (0.0, 0, 0.0)
    slow.arrive(25.0)
    until(lambda: found.done == 25.0)
    assert (found.planned, found.share) == (100, 0.25)
    assert hub.running(ENTRY.id) is found
    slow.arrive(None)
    until(lambda: hub.running(ENTRY.id) is None)
    assert found.error is None


def test_whoever_asks_in_between_waits_for_the_same_one(slow: Slow) -> None:
    first = hub.start(ENTRY)
    slow.arrive(5.0)
    assert hub.start(ENTRY) is first
    until(lambda: first.done == 5.0)
    assert slow.calls == 1


def test_stopped_it_ends_with_the_next_bytes_and_can_begin_anew(slow: Slow) -> None:
    first = hub.start(ENTRY)
    slow.arrive(5.0)
    until(lambda: first.done == 5.0)
    first.stop()
    assert hub.running(ENTRY.id) is None
    slow.arrive(6.0)
    until(lambda: not any(thread.name == f"job download {ENTRY.id}" for thread in threading.enumerate()))
    assert (first.done, first.error) == (5.0, None)
    again = hub.start(ENTRY)
    assert again is not first and slow.calls <= 2


def test_why_it_failed_is_kept_until_somebody_tries_again(slow: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(entry: ModelCard, seen: hub.Seen) -> Path:
        raise ModelUnavailable("The Hub cannot be reached.")

    with monkeypatch.context() as patch:
        patch.setattr(hub, "download", refuse)
        failed = hub.start(ENTRY)
        until(lambda: failed.error is not None)
    assert hub.running(ENTRY.id) is failed and str(failed.error) == "The Hub cannot be reached."
    assert hub.start(ENTRY) is not failed
