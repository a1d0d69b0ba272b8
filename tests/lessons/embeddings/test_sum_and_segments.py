"""The meaning of the sum, and of other segments: each number is computed again, by torch or by numpy."""

from __future__ import annotations

import re
from typing import Any

import pytest
import torch
from transformers import AutoModelForMaskedLM

import lab
from lab.analysis.layers.embeddings import SegmentChange, worked_dimension
from lab.course.sentences.examples import EXAMPLES
from lab.course.words import plain
from lab.lessons.embeddings import sum
from lab.models.catalogue import DEFAULT_MODEL, EMBEDDED
from lab.models.trace import Trace
from lab.toy.models import constructed_toy
from lab.ui.parameters import SEGMENTS
from tests.checkpoints import Family
from tests.models.reference import load_theirs
from tests.told import numbers


@pytest.fixture(scope="module", params=["lab-minilm", "lab-bert", "lab-gpt2", "toy"])
def traces(request: pytest.FixtureRequest) -> list[Trace]:
    if request.param == "toy":
        return [lab.trace(constructed_toy(4, 6), "a b c a")]
    model = lab.load_model(request.param)
    return [lab.trace(model, each.text, each.pair or None) for each in EXAMPLES[:3]]


def test_the_summand_named_is_the_largest(traces: list[Trace]) -> None:
    for trace in traces:
        e, token = trace.embeddings, len(trace) - 1
        found = {name: getattr(e, name) for name in ("token", "position", "segment")}
        for dimension in (0, 1, 3):
            given = {name: rows[token, dimension].item() for name, rows in found.items() if rows is not None}
            said = sum.said(worked_dimension(trace, token, dimension), dimension)
            most = max(given.values(), key=abs)
            if len(given) == 1:
                assert numbers(said) == pytest.approx([most], abs=0.0051)
                continue
            words = {"token": "the word", "position": "the place", "segment": "the segment"}
            told = {
                name: float(re.findall(rf"{word} (?:gives|contributes most:) (−?\d+\.\d+)", said)[0].replace("−", "-"))
                for name, word in words.items()
                if name in given
            }
            assert told == pytest.approx(given, abs=0.0006)
            named = re.findall(r"(the \w+) contributes most", said)[0]
            assert abs(given[{word: name for name, word in words.items()}[named]]) == pytest.approx(abs(most), abs=1e-6)


@pytest.mark.parametrize(("model", "family"), [("lab-minilm", "bert"), ("lab-bert", "bert"), ("lab-gpt2", "gpt2")])
def test_the_vectors_that_share_one_space_are_the_tables_of_hugging_face(model: str, family: Family) -> None:
    """As many vectors are named as Hugging Face adds, all of one width; a model without segments says why."""
    base, trace = load_theirs(EMBEDDED / model, family).base, lab.trace(lab.load_model(model), "The cat sat.")
    tables = [module.weight for module in base.modules() if isinstance(module, torch.nn.Embedding)]
    assert {table.shape[1] for table in tables} == {trace.model.config.width}
    assert len(worked_dimension(trace, 1, 0).summands) == len(tables)
    why = sum.without_segments(trace.model.config)
    assert (why is None) == any(table.shape[0] == 2 for table in tables) == (family == "bert")
    assert why is None or "it learned only to continue a text" in why


@pytest.mark.parametrize("change", SEGMENTS.options)
def test_other_segments_are_told_as_hugging_face_reads_them(change: SegmentChange) -> None:
    trace = lab.trace(lab.load_model(DEFAULT_MODEL), *sum.PAIR)
    module: Any = AutoModelForMaskedLM.from_pretrained(EMBEDDED / DEFAULT_MODEL).eval()
    ids = {"all 0": [0] * len(trace), "swapped": [1 - each for each in trace.segment_ids]}.get(
        change, list(trace.segment_ids)
    )
    place = trace.labels.index("▢")
    with torch.no_grad():
        if change == "left out":
            module.bert.embeddings.token_type_embeddings.weight.zero_()
        out = module(torch.tensor([trace.token_ids]), token_type_ids=torch.tensor([ids]))
    share, best = out.logits[0, place].double().softmax(-1).max(0)
    said = plain(sum.segments_said(trace, place, change))
    assert numbers(said)[1] == pytest.approx(float(share), abs=0.0051)
    assert str(trace.model.tokenizer.id_to_token(int(best))) in said.partition(" With ")[2]
