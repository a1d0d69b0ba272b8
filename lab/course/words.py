"""The learner's tokens inside a sentence of ours."""

from __future__ import annotations

import re

_PUNCTUATION = re.compile(r"([!-/:-@\[-`{-~])")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


def escaped(text: str) -> str:
    """``text`` so that Markdown (HTML, LaTeX, Streamlit's directives) shows it to the letter."""
    return _PUNCTUATION.sub(r"\\\1", " ".join(text.split()))


def plain(markdown: str) -> str:
    """What :func:`escaped` was given, up to white space: the way back from Markdown to the text it shows."""
    return _ESCAPE.sub(r"\1", markdown)


def quoted(token: str) -> str:
    """A token in quotation marks, safe in Markdown, its direction kept to itself.

    The marks U+2068 and U+2069 isolate right-to-left text from the sentence around it.
    """
    return f"“\u2068{escaped(token)}\u2069”"
