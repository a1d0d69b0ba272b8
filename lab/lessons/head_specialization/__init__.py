"""Lesson 6: Head specialization. Each step is the file of its id; ``lesson.toml`` has their order and fixed texts."""

from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Parts, at_one_head
from lab.ui.shared.one_head import OneHead

LESSON = "head-specialization"
# The maps of all heads, in which a click chooses a head: names on this text, and names on average.
NAMED, AVERAGED = "named-heads", "named-on-average"
_HEAD: dict[Parameter[int], str] = {LAYER: "q", HEAD: "k"}
PARTS: Parts[OneHead] = Parts(look=at_one_head, clicks=dict.fromkeys((NAMED, AVERAGED), _HEAD))
