"""Models from the Hugging Face Hub: their size is checked first, then they are downloaded in the background."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from huggingface_hub import HfApi, snapshot_download
from huggingface_hub.errors import HfHubHTTPError, HTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled
from tqdm.auto import tqdm

from lab.models import jobs
from lab.models.catalogue import ModelCard, ModelUnavailable
from lab.models.jobs import Job, Watcher

# The files to request. Files of these kinds cannot contain a pickle or code.
WANTED = (
    "config.json",
    "model.safetensors",
    "model-*-of-*.safetensors",
    "model.safetensors.index.json",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocab.txt",
    "vocab.json",
    "merges.txt",
)
_VOCABULARIES = (("tokenizer.json",), ("vocab.txt",), ("vocab.json", "merges.txt"))
_NETWORK_ERRORS = (HfHubHTTPError, LocalEntryNotFoundError, OfflineModeIsEnabled, HTTPError, ConnectionError)


# A function that receives the number of megabytes that have arrived, and the number of all megabytes.
Seen = Callable[[float, int], None]


@dataclass(frozen=True)
class Download:
    """A planned download: the files and the total size of the files."""

    files: tuple[str, ...]
    megabytes: int


def _unavailable(entry: ModelCard, error: BaseException) -> ModelUnavailable:
    return ModelUnavailable(
        f"{entry.title} comes from the Hugging Face Hub, which cannot be reached from here "
        f"({type(error).__name__}). The models that ship with the lab work without a network."
    )


def cached(entry: ModelCard) -> Path | None:
    """Return the folder of an earlier complete download, or None if there is none. Never uses the network.

    The folder is checked, because the Hub's client also returns folders of incomplete downloads.
    """
    try:
        folder = Path(snapshot_download(str(entry.repository), allow_patterns=list(WANTED), local_files_only=True))
    except LocalEntryNotFoundError:
        return None
    return folder if _complete(folder) else None


def _complete(folder: Path) -> bool:
    """Return whether all necessary files are in the folder: the configuration, every shard, a vocabulary."""
    shards = {"model.safetensors"}
    index = folder / "model.safetensors.index.json"
    if index.is_file() and not (folder / "model.safetensors").is_file():
        try:
            shards = set(json.loads(index.read_text("utf-8"))["weight_map"].values())
        except (ValueError, KeyError, TypeError, AttributeError):
            return False
    # A link in the cache may point to a missing blob; is_file() follows links.
    vocabulary = any(all((folder / name).is_file() for name in names) for names in _VOCABULARIES)
    return vocabulary and all((folder / name).is_file() for name in ("config.json", *shards))


def plan(entry: ModelCard) -> Download:
    """Ask the Hub for the model's files and their sizes. Raises :class:`ModelUnavailable`."""
    try:
        info = HfApi().model_info(str(entry.repository), files_metadata=True)
    except _NETWORK_ERRORS as error:
        raise _unavailable(entry, error) from error
    # Match whole paths, as the download does, so that onnx/config.json does not count as config.json.
    chosen = [s for s in info.siblings or [] if any(fnmatchcase(s.rfilename, pattern) for pattern in WANTED)]
    if not any(s.rfilename.endswith(".safetensors") for s in chosen):
        raise ModelUnavailable(f"{entry.repository} offers no safetensors, and this lab reads nothing else.")
    return Download(tuple(s.rfilename for s in chosen), round(sum(s.size or 0 for s in chosen) / 1e6))


def _counting(seen: Seen, planned: Download) -> Any:
    """Return a progress bar for the Hub's client that draws nothing and calls ``seen``.

    The client has one bar for bytes received and one for bytes written, and may count in either; the fuller bar counts.
    """
    counts: dict[int, float] = {}
    lock = threading.Lock()

    class Counting(tqdm):
        def __init__(self, *args: Any, **options: Any) -> None:
            self.bytes = options.get("unit") == "B"  # false for the bar that counts files
            super().__init__(*args, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> bool | None:
            if self.bytes:
                with lock:
                    counts[id(self)] = counts.get(id(self), 0.0) + (n or 0)
                    arrived = max(counts.values())
                seen(min(arrived / 1e6, planned.megabytes), planned.megabytes)
            return None

    return Counting


def download(entry: ModelCard, seen: Seen = lambda arrived, planned: None) -> Path:
    """Return the folder of ``entry``'s checkpoint; download the checkpoint if it is not here yet.

    Several threads call ``seen`` whenever bytes have arrived; an exception it raises ends the download. Refuses a
    download more than a quarter larger than in the catalogue. Raises :class:`ModelUnavailable`.
    """
    folder = cached(entry)
    if folder is not None:
        return folder
    planned = plan(entry)
    if planned.megabytes > 1.25 * entry.megabytes:
        raise ModelUnavailable(
            f"{entry.repository} is {planned.megabytes} MB now; the catalogue expects {entry.megabytes} MB, so nothing "
            "was downloaded."
        )
    try:
        seen(0.0, planned.megabytes)
        files, bar = list(planned.files), _counting(seen, planned)
        return Path(snapshot_download(str(entry.repository), allow_patterns=files, tqdm_class=bar))
    except _NETWORK_ERRORS as error:
        raise _unavailable(entry, error) from error
    except OSError as error:
        raise ModelUnavailable(f"{entry.title} could not be stored here: {error.strerror or error}.") from error


def start(entry: ModelCard, watcher: Watcher | None = None) -> Job:
    """Begin the download of ``entry``, or join the download if it is already running.

    Parts of a stopped download are kept and not fetched again. It goes on even if the ``watcher`` leaves the lab.
    """

    def fetch(job: Job) -> None:
        download(entry, job.tell)

    return jobs.start(key_of(entry.id), fetch, ModelUnavailable, watcher)


def running(model_id: str) -> Job | None:
    """Return the running or failed download of a model; None if there is none, or if the download is complete."""
    return jobs.running(key_of(model_id))


def key_of(model_id: str) -> str:
    """The key of the job that downloads a model."""
    return f"download {model_id}"
