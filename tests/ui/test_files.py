"""A teacher takes the checks on screen along; a learner does not get them, because they have the answers."""

from __future__ import annotations

from functools import partial
from xml.etree import ElementTree as ET

from streamlit.testing.v1.element_tree import DownloadButton

import lab
from lab.course.words import escaped
from lab.figures.attention import attention_map
from lab.lessons.self_attention.map import most_attended
from lab.questions.asking import Spot
from lab.questions.course_systems import moodle_xml
from lab.ui.quiz.files import exercises
from lab.ui.quiz.question_on_screen import OnScreen
from tests.pages.apptest import visit
from tests.sentences import CAT

PAGE = "3_Self-attention.py"
PNG = b"\x89PNG\r\n"


def labels(**link: str) -> list[str]:
    at = visit(PAGE, step="check", text=CAT, **link)
    return [button.label for button in at.get("download_button") if isinstance(button, DownloadButton)]


def test_they_are_offered_before_a_class_only() -> None:
    assert labels(teach="1", seed="7") == ["Moodle XML", "GIFT"]
    assert labels(seed="7") == []


def test_a_question_about_a_map_has_it_as_a_picture() -> None:
    trace = lab.trace(lab.load_model("lab-minilm"), CAT)
    spots = (Spot(trace, layer, head, 1, 1) for layer in range(6) for head in range(12))
    spot, question = next((spot, found) for spot in spots if (found := most_attended(spot)) is not None)
    drawn = {question.id: partial(attention_map, trace, spot.layer, spot.head)()}
    shown = {"text": CAT, "layer": "3"}
    (made,) = exercises(
        OnScreen((question,), drawn, "layer 3, head 1"), shown, "https://lab.example/Self-attention?layer=3"
    )
    assert made.picture.startswith(PNG)
    assert made.alt == drawn[question.id].heading, "the numbers could give the answer away"
    assert made.about.endswith(
        f", layer 3, head 1. Model: {escaped('lab-minilm')}. A number in brackets is the place of a token in the text."
    )
    read = ET.fromstring(moodle_xml([made], "x"))[1]
    assert "https://lab.example" in (read.findtext("questiontext/text") or "")
    (toy,) = exercises(OnScreen((question,)), {"mode": "Toy"}, "")
    assert toy.about.startswith("In the lab, with a toy. ") and not toy.picture
