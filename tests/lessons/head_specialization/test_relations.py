"""The arcs of grammar are between words that the treebanks' scheme relates; the map is of what goes to other words."""

from __future__ import annotations

import numpy as np
import pytest

import lab
from lab.lessons.head_specialization.relations import relations, to_others
from lab.text.tags import pipeline
from tests.sentences import STORY


def drawn(text: str, model: str = "lab-minilm") -> set[tuple[str, str, str]]:
    trace = lab.trace(lab.load_model(model), text)
    return {(trace.labels[each.head], trace.labels[each.dependent], each.name) for each in relations(trace)}


def test_the_grammar_of_the_story_s_sentence() -> None:
    found = drawn(STORY)
    assert found >= {
        ("gave", "she", "subject"),
        ("gave", "brother", "receiver"),
        ("gave", "book", "object"),
        ("brother", "her", "whose"),
        ("wanted", "he", "subject"),
        ("book", "wanted", "clause"),
    }


def test_a_word_of_several_tokens_is_met_at_its_first() -> None:
    found = drawn("The unbelievableness surprised him.", "lab-bert")
    assert found == {("un", "the", "article"), ("surprised", "un", "subject"), ("surprised", "him", "object")}


def test_letters_and_nothing_related_have_no_arcs() -> None:
    assert drawn("!") == set()


@pytest.mark.parametrize("model", ["lab-minilm", "lab-bert", "lab-gpt2"])
def test_the_grammar_map_shares_out_what_goes_to_other_words(model: str) -> None:
    """By loops over tokens: from a word the mean of its tokens, to a word the sum, nothing to itself."""
    trace = lab.trace(lab.load_model(model), "The old dog that chased my neighbour's cats sleeps in the kitchen.")
    spans = [(token.start, token.end) for token in pipeline.pipeline().tag(trace.text).tokens]
    weights, found = trace.layer(2).attention[0].double().numpy(), to_others(trace, 2, 0)
    special = trace.encoding.special
    of = [
        next((w for w, (start, end) in enumerate(spans) if not own and start < last and first < end), -1)
        for (first, last), own in zip(trace.offsets, special, strict=True)
    ]
    members = [[i for i, word in enumerate(of) if word == number] for number in range(len(spans))]
    assert found.words == tuple(trace.text[start:end] for start, end in spans)
    for word, rows in enumerate(members):
        given = [
            0 if other == word else weights[np.ix_(rows, keys)].sum(1).mean() for other, keys in enumerate(members)
        ]
        assert found.given[word] == pytest.approx(given, abs=1e-6)
        if sum(given):
            assert found.shares[word] == pytest.approx(np.array(given) / sum(given), abs=1e-5)
            for row in rows:  # the arcs of the sentence
                arcs = np.zeros(len(trace))
                arcs[[keys[0] for keys in members]] = np.array(given) / sum(given)
                assert found.of_tokens[row] == pytest.approx(arcs, abs=1e-5)
