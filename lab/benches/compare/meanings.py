"""What a comparison means, in a sentence computed from the two runs."""

from __future__ import annotations

from collections.abc import Sequence

from lab.benches.compare.shown import Words
from lab.course.words import quoted


def best_words(a: Words, b: Words, a_tokens: Sequence[str], b_tokens: Sequence[str]) -> str:
    """The word that each run finds most probable; and what moved it, where one token alone is another in B.

    ``a_tokens`` and ``b_tokens`` are those that the models read.
    """
    (first, p), (second, q) = (_best(each) for each in (a, b))
    if first == second:
        said = f"Both expect {quoted(first)} most: A with {p:.2f}, B with {q:.2f}."
        moved = "does not change the word that comes first"
    else:
        said = f"A expects {quoted(first)} most, with {p:.2f}; B {quoted(second)}, with {q:.2f}."
        moved = "is enough to move the model from the one to the other"
    places = [at for at, (one, other) in enumerate(zip(a_tokens, b_tokens, strict=False)) if one != other]
    if len(a_tokens) != len(b_tokens) or len(places) != 1 or a.vocabulary != b.vocabulary:
        return said
    one, other = (quoted(each[places[0]]) for each in (a_tokens, b_tokens))
    return f"{said} The two differ in one token, {one} and {other}: that {moved}."


def _best(words: Words) -> tuple[str, float]:
    top = int(words.values.argmax())
    return words.word(top), float(words.values[top])
