"""Lesson 5: Attention metrics. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "attention-metrics"
