"""Lesson 3: Self-attention. Each step is the file of its id; ``lesson.toml`` has their order and the fixed texts."""

from lab.ui.play import Parts, at_one_head
from lab.ui.shared.one_head import OneHead

LESSON = "self-attention"
PARTS: Parts[OneHead] = Parts(look=at_one_head)
