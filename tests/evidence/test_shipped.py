"""A result that ships says by which code it was measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pyarrow as pa
import pytest

from lab.evidence import shipped
from lab.models.catalogue import CATALOGUE, ships
from lab.models.loading import load_model
from training.evaluation.experiments import MEASURED, difference_of

MODELS = [entry.id for entry in CATALOGUE if ships(entry)]


def git(folder: Path, *words: str) -> str:
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    return subprocess.run(["git", *who, *words], cwd=folder, check=True, capture_output=True, text=True).stdout.strip()


def test_changed_code_is_marked_and_a_result_just_written_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab = tmp_path / "lab"
    (lab / "evidence" / "results").mkdir(parents=True)
    code, result, outside = lab / "code.py", lab / "evidence" / "results" / "a.parquet", tmp_path / "README.md"
    for path in (code, result, outside):
        path.write_text("one")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "all")
    head = git(tmp_path, "rev-parse", "HEAD")
    monkeypatch.setattr(shipped, "_LAB", lab)
    assert shipped.commit() == head
    result.write_text("two")
    outside.write_text("two")
    assert shipped.commit() == head
    code.write_text("two")
    assert shipped.commit() == f"{head}+"


@pytest.mark.parametrize("experiment", list(MEASURED))
@pytest.mark.parametrize("model_id", MODELS)
def test_no_result_that_ships_is_stale(experiment: str, model_id: str) -> None:
    """It is of the weights, the data and the code that are here: else run make evaluate, and look at what changed."""
    measured, model = MEASURED[experiment], load_model(model_id)
    where = shipped.folder(experiment, model_id)
    if measured.untestable(model):
        assert not where.exists()
        return
    made = shipped.signed(where)
    assert made is not None and (made.model, made.data) == (shipped.model_hash(model), measured.data_hash()), (
        f"stale: run python -m training.evaluation.experiments {experiment} {model_id}"
    )
    assert made.code == measured.code_hash, "measured by other code"


def test_two_results_differ_by_their_numbers_or_in_more() -> None:
    def tables(number: float, word: str = "a", last: int = 2) -> dict[str, pa.Table]:
        return {"t": pa.table({"word": [word], "list": [[1.0, number]], "count": [last], "nothing": [float("nan")]})}

    def mapping(*keys: str) -> dict[str, pa.Table]:
        each = [{"key": key, "value": {"shape": [1], "values": [float(ord(key))]}} for key in keys]
        return {"t": pa.table({"named": [each]})}

    assert difference_of(mapping("a", "b"), mapping("b", "a")) == 0
    assert difference_of(mapping("a", "b"), mapping("a", "c")) is None
    assert difference_of(tables(2.0), tables(2.0)) == 0
    assert difference_of(tables(0.5), tables(0.5 + 1e-5)) == pytest.approx(1e-5, rel=0.1)
    for other in (tables(2.0, word="b"), tables(2.0, last=3), {}, {"u": tables(2.0)["t"]}):
        assert difference_of(tables(2.0), other) is None
