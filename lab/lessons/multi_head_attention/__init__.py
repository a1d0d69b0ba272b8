"""Lesson 4: Multi-head attention. Each step is the file of its id; ``lesson.toml`` has their order and fixed texts."""

from lab.course.sentences.looks import is_story
from lab.models.encoding import BLANK
from lab.questions.spot import Spot
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Parts, at_one_head
from lab.ui.shared.one_head import OneHead

LESSON = "multi-head-attention"
# The charts in which a click chooses a head.
ROWS, MAPS = "head-rows", "head-maps"
PARTS: Parts[OneHead] = Parts(
    look=at_one_head(),
    clicks={ROWS: {LAYER: "q", HEAD: "k"}, MAPS: {HEAD: "map"}},
)


def is_story_blank(spot: Spot) -> bool:
    """Return whether the course is written about this token: the blank of its sentence, in its model."""
    return is_story(spot.trace) and spot.trace.labels[spot.query] == BLANK
