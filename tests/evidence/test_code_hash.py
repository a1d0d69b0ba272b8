"""The hash of code: what changes a number changes it, what is only read does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from lab.evidence import code_hash as module
from lab.evidence.measurement import Measurement
from lab.models.catalogue import EMBEDDED
from lab.models.loading import read_json
from training.evaluation.experiments import MEASURED

TOP = '''"""Top."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lab.below import one

if TYPE_CHECKING:
    from lab.types_alone import Thing


def top() -> int:
    """Say it."""
    from lab.package import inside

    return one() + inside.two  # added up
'''
BELOW = """def one() -> int:
    if two() < 0:
        raise ValueError(f"{two()} is no number.")
    return 1
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "lab" / "package").mkdir(parents=True)
    for name, text in {
        "top": TOP,
        "below": BELOW,
        "package/__init__": "",
        "package/inside": "two = 2\n",
        "other": "x = 1\n",
        "types_alone": "class Thing: ...\n",
    }.items():
        (tmp_path / "lab" / f"{name}.py").write_text(text)
    monkeypatch.setattr(module, "_ROOT", tmp_path)
    module.code_hash.cache_clear()
    return tmp_path / "lab"


def hashed() -> str:
    module.code_hash.cache_clear()
    return module.code_hash("lab.top")


@pytest.mark.parametrize("measured", MEASURED.values(), ids=list(MEASURED))
def test_a_new_family_makes_no_result_stale_and_a_change_of_an_embedded_model_s_family_does(
    measured: Measurement[Any],
) -> None:
    families = {name for name in module.modules(measured.module) if name.startswith("lab.models.families.")}
    embedded = {read_json(path)["model_type"] for path in EMBEDDED.glob("*/config.json")}
    assert families == {f"lab.models.families.{name}" for name in ("family", "reader", *embedded)}


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("top", "one() +", "one() -", True),
        ("below", "return 1", "return 2", True),
        ("package/inside", "two = 2", "two = 3", True),
        ("package/__init__", "", "x = 1", True),
        ("top", '"""Say it."""', '"""Say something else,\n\n    and at length."""', False),
        ("top", '"""Top."""', '"""Another."""', False),
        ("top", "  # added up", "", False),
        ("top", "\n\n\ndef", "\n\n\n# The top.\ndef", False),
        ("below", "return 1\n", "return 1  \n\n\n", False),
        ("below", "is no number.", "says nothing.", False),
        ("below", 'f"{two()} is no number."', '\n            "Nothing, and at length."  # a reason\n        ', False),
        ("below", "ValueError", "KeyError", True),
        ("below", "two() < 0", "two() < 1", True),
        ("other", "x = 1", "x = 2", False),
        ("types_alone", "...", "x: int", False),
    ],
)
def test_only_what_runs_counts(root: Path, name: str, old: str, new: str, changes: bool) -> None:
    before, path = hashed(), root / f"{name}.py"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1))
    assert (hashed() != before) == changes


def test_a_hash_sign_in_a_text_is_no_comment(root: Path) -> None:
    path = root / "below.py"
    path.write_text('def one() -> str:\n    return "# one"\n')
    before = hashed()
    path.write_text('def one() -> str:\n    return "# two"\n')
    assert hashed() != before


@pytest.mark.parametrize("measured", MEASURED.values(), ids=list(MEASURED))
def test_an_experiment_s_code_goes_down_to_the_forward_pass(measured: Measurement[Any]) -> None:
    hashed = set(module.modules(measured.module))
    judges = {"lab.evidence.verdicts", "lab.evidence.intervals"} if measured.id != "story" else set()
    assert {measured.module, "lab.models.forward", *judges} <= hashed
    said = ("lab.ui", "lab.course", "lab.questions", "lab.figures", "lab.charts", measured.module[:-7] + "page")
    assert not [name for name in hashed if name.startswith(said)]
    assert "lab.models.catalogue" not in hashed


@pytest.mark.parametrize("measured", MEASURED.values(), ids=list(MEASURED))
def test_a_new_metric_or_pattern_of_heads_makes_no_result_stale(measured: Measurement[Any]) -> None:
    assert not {"lab.analysis.heads.metrics", "lab.analysis.heads.patterns"} & set(module.modules(measured.module))


@pytest.mark.parametrize(
    ("name", "old", "new", "changes"),
    [
        ("lab.experiments.copying.page", "How does it find that", "How does it reach that", False),
        ("lab.experiments.copying.page", "the best induction head", "the best head", False),
        ("lab.evidence.reasons", "clearly above 0, but not clearly", "above 0, but not clearly", False),
        ("lab.evidence.reasons", '"also untrained"', '"untrained, too"', False),
        ("lab.evidence.reasons", "is right about as often", "is right as often", False),
        ("lab.experiments.copying.measure", "fills blanks and sees", "fills blanks, and sees", False),
        ("lab.experiments.copying.measure", "TEXTS, DRAWS = 25, 64, 30", "TEXTS, DRAWS = 25, 64, 31", True),
        ("lab.experiments.copying.induction", "< 2:", "< 3:", True),
        ("lab.evidence.verdicts", "FEW = 30", "FEW = 31", True),
        ("lab.models.forward", "def mix_values", "def mixed_values", True),
    ],
)
def test_a_sentence_can_be_mended_without_measuring_again(
    monkeypatch: pytest.MonkeyPatch, name: str, old: str, new: str, changes: bool
) -> None:
    whole = module._text

    def mended(each: str) -> str:
        text = whole(each)
        assert each != name or old in text
        return text.replace(old, new) if each == name else text

    assert mended(name) != whole(name)
    before = module.code_hash("lab.experiments.copying.measure")
    monkeypatch.setattr(module, "_text", mended)
    assert (module.code_hash.__wrapped__("lab.experiments.copying.measure") != before) == changes
