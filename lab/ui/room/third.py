"""The third question: of the same kind, computed from another sentence's tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from lab.course.sentences.examples import EXAMPLES
from lab.course.words import quoted
from lab.figures.attention import place
from lab.models.encoding import TextError
from lab.models.interventions import Interventions
from lab.questions.asking import Asking
from lab.questions.question import Question
from lab.questions.spot import Spot
from lab.rooms.rooms import RoomError
from lab.ui import parameters, runs
from lab.ui.quiz.on_screen import about
from lab.ui.room.picture import picture


def another(asked: Question, again: Mapping[str, Sequence[Asking]]) -> Question | None:
    """Return a question with the id of ``asked`` about an example sentence; None if no example gives a clear answer.

    A question about places in a figure comes with its figure, or not at all. Raises RoomError if this server has not
    the model that the question is about.
    """
    builder, named = again.get(asked.lesson), asked.link.get(parameters.MODEL.name, "")
    model = runs.readable(named or parameters.MODEL.default)
    if named and model != named:
        raise RoomError(f"This server has no model called {quoted(named)}, so there is no third question.")
    if builder is None or model is None:
        return None
    before = asked.link.get(parameters.TEXT.name, parameters.TEXT.default)
    for example in EXAMPLES:
        if example.text == before or "[MASK]" in example.text:
            continue
        try:
            spot = Spot.of(runs.run(model, example.text, example.pair, Interventions()))
        except TextError:
            continue
        made = ((asking, asking(spot)) for asking in builder)
        asking, found = next(((a, q) for a, q in made if q is not None and q.id == asked.id), (None, None))
        if asking is None or found is None or not _is_another(found, asked):
            continue
        figure = None if asking.figure is None else asking.figure(spot)
        if found.place is None or figure is not None:
            link = {"text": example.text, "pair": example.pair, "model": model}
            link |= {"layer": str(spot.layer + 1), "head": str(spot.head + 1)}
            kept = {name: value for name, value in link.items() if value}
            of = place(spot.layer, spot.head)
            of_kind = replace(found.asked_for(asked.kind), lesson=asked.lesson)
            return replace(of_kind, about=found.about or about(kept, of), link=kept, picture=picture(figure))
    return None


def _is_another(found: Question, asked: Question) -> bool:
    """Return whether ``found`` needs the same kind of answer as ``asked``, but has another wording or other tokens."""
    tokens = asked.picks.tokens if asked.picks is not None else ()
    others = found.picks is not None and bool(tokens) and found.picks.tokens != tokens
    return asked.kind in found.kinds and (found.prompt != asked.prompt or others)
