"""Where a toy's heads look from the blank: every number again from the attention of the run."""

from __future__ import annotations

import re

import pytest

from lab.lessons.how_it_learns.many_steps import from_blank, hidden, on_right_letter
from lab.toy.rules import RULES
from lab.toy.training import Plan, train


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_the_weights_from_the_blank_are_those_of_the_run(rule: object) -> None:
    now = next(iter(train(Plan(rule.id, 1, 8, 8, 0))))  # type: ignore[attr-defined]
    words, place = (2, 3, 2, 3, 2, 3, 2, 3), 7
    run = hidden(now.model, words, place)
    wanted = [float(each) for layer in run.attention for head in layer for each in head[place]]
    found = from_blank(now.model, words, place, now.step).table().to_numpy().tolist()
    assert [value for row in found for value in row] == pytest.approx(wanted, abs=1e-6)
    told = on_right_letter(now, words, place)
    if not rule.holds(words):  # type: ignore[attr-defined]
        assert told == ""
        return
    same = [at for at in range(place) if words[at] == words[place]]
    shares = [float(head[place, same].sum()) for layer in run.attention for head in layer]
    assert [float(each) for each in re.findall(r"\d\.\d\d", told)] == pytest.approx(shares, abs=0.0051)
