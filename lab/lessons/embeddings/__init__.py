"""Lesson 2: Embeddings. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "embeddings"
