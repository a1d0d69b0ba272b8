"""Lesson 5: Attention metrics. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "attention-metrics"
