"""Lesson 1: Tokenization. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "tokenization"
