"""The lab's own example sentences, by the names that tests give to them."""

from __future__ import annotations

from lab.course.sentences.blanks import BLANKS
from lab.course.sentences.examples import EXAMPLES

_NAMED = {each.name: each for each in EXAMPLES}
_ABOUT = {each.about: each for each in EXAMPLES if each.about}
_CHANGED = {each.change[0]: each for each in BLANKS}

# The sentence of the course, which is on screen unless the learner types another one.
STORY = _NAMED["A pronoun"].text
CAT = _ABOUT["it"].text
RARE = _NAMED["A rare word"].text
FOX = _NAMED["Every letter"].text
SEVERAL = _NAMED["Three sentences"].text
BOYS, KEYS = _CHANGED["boys"].text, _CHANGED["keys"].text
FOLLOWS = (_NAMED["A pair that follows"].text, _NAMED["A pair that follows"].pair)
