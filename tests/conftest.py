"""Fixtures of every test, and the surroundings they run in: offline, one thread, no telemetry."""

from __future__ import annotations

import ctypes
import gc
import os
import platform
import tempfile
from collections.abc import Callable, Hashable, Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from hypothesis import settings

from tests.checkpoints import Family, write_checkpoint
from tests.thorough import THOROUGH, a_few

# Before torch or a tokenizer is imported by a test; the lab servers of tests/browser inherit it.
os.environ.update(
    HF_HUB_OFFLINE="1",
    HF_HUB_DISABLE_TELEMETRY="1",
    TOKENIZERS_PARALLELISM="false",
    OMP_NUM_THREADS="1",
    STREAMLIT_BROWSER_GATHER_USAGE_STATS="false",
    # Not the rooms of whoever runs the tests.
    LAB_ROOMS=f"sqlite:///{Path(tempfile.mkdtemp()) / 'rooms.db'}",
)

# The search for garbage goes through a million objects of PyTorch, Streamlit and five thousand tests: here it is rarer.
gc.set_threshold(50_000, 20, 50)

# One machine's slow moment is no failure, and the same commit always tries the same examples.
settings.register_profile("lab", deadline=None, derandomize=True, print_blob=True)
settings.load_profile("lab")

if TYPE_CHECKING:
    from benchmarks.server import Lab
    from lab.models.loading import LoadedModel

TinyCheckpoint = Callable[..., Path]
MOST = 3_000_000_000  # bytes


@pytest.fixture(scope="session")
def tiny_checkpoint(tmp_path_factory: pytest.TempPathFactory) -> TinyCheckpoint:
    """``tiny_checkpoint(family, seed=0)``: the folder of a tiny random checkpoint, written once a session.

    Families are those of :data:`tests.checkpoints.FAMILIES`. The folder is shared: copy it before
    changing a file in it.
    """
    root = tmp_path_factory.mktemp("checkpoints")
    written: dict[tuple[Family, int], Path] = {}

    def checkpoint(family: Family, seed: int = 0) -> Path:
        if (family, seed) not in written:
            written[family, seed] = write_checkpoint(root / f"{family}-{seed}", family, seed)
        return written[family, seed]

    return checkpoint


@pytest.fixture(scope="session")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A server of the lab for the whole session, for browsers and for visitors without one; its rooms are LAB_ROOMS."""
    from benchmarks.server import HOME, running_lab

    with running_lab(HOME, tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="session", autouse=True)
def charts_are_checked() -> None:
    """Every plain chart that a test draws is held against the schema of Vega-Lite."""
    from lab.charts.base import plain

    plain.CHECKED = True


@pytest.fixture(scope="session", autouse=True)
def shipped_models_are_read_once() -> Iterator[None]:
    """A model that ships is read from its file once, and shared by all tests: hundreds of them ask for it."""
    from lab.models import loading
    from lab.models.catalogue import EMBEDDED

    read = loading._load_folder
    shipped = cache(read)

    def load(model_id: str, folder: Path) -> LoadedModel:
        return (shipped if folder.parent == EMBEDDED else read)(model_id, folder)

    with patch.object(loading, "_load_folder", load):
        yield


# The runs of toys hold their toys, which are small (lab/toy/models.py).
_MAY_HOLD = {"number_run"}


@pytest.fixture(scope="session", autouse=True)
def no_result_holds_its_subject() -> Iterator[None]:
    """Whatever a test computes by :func:`lab.models.memo.once` keeps neither its run nor its model in memory."""
    from lab.models.memo import Memo, _parts

    def holds(value: object, subject: object) -> bool:
        return value is subject or any(holds(part, subject) for part in _parts(value))

    def get(self: Memo, subject: object, asked: Hashable, make: Callable[[], Any]) -> Any:
        def checked() -> Any:
            value = make()
            name = getattr(asked[0], "__name__", "") if isinstance(asked, tuple) and asked else ""
            assert name in _MAY_HOLD or not holds(value, subject), f"{name} keeps what it was computed from"
            return value

        return unchecked(self, subject, asked, checked)

    unchecked = Memo.get
    with patch.object(Memo, "get", get):
        yield


@pytest.fixture(scope="session", autouse=True)
def nobody_steps_back() -> Iterator[None]:
    """No thread gets the lowest priority: a test would wait for it as long as another worker computes."""
    with patch.object(os, "setpriority", lambda *_: None):
        yield


def pytest_collection_finish() -> None:
    """What is imported and collected stays to the end, so the search for garbage looks at the rest alone."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="module", autouse=True)
def large_things_do_not_pile_up(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a file, give back what it kept: hundreds of files share this process.

    A file's own cached functions keep every run that its tests asked for. Pages keep their models and
    runs as long as the process lives, and freed tensors stay with it.
    """
    yield
    for each in vars(request.module).values():
        if hasattr(each, "cache_clear") and each.__module__ == request.module.__name__:
            each.cache_clear()
    if resident() > MOST:
        import streamlit as st

        st.cache_resource.clear()
        gc.collect()
        if platform.libc_ver()[0] == "glibc":
            ctypes.CDLL(None).malloc_trim(0)


def resident() -> int:
    """Bytes of memory that this process has; 0 where the system does not tell."""
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if told.exists() else 0


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave the browser for last: what a unit test can tell, it tells first. By day, leave out what runs at night."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is not None)
    if THOROUGH or config.args != config.getini("testpaths"):  # whoever names a file or a test wants all of it
        by_day = [item for item in items if THOROUGH or item.get_closest_marker("thorough") is None]
    else:
        by_day = a_few([item for item in items if item.get_closest_marker("thorough") is None])
    kept = set(by_day)
    config.hook.pytest_deselected(items=[item for item in items if item not in kept])
    items[:] = by_day
