"""Lesson 8: Feed-forward and LayerNorm. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "feed-forward"
