"""The toy that fills a blank: its sentences follow a rule, and it learns the rule in lesson 10."""

from __future__ import annotations

import pandas as pd

from lab.course.pages import lesson_of, number, step_name
from lab.models.trace import Trace
from lab.questions.toy_questions import with_blank
from lab.toy.data import as_text
from lab.toy.models import number_run
from lab.toy.rules import rule_named
from lab.ui.page import OpenPage
from lab.ui.parameters import TOY_RULE
from lab.ui.screen import say, show_table
from lab.ui.toys import toy_runs
from lab.ui.toys.toy_controls import say_trained, show_validation

_PURPOSE = (
    "A toy shows how a model learns to fill a blank. Its sentences are letters that follow a rule, and the model "
    "is small enough to learn the rule in seconds."
)


def show_toy_trace(page: OpenPage) -> Trace:
    """Run the chosen sentence through the sidebar's toy, and say how far this toy is trained."""
    plan = toy_runs.blank_plan(page.selection)
    lesson, step = toy_runs.LEARNS
    say_trained(_PURPOSE, plan, f"The step “{step_name(lesson, step)}” of lesson {number(lesson_of(lesson))}")
    return number_run(toy_runs.toy(plan), as_text(toy_runs.ruled_sentence(page.selection)))


def show_rule(page: OpenPage) -> None:
    """Show the sentences and their rule; validation and summary are behind a click."""
    data, rule = toy_runs.ruled(page.selection), rule_named(page.selection[TOY_RULE])
    say(
        f"{rule.description} Each letter is a word. If you hide one letter, the other letters show which letter it "
        "was. Nobody tells the model the rule. The model only reads sentences like these, each with one hidden "
        "letter, and must find the rule itself."
    )
    blank = [with_blank(words, len(words) - 1) for words in data.sentences]
    columns = {"sentence": [as_text(words) for words in data.sentences], "last letter hidden": blank}
    show_table(pd.DataFrame(columns, index=range(1, len(blank) + 1)), numbered=True)
    following = sum(map(rule.holds, data.sentences))
    found = f"{following} of {len(blank)}"
    show_validation(data, ("sentences follow the rule", "all", found, following == len(blank)))
