"""Lesson 5: Attention metrics. Each step is the file of its id; ``lesson.toml`` has their order and the fixed texts."""

from lab.analysis.heads.metrics import METRICS
from lab.ui.parameter_kinds import Parameter
from lab.ui.parameters import HEAD, LAYER
from lab.ui.play import Parts, at_one_head
from lab.ui.shared.one_head import OneHead

LESSON = "attention-metrics"
# The charts of all heads, in which a click chooses a head: the id of a metric follows.
EVERY = "all-heads"
_HEAD: dict[Parameter[int], str] = {LAYER: "q", HEAD: "k"}
PARTS: Parts[OneHead] = Parts(
    look=at_one_head,
    clicks=dict.fromkeys((f"{EVERY}-{metric.id}" for metric in METRICS), _HEAD),
)
