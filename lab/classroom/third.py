"""The third question: of the same kind, computed from another sentence's tensors."""

from __future__ import annotations

from collections.abc import Mapping

from lab.course.sentences.examples import EXAMPLES
from lab.figures.attention import place
from lab.models.encoding import TextError
from lab.models.interventions import Interventions
from lab.questions.question import Question
from lab.questions.returning import Returning, Spot
from lab.rooms.questions import Posed
from lab.ui import parameters, runs
from lab.ui.quiz.asked import about
from lab.ui.room.asking import kinds, posed

NONE = "No other sentence of the lab gives a clear answer to a question of this kind, so there is no third question."


def another(asked: Posed, again: Mapping[str, Returning]) -> Posed | None:
    """Return a question with the id of ``asked`` about an example sentence; None if no example gives a clear answer."""
    builder = again.get(asked.lesson)
    model = runs.readable(asked.link.get(parameters.MODEL.name, parameters.MODEL.default))
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
        found = next((each for each in builder(spot) if each is not None and each.id == asked.question), None)
        if found is not None and _is_another(found, asked):
            link = {"text": example.text, "pair": example.pair, "model": model}
            link |= {"layer": str(spot.layer + 1), "head": str(spot.head + 1)}
            kept = {name: value for name, value in link.items() if value}
            return posed(asked.lesson, found, about(kept, place(spot.layer, spot.head)), kept, asked.kind)
    return None


def _is_another(found: Question, asked: Posed) -> bool:
    """Return whether ``found`` needs the same kind of answer as ``asked``, but has another wording or other tokens."""
    tokens = asked.place.picks.tokens if asked.place is not None else ()
    others = found.place is not None and bool(tokens) and found.place.picks.tokens != tokens
    return asked.kind in kinds(found) and (found.prompt != asked.prompt or others)
