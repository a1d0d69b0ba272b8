"""What every hand-written part in the browser has in common: text stays text, and nobody outside is asked."""

from __future__ import annotations

import re
from pathlib import Path

import lab
from lab.charts.components import style

LAB = Path(lab.__file__).parent


def test_no_script_makes_html_of_text_and_none_asks_another_server() -> None:
    files = [path for folder in ("charts/components", "ui") for path in (LAB / folder).rglob("*.[jc]s*")]
    assert len(files) > 20
    for path in files:
        code = path.read_text("utf-8")
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|new Function", code), path
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|@import|url\((?!#)", code), path


def test_the_sentence_stands_still_for_whoever_wants_no_motion() -> None:
    assert "prefers-reduced-motion" in style("sentence")
