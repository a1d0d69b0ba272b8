"""Lesson 1: Tokenization. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "tokenization"
