"""The lab's own example sentences, by the names that tests give to them."""

from __future__ import annotations

from lab.course.sentences.blanks import BLANKS
from lab.course.sentences.examples import EXAMPLES, example_named

_ABOUT = {each.about: each for each in EXAMPLES if each.about}
_CHANGED = {each.change[0]: each for each in BLANKS}

# The sentence of the course, which is on screen unless the learner types another one.
STORY = example_named("A pronoun").text
CAT = _ABOUT["it"].text
RARE = example_named("A rare word").text
FOX = example_named("Every letter").text
SEVERAL = example_named("Three sentences").text
BOYS, KEYS = _CHANGED["boys"].text, _CHANGED["keys"].text
FOLLOWS = (example_named("A pair that follows").text, example_named("A pair that follows").pair)
