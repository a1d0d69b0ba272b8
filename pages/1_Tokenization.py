"""Lesson: tokenization, from the characters of a text to the ids that a model reads."""

from lab.lessons.tokenization import again
from lab.lessons.tokenization import screens as steps
from lab.lessons.tokenization.pieces import show_pieces
from lab.lessons.tokenization.toy import show_toy
from lab.lessons.tokenization.view import look, show_agreement
from lab.ui.page import open_lesson
from lab.ui.parameters import TOY

STEPS = {
    "Tokens": steps.show_tokens,
    "Normalize": steps.show_normalization,
    "Pre-tokens": steps.show_pre_tokens,
    "Pieces": show_pieces,
    "Special tokens": steps.show_special_tokens,
    "Check": steps.show_checks,
}

page = open_lesson("1_Tokenization.py", again.questions)
if page.selection.mode == TOY:
    show_toy(page)
else:
    trace = page.trace()
    step = page.step(list(STEPS))
    view = look(trace)
    asking = STEPS[step](view)
    page.next_step(list(STEPS))
    page.finish()
    show_agreement(page, view, tell=not asking)
