"""The arcs of grammar are between the words that the treebanks' scheme relates."""

from __future__ import annotations

import lab
from lab.lessons.head_specialization.relations import relations
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
