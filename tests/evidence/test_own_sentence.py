"""A head at its job on one text, beside the paper's method on words given one by one."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.evidence.notable import JOBS, Doing
from lab.evidence.own_sentence import cases
from lab.evidence.relation_cases import named_words
from lab.text.tags.pipeline import TaggedText, TaggedToken, pipeline

TEXT = "She gave her brother the book that he wanted ."
GRAMMAR = [job for job in JOBS if ":" in job.id]


@pytest.mark.parametrize("name", ["lab-bert", "lab-gpt2"])
def test_a_head_names_what_it_names_in_the_measurement_over_many_sentences(name: str) -> None:
    model, tagged = lab.load_model(name), pipeline().tag(TEXT)
    words = [token.text for token in tagged.tokens]
    assert words == TEXT.split()
    named, trace = named_words(model, words), lab.trace(model, TEXT)
    assert named is not None
    seen = 0
    for job in GRAMMAR:
        relation, end = job.id.split(":")
        for layer, head in ((0, 0), (1, 5), (3, 4)):
            found = cases(trace, tagged, job, Doing(layer, head, 0.5))
            pairs = [(i, each.head) for i, each in enumerate(tagged.tokens) if each.relation == relation]
            assert len(found) == len(pairs)
            for case, (dependent, above) in zip(found, pairs, strict=True):
                asked, sought = (dependent, above) if end == "head" else (above, dependent)
                place = named[layer, head, asked]
                assert (case.asked, case.sought) == (words[asked], words[sought])
                assert case.named == (words[place] if place >= 0 else "")
                assert case.right == (place == sought)
                same = [word for word in range(len(words)) if named[layer, head, word] == sought]
                others = [
                    words[word] for word in same if ((word, sought) if end == "head" else (sought, word)) not in pairs
                ]
                assert list(case.too) == others
                assert words[asked].lower().startswith(trace.labels[case.query].strip("␣").lower())
                assert words[sought].lower().startswith(trace.labels[case.key].strip("␣").lower())
                seen += 1
    assert seen > 12


def test_the_other_scheme_of_relations_is_understood() -> None:
    words = ("sat", "on", "mats")
    spelt = (("ROOT", 0), ("prep", 0), ("pobj", 1))
    tokens = tuple(
        TaggedToken(word, start, start + len(word), "X", "", head, relation)
        for word, start, (relation, head) in zip(words, (0, 4, 7), spelt, strict=True)
    )
    text = "sat on mats"
    trace = lab.trace(lab.load_model("lab-bert"), text)
    job = next(job for job in JOBS if job.id == "case:head")
    (case,) = cases(trace, TaggedText(text, tokens, ()), job, Doing(1, 5, 0.6))
    assert (case.asked, case.sought) == ("on", "mats")


def test_only_the_first_of_a_pair_is_looked_at_and_may_be_named() -> None:
    text, pair = "She read the book .", "He wrote it ."
    trace, tagged = lab.trace(lab.load_model("lab-bert"), text, pair), pipeline().tag(text)
    for job in GRAMMAR:
        for case in cases(trace, tagged, job, Doing(1, 5, 0.6)):
            assert {case.asked, case.sought, case.named} <= {*text.split(), ""}
            assert max(case.query, case.key) < trace.encoding.in_pair.index(True)


def test_the_trace_keeps_its_attention() -> None:
    trace, tagged = lab.trace(lab.load_model("lab-bert"), TEXT), pipeline().tag(TEXT)
    before = trace.layer(1).attention.clone()
    cases(trace, tagged, GRAMMAR[0], Doing(1, 5, 0.6))
    assert np.array_equal(before.numpy(), trace.layer(1).attention.numpy())
