"""Sentences by a rule, and the toys that learn to fill a blank in them: against the rules said in plain loops."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import pytest
import torch

from lab.analysis.words.masking import masked_run
from lab.models.proof import prove
from lab.models.trace import trace
from lab.toy.data import as_text, letter, validate
from lab.toy.rules import LETTERS, LONGEST, RULES, Rule, hidden_id, rule_named, ruled
from lab.toy.tasks import IGNORED, task
from lab.toy.training import Plan, Snapshot, chance, taught, train
from tests.thorough import one_by_day

every_rule = pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)


def _turns(text: str) -> bool:
    return len(set(text)) == 2 and all(text[i] == text[i % 2] for i in range(len(text)))


def _mirror(text: str) -> bool:
    middle = len(text) // 2
    return len(text) % 2 == 0 and "".join(reversed(text[middle:])) == text[:middle] and len(set(text)) == middle


def _alphabet(text: str) -> bool:
    return text in "abcdefgh"


BY_LETTERS: dict[str, Callable[[str], bool]] = {"turns": _turns, "mirror": _mirror, "alphabet": _alphabet}


@cache
def run(rule: str) -> tuple[Snapshot, ...]:
    torch.set_num_threads(1)
    return tuple(train(Plan(rule, 1, LETTERS, LONGEST, 0)))


def test_each_rule_is_said_here_too() -> None:
    assert [rule.id for rule in RULES] == list(BY_LETTERS)
    for rule in RULES:
        example = rule.description.split("as in ")[1].rstrip(".").replace(" ", "")
        assert BY_LETTERS[rule.id](example), rule.description


@every_rule
def test_sentences_follow_their_rule_and_no_other_sentence_does(rule: Rule) -> None:
    data = ruled(rule, 60, 3)
    assert all(BY_LETTERS[rule.id](as_text(words).replace(" ", "")) for words in data.sentences)
    assert {len(words) for words in data.sentences} == set(rule.lengths)
    assert validate(data).set_index("check").passed.all()
    generator = torch.Generator().manual_seed(0)
    others = torch.randint(1, LETTERS + 1, (3000, max(rule.lengths)), generator=generator).tolist()
    for words in [*map(tuple, others), *data.sentences]:
        assert rule.holds(words) == BY_LETTERS[rule.id](as_text(words).replace(" ", "")), words


@every_rule
def test_one_hidden_letter_can_be_told_from_the_others(rule: Rule) -> None:
    """No other letter would follow the rule: the blank has one right answer."""
    for words in ruled(rule, 40, 9).sentences:
        for place in range(len(words)):
            fitting = [new for new in range(1, LETTERS + 1) if rule.holds((*words[:place], new, *words[place + 1 :]))]
            assert fitting == [words[place]]


def test_a_seed_names_the_sentences_and_more_of_them_begin_alike() -> None:
    assert ruled(RULES[0], 20, 5).sentences == ruled(RULES[0], 30, 5).sentences[:20]
    assert ruled(RULES[0], 20, 5).sentences != ruled(RULES[0], 20, 6).sentences


@every_rule
def test_a_drawn_sentence_has_one_blank_and_its_answer(rule: Rule) -> None:
    words, answers = rule.draw(LETTERS, 6, 200, torch.Generator().manual_seed(1))
    assert (words == hidden_id(LETTERS)).sum(-1).eq(1).all()
    whole = torch.where(answers == IGNORED, words, answers)
    assert all(rule.holds(tuple(each)) for each in whole.tolist())
    assert set((words == hidden_id(LETTERS)).nonzero()[:, 1].tolist()) == set(range(6))


@one_by_day
@every_rule
def test_a_toy_learns_to_fill_the_blank(rule: Rule) -> None:
    """Counted by hand, letter by letter, on sentences a learner may look at."""
    first, last = run(rule.id)[0], run(rule.id)[-1]
    assert last.accuracy > 0.97
    assert max(first.accuracy, chance(last.plan)) < 0.4
    right = asked = 0
    for words in ruled(rule, 20, 123).sentences:
        plain = trace(last.model, as_text(words))
        for place, word in enumerate(words):
            logits = masked_run(plain, (place,)).logits([place])[0]
            assert len(logits) == LETTERS + 2
            asked, right = asked + 1, right + int(logits.argmax() == word)
    assert right / asked > 0.97


@every_rule
def test_it_stays_a_model_like_any_other(rule: Rule) -> None:
    for snapshot in (run(rule.id)[0], run(rule.id)[-1]):
        assert snapshot.model.mask == ("[MASK]", hidden_id(LETTERS))
        hidden = masked_run(trace(snapshot.model, "a b a b a"), (3,))
        typed = trace(snapshot.model, "a b a [MASK] a")
        assert hidden.token_ids == typed.token_ids == (1, 2, 1, 9, 1)
        for each in (hidden, typed):
            proof = prove(snapshot.model, each)
            assert proof.passed, proof.first_failure
            assert "logits" in {row.step for row in proof.rows}


def test_rules_and_tasks_are_found_by_id() -> None:
    assert all(taught(rule.id) is rule and rule_named(rule.name) is rule for rule in RULES)
    assert taught("previous") is task("previous")
    assert rule_named("<script>") is RULES[0]
    assert letter(LETTERS) == "h"
    with pytest.raises(KeyError, match="sorting"):
        Plan("sorting", 1, LETTERS, LONGEST, 0)
