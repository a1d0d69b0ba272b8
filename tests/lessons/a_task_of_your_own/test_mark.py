"""The token whose vector is for the whole text has the name that the tokenizer gives it, everywhere in the lesson."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from transformers import AutoTokenizer

import lab
from lab.course.sentences.tasks import NEWS_TASK
from lab.course.words import plain
from lab.lessons.a_task_of_your_own import what_cls_knows
from lab.lessons.a_task_of_your_own.change_the_model import rows_of_attention
from lab.lessons.a_task_of_your_own.teach_it import names_of
from lab.lessons.a_task_of_your_own.what_cls_knows import by_layer, mark_in_words, mark_name, said, who_knows_more
from lab.questions.spot import Spot
from tests.checkpoints import Family
from tests.conftest import TinyCheckpoint


@pytest.mark.parametrize("family", ["bert", "roberta", "modernbert", "gpt2"])
def test_the_mark_has_the_tokenizers_name(
    family: Family, tiny_checkpoint: TinyCheckpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tiny_checkpoint(family)
    theirs, model = AutoTokenizer.from_pretrained(folder), lab.load_model(folder)
    name = "the last token" if family == "gpt2" else theirs.convert_ids_to_tokens(theirs("a")["input_ids"])[0]
    assert mark_name(model) == name == plain(mark_in_words(model))
    assert name in json.dumps(rows_of_attention(model, "The cat sat.").spec)
    assert name in names_of(model)[1] and name in plain(said(model, NEWS_TASK))
    assert name in what_cls_knows.series(model, NEWS_TASK) and name in json.dumps(by_layer(model, NEWS_TASK).spec)
    monkeypatch.setattr(what_cls_knows, "MARGIN", -9.0)
    question = who_knows_more(Spot.of(lab.trace(model, "The cat sat.")))
    assert (question is None) == (family == "gpt2")
    if question is not None:
        told = plain(" ".join(option.text for option in question.options))
        assert name in told and (name == "[CLS]" or "[CLS]" not in told)


def test_a_model_without_such_a_token(tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    folder = Path(shutil.copytree(tiny_checkpoint("bert"), tmp_path / "bare"))
    described = json.loads((folder / "tokenizer.json").read_text()) | {"post_processor": None}
    (folder / "tokenizer.json").write_text(json.dumps(described))
    settings = json.loads((folder / "tokenizer_config.json").read_text())
    (folder / "tokenizer_config.json").write_text(json.dumps({**settings, "tokenizer_class": "TokenizersBackend"}))
    model = lab.load_model(folder)
    trace = lab.trace(model, "The cat sat.")
    assert mark_name(model) == "the first token" and trace.tokens[0] == "the"
    assert who_knows_more(Spot.of(trace)) is None
