"""Lesson 2: Embeddings. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "embeddings"
