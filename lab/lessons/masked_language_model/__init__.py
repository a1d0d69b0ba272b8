"""Lesson 9: Masked-language model. Its steps are in ``page.py``, its fixed texts in ``lesson.toml``."""

LESSON = "masked-language-model"
