"""The lab's own example sentences, by the names that tests give to them."""

from __future__ import annotations

from lab.course.sentences.examples import EXAMPLES, example_named

_ABOUT = {each.about: each for each in EXAMPLES if each.about}

# The sentence of the course, which is on screen unless the learner types another one.
STORY = example_named("A pronoun").text
CAT = _ABOUT["it"].text
RARE = example_named("A rare word").text
FOX = example_named("Every letter").text
SEVERAL = example_named("Three sentences").text
BOYS, KEYS = example_named("Agreement").text, example_named("Agreement across a phrase").text
FOLLOWS = (example_named("A pair that follows").text, example_named("A pair that follows").pair)
