"""Lesson 9: the steps, from a hidden state to a word."""

from collections.abc import Callable

from lab.course.pages import step_name
from lab.lessons.masked_language_model import LESSON, screens
from lab.lessons.masked_language_model.every_place import show_every_place
from lab.lessons.masked_language_model.lens import show_lens
from lab.lessons.masked_language_model.likelihood import show_likelihood
from lab.lessons.masked_language_model.next_sentence import show_next_sentence
from lab.lessons.masked_language_model.onward import show_onward
from lab.lessons.masked_language_model.quiz import show_checks
from lab.lessons.masked_language_model.sampling import show_sampling
from lab.lessons.masked_language_model.toy import TOY_STEPS, toy_trace
from lab.lessons.masked_language_model.tries import own_sentence
from lab.models.trace import Trace
from lab.ui.page import LessonPage
from lab.ui.parameters import MODE, TEACH, TOY
from lab.ui.play import Screens, Step
from lab.ui.shared.prediction import PredictionView, cannot_predict, look

HIDE, NEXT = "hide-words", "next-token"
# Steps that read the text as it is; the other steps ask about one place in it.
_WHOLE = {"every-place": show_every_place, "likelihood": show_likelihood, "next-sentence": show_next_sentence}
Seen = PredictionView | Trace


def _look(page: LessonPage, trace: Trace) -> Callable[[str], Seen | None]:
    return lambda step: trace if step in _WHOLE else look(page, trace)


def _asking(step: Callable[[PredictionView], None]) -> Step[Seen]:
    """Make a step about one place of the text; the proof compares its run."""

    def drawn(view: Seen) -> Trace:
        assert isinstance(view, PredictionView)
        step(view)
        return view.trace

    return drawn


def _whole(step: Callable[[Trace], Trace]) -> Step[Seen]:
    def drawn(view: Seen) -> Trace:
        assert isinstance(view, Trace)
        return step(view)

    return drawn


def _ending(page: LessonPage, trace: Trace) -> None:
    show_onward(trace)
    if page.selection[MODE] != TOY and not page.selection[TEACH]:
        own_sentence(step_name(LESSON, NEXT if trace.model.config.causal else HIDE))


SCREENS: Screens[Seen] = Screens(
    steps={
        HIDE: _asking(screens.show_hidden),
        NEXT: _asking(screens.show_next),
        "from-vector-to-word": _asking(screens.show_vector),
        "logit-lens": _asking(show_lens),
        "check": _asking(show_checks),
        "sampling": _asking(show_sampling),
        **{id: _whole(step) for id, step in _WHOLE.items()},
    },
    look=_look,
    toy=toy_trace,
    toy_steps=TOY_STEPS,
    refusal=lambda trace: cannot_predict(trace.model) or "",
    ending=_ending,
)
