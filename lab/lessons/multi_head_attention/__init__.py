"""Lesson 4: Multi-head attention. Each step is the file of its id; ``lesson.toml`` has their order and fixed texts."""

from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Parts, at_one_head
from lab.ui.shared.one_head import OneHead

LESSON = "multi-head-attention"
# The charts in which a click chooses a head.
ROWS, MAPS = "head-rows", "head-maps"
PARTS: Parts[OneHead] = Parts(
    look=at_one_head,
    clicks={ROWS: {LAYER: "q", HEAD: "k"}, MAPS: {HEAD: "map"}},
)
