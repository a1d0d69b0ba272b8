"""A page for a participant to keep: the questions of a room, the own answers, the explanations. It lives by itself."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from lab.course.words import in_html
from lab.figures.room import NAMES
from lab.questions.question import lettered
from lab.rooms.seen import Mine

_STYLE = (
    "body{max-width:44rem;margin:2rem auto;padding:0 1rem;font:1rem/1.5 system-ui,sans-serif;color-scheme:light dark}"
    "img{max-width:100%;background:#fff;border-radius:6px}.right{color:light-dark(#1f7a4d,#7fd1a4);font-weight:600}"
    ".wrong{color:light-dark(#a3362b,#ff9d8f);font-weight:600}section{border-top:1px solid;padding:.5rem 0}"
)


def page(found: Sequence[Mine]) -> str:
    """Write the page as HTML. Whatever somebody typed is text in it, and it loads nothing."""
    body = "".join(_section(number, each) for number, each in enumerate(found, start=1))
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        f"style-src 'unsafe-inline'\"><title>My answers</title><style>{_STYLE}</style><h1>My answers</h1>{body}</html>"
    )


def _section(number: int, mine: Mine) -> str:
    asked = mine.question
    shown = asked.picture
    image = "" if shown is None else f'<p><img src="{shown.source}" alt="{escape(shown.alt, quote=True)}"></p>'
    about = f"<p>{in_html(asked.about)}</p>" if asked.about else ""
    right = asked.options[asked.answer]
    return (
        f"<section><h2>{number}. {in_html(asked.prompt)}</h2>{about}{image}{_answers(mine)}"
        f"<p>The answer is {in_html(lettered(asked, asked.answer))}. {in_html(right.why)}</p></section>"
    )


def _answers(mine: Mine) -> str:
    asked, told = mine.question, []
    for turn, (value, _) in sorted(mine.answers.items()):
        kind, verdict = ("right", "right") if value == asked.answer else ("wrong", "not right")
        said = in_html(lettered(asked, value))
        told.append(f'<p>{NAMES[turn]}: {said} <span class="{kind}">({verdict})</span></p>')
    return "".join(told) or "<p>You did not answer this question.</p>"
