"""Lesson 5: Attention metrics. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

from lab.analysis.heads.metrics import METRICS
from lab.course.words import in_words

LESSON = "attention-metrics"
MANY = in_words(len(METRICS))
