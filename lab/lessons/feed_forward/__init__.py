"""Lesson 8: Feed-forward and LayerNorm. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "feed-forward"
