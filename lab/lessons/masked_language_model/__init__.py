"""Lesson 9: Masked-language model. The steps are in ``page.py``, what depends on nothing in ``lesson.toml``."""

LESSON = "masked-language-model"
