"""The meaning of a comparison, in a sentence computed from the two runs."""

from __future__ import annotations

from lab.benches.compare.shown import ComparedWords
from lab.course.words import quoted
from lab.models.trace import Trace


def best_words(a: ComparedWords, b: ComparedWords, runs: tuple[Trace, Trace]) -> str:
    """Name each run's most probable word; if the runs differ in one token only, say that this token changed the word.

    No cause is named for two models, other weights, or a run with an intervention.
    """
    one_run, other_run = runs
    (first, p), (second, q) = (_best(each) for each in (a, b))
    if first == second:
        said = f"Both expect {quoted(first)} most: A gives this word {p:.2f}, and B gives it {q:.2f}."
        moved = "does not change the word that comes first"
    else:
        said = f"A’s first word is {quoted(first)} ({p:.2f}), and B’s is {quoted(second)} ({q:.2f})."
        moved = "is enough to move the model from one word to the other"
    places = [at for at, (one, other) in enumerate(zip(one_run.tokens, other_run.tokens, strict=False)) if one != other]
    alike = one_run.model.id == other_run.model.id and one_run.interventions == other_run.interventions
    if not alike or len(one_run) != len(other_run) or len(places) != 1:
        return said
    one, other = (quoted(each.tokens[places[0]]) for each in runs)
    return f"{said} A and B differ in one token, {one} and {other}: this swap {moved}."


def _best(words: ComparedWords) -> tuple[str, float]:
    top = int(words.values.argmax())
    return words.word(top), float(words.values[top])
