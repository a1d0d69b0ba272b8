"""Questions for a course system: as Moodle XML, with figures as pictures, and as GIFT, which has none.

Both are read by Moodle, and by others that read its formats (docs.moodle.org: "Moodle XML format", "GIFT format"). The
texts become HTML here; nothing in a learner's sentence can end an answer, a tag or a file.
"""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import shorten
from xml.etree import ElementTree as ET

from lab.course.words import in_html, plain
from lab.questions.question import Question

_PICTURE = "figure.png"
_ISOLATES = re.compile("[\u2066-\u2069]")  # around a quoted token; nobody sees them, but a search does
# What XML 1.0 cannot say, not even escaped.
_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# What ends a name, an answer or an explanation in GIFT, and the sign that escapes it.
_CONTROL = re.compile(r"([\\~=#{}:])")
_LONGEST_NAME = 60  # characters; Moodle shows names in lists


@dataclass(frozen=True)
class Exercise:
    """A question to take along.

    Attributes
    ----------
    question
        The question, with its answer.
    about
        What it is about, in the lab's Markdown: the sentence, the layer and the head; "" for a question about no run.
    link
        The address of the view with the figure; "" if the server does not know its own.
    picture, alt
        The figure as PNG, and in a sentence; no bytes if the question has none, or none that a server can draw.
    """

    question: Question
    about: str
    link: str = ""
    picture: bytes = b""
    alt: str = ""


def moodle_xml(exercises: Sequence[Exercise], category: str) -> str:
    """Write the questions as Moodle XML, for the question bank's ``category``."""
    quiz = ET.Element("quiz")
    _text(ET.SubElement(ET.SubElement(quiz, "question", type="category"), "category"), f"$course$/top/{category}")
    for number, exercise in enumerate(exercises, start=1):
        quiz.append(_multichoice(exercise, number))
    ET.indent(quiz)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ET.tostring(quiz, encoding="unicode") + "\n"


def _multichoice(exercise: Exercise, number: int) -> ET.Element:
    asked = exercise.question
    made = ET.Element("question", type="multichoice")
    _text(ET.SubElement(made, "name"), _name(exercise, number))
    text = _html(made, "questiontext", _asked(exercise, picture=bool(exercise.picture)))
    if exercise.picture:
        file = ET.SubElement(text, "file", name=_PICTURE, path="/", encoding="base64")
        file.text = b64encode(exercise.picture).decode()
    _html(made, "generalfeedback", "")
    settings = {
        "defaultgrade": "1",
        "penalty": "0.3333333",
        "hidden": "0",
        "single": "true",
        "shuffleanswers": str(asked.mixed).lower(),  # otherwise the order of the options means something
        "answernumbering": "ABCD",
    }
    for name, value in settings.items():
        ET.SubElement(made, name).text = value
    for option in asked.options:
        answer = ET.SubElement(made, "answer", fraction="100" if option.correct else "0", format="html")
        _text(answer, in_html(option.text))
        _html(answer, "feedback", in_html(option.why))
    if asked.hint_after_wrong:
        _html(made, "hint", in_html(asked.hint))
    return made


def gift(exercises: Sequence[Exercise], category: str) -> str:
    """Write the questions as GIFT, for the question bank's ``category``."""
    written = [f"$CATEGORY: $course$/top/{category}"]
    for number, exercise in enumerate(exercises, start=1):
        options = [
            f"{'=' if option.correct else '~'}{_in_gift(in_html(option.text))}#{_in_gift(in_html(option.why))}"
            for option in exercise.question.options
        ]
        asked = _in_gift(_asked(exercise, picture=False))
        written.append("\n".join((f"::{_escaped(_name(exercise, number))}::{asked}{{", *options, "}")))
    return "\n\n".join(written) + "\n"


def _name(exercise: Exercise, number: int) -> str:
    prompt = " ".join(_ISOLATES.sub("", plain(exercise.question.prompt.replace("*", ""))).split())
    return f"{number}. {shorten(prompt, _LONGEST_NAME, placeholder=' …') if ' ' in prompt else prompt[:_LONGEST_NAME]}"


def _asked(exercise: Exercise, *, picture: bool) -> str:
    """The prompt as HTML, the figure if it travels along, and what the question is about, as a link to its view."""
    if not exercise.about:
        return f"<p>{in_html(exercise.question.prompt)}</p>"
    about = in_html(exercise.about)
    if exercise.link:
        about = f'<a href="{escape(exercise.link)}">{about}</a>'
    figure = f'<p><img src="@@PLUGINFILE@@/{_PICTURE}" alt="{escape(exercise.alt)}"></p>' if picture else ""
    if exercise.picture and not picture:
        about = f"You need the figure for this question, and the lab draws it. {about}"
    return f"<p>{in_html(exercise.question.prompt)}</p>{figure}<p>{about}</p>"


def _in_gift(html: str) -> str:
    return f"[html]{_escaped(html)}"


def _escaped(text: str) -> str:
    """Escape GIFT's signs, in one line: an empty line would end the question."""
    return _CONTROL.sub(r"\\\1", " ".join(_possible(text).split()))


def _possible(text: str) -> str:
    return _NOT_XML.sub("\ufffd", text)


def _text(parent: ET.Element, text: str) -> None:
    ET.SubElement(parent, "text").text = _possible(text)


def _html(parent: ET.Element, name: str, html: str) -> ET.Element:
    made = ET.SubElement(parent, name, format="html")
    _text(made, html)
    return made
