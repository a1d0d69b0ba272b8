"""The first page is there before anything heavy is."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from streamlit.testing.v1 import AppTest
at = AppTest.from_file("Home.py", default_timeout=60).run()
assert not at.exception, at.exception
assert at.title[0].value == "Inside BERT"
heavy = [name for name in ("torch", "transformers", "spacy", "nltk") if name in sys.modules]
assert not heavy, heavy
"""


def test_course_map_imports_neither_torch_nor_transformers_nor_spacy() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
