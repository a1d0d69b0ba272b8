"""The first page runs a model, and brings nothing heavy along that it has no use for."""

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
assert "blank-sentence" in str([block.value for block in at.get("html") if hasattr(block, "value")])
heavy = [name for name in ("transformers", "spacy", "nltk", "altair", "sqlalchemy") if name in sys.modules]
assert not heavy, heavy
"""


SHELL = """
import sys
import lab.ui.shell
heavy = [name for name in ("torch", "transformers", "spacy", "nltk", "sqlalchemy") if name in sys.modules]
assert not heavy, heavy
"""


def test_the_frame_of_a_page_is_there_before_pytorch_is() -> None:
    """A new server draws the title and says what it loads, before the second that PyTorch takes."""
    done = subprocess.run([sys.executable, "-c", SHELL], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_first_page_imports_nothing_that_a_later_one_may_need() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
