"""The embedded checkpoints outside the lab: who knows only transformers gets from the folders what the lab shows.

The transformers of this environment is asked here. What an older one answered, in an environment of its own, is
recorded (``make outside``); the record holds for the files that ship.
"""

from __future__ import annotations

import json
from typing import Any

import pytest
import torch
import transformers
from tokenizers import Tokenizer

from lab.models.loading import EMBEDDED
from training.evaluation import outside

FAMILIES = {
    "lab-minilm": ("BertTokenizer", {"vocab.txt"}),
    "lab-bert": ("BertTokenizer", {"vocab.txt"}),
    "lab-gpt2": ("GPT2Tokenizer", {"vocab.json", "merges.txt"}),
}


@pytest.fixture(scope="module")
def theirs() -> dict[str, Any]:
    torch.set_num_threads(1)
    return outside.from_here()


@pytest.fixture(scope="module")
def ours() -> dict[str, Any]:
    return outside.from_the_lab()


def test_hugging_face_answers_as_the_lab_does(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert outside.differences(ours, theirs) == []
    assert outside.largest_difference(ours, theirs) < outside.TOLERANCE / 2


def test_segments_are_given_where_the_model_has_them(theirs: dict[str, Any]) -> None:
    for folder, has in (*((each, True) for each in outside.BERTS), (outside.GPT2, False)):
        for text, encoded in zip(outside.TEXTS, theirs["encodings"][str(folder)], strict=True):
            assert ("token_type_ids" in encoded) == has
            if has:
                assert (1 in encoded["token_type_ids"]) == (len(text) == 2)


def test_a_pair_that_follows_and_one_that_does_not_are_told_apart(theirs: dict[str, Any]) -> None:
    """Without segments the model says "follows" to both; see issue 11."""
    for likely, unlikely, *_ in theirs["follows"].values():
        assert likely > 0.5 > unlikely


def test_any_difference_is_found(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    first = str(outside.BERTS[0])
    for break_it in (
        lambda broken: broken["encodings"][first][0].pop("token_type_ids"),
        lambda broken: broken["encodings"][str(outside.GPT2)][0]["offset_mapping"].reverse(),
        lambda broken: broken["filled"][first][0].reverse(),
        lambda broken: broken["continued"].reverse(),
        lambda broken: broken["follows"].update({first: [p + 0.001 for p in broken["follows"][first]]}),
    ):
        broken = json.loads(json.dumps(theirs))
        break_it(broken)
        assert outside.differences(ours, broken)


@pytest.mark.parametrize("name", FAMILIES)
def test_class_and_files_are_those_of_the_family(name: str) -> None:
    folder, (kind, files) = EMBEDDED / name, FAMILIES[name]
    assert json.loads((folder / "tokenizer_config.json").read_text("utf-8"))["tokenizer_class"] == kind
    assert files | {"tokenizer.json", "config.json", "model.safetensors"} <= {path.name for path in folder.iterdir()}
    # The vocabulary files alone make the same tokenizer.
    whole = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model: Any = type(whole.model).from_file(*(str(folder / file) for file in sorted(files, reverse=True)))
    assert Tokenizer(model).get_vocab() == whole.get_vocab(with_added_tokens=False)


@pytest.mark.parametrize("name", FAMILIES)
def test_it_computes_as_the_card_says(name: str) -> None:
    """Stored as float16, computed in float32: transformers 5 would else take the type that is stored."""
    loaded = transformers.AutoModel.from_pretrained(EMBEDDED / name)
    assert loaded.dtype == torch.float32


def test_the_record_is_of_the_files_that_ship_and_of_both_versions() -> None:
    record = json.loads(outside.RECORD.read_text("utf-8"))
    assert record["files"] == outside.fingerprints()
    versions = [row["versions"]["transformers"] for row in record["asked"]]
    assert versions == [transformers.__version__, outside.OLDER.partition("==")[2]]
    for row in record["asked"]:
        assert row["differences"] == [] and row["texts"] == len(outside.TEXTS)
        assert row["largest_difference_of_a_probability"] < outside.TOLERANCE


@pytest.mark.parametrize("name", FAMILIES)
def test_the_card_quotes_the_record(name: str) -> None:
    from training.card_parts import outside_the_lab

    assert outside_the_lab(name) in (EMBEDDED / name / "MODEL_CARD.md").read_text("utf-8")
