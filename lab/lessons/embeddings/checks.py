"""Predictions and checks of the embeddings lesson, computed from the learner's own trace.

Tokens and dimensions count from 1 in questions, positions of the sinusoids from 0, as in the paper.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lab.analysis.layers.embeddings import SUMMANDS, Array, Gap, Order, Values
from lab.course.words import quoted, told_apart
from lab.models.encoding import Encoding
from lab.models.trace import Trace
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled


def same_word(trace: Trace, vectors: Mapping[str, Array]) -> Question | None:
    """Ask which vectors of a token that occurs twice are equal."""
    twice = _twice(trace.encoding)
    if twice is None:
        return None
    first, second = twice
    token_id, here = trace.token_ids[first], [name for name in SUMMANDS if name in vectors]
    apart = float(np.abs(vectors["sum"][first] - vectors["sum"][second]).max())
    equal = [name for name in here if np.array_equal(vectors[name][first], vectors[name][second])]
    if "token" not in equal or apart < 1e-6:
        return None
    why = (
        f"Both look up row {token_id} of the token table, but their places have different vectors. So their sums "
        f"differ, by up to {apart:.3f}."
    )
    options = (
        Option("Their token vectors are equal, their sums differ", why, correct=True),
        Option("All are equal: it is the same word", why),
        Option("None is equal: they are at different places", why),
    )
    prompt = (
        f"{quoted(trace.labels[first])} is token {first + 1} and token {second + 1}. Which of their vectors are equal?"
    )
    return shuffled("same-word", prompt, options)


def _twice(encoding: Encoding) -> tuple[int, int] | None:
    """The first two places of a token that occurs twice; special tokens only if no other token does."""
    for special in (False, True):
        seen: dict[int, int] = {}
        for place, token_id in enumerate(encoding.token_ids):
            if encoding.special[place] != special:
                continue
            if token_id in seen:
                return seen[token_id], place
            seen[token_id] = place
    return None


def moved_together(pairs: Values, query: str, key: str) -> Question | None:
    """Ask what happens to the cosine of two words when both move on by the same number of places.

    ``pairs`` (P, P) has the cosines of the turned vectors.
    """
    if len(pairs) < 8:
        return None
    places = ((0, 2), (5, 7), (0, 7))
    values = [float(pairs[pair]) for pair in places]
    why = (
        f"At positions 0 and 2 the cosine is {values[0]:.3f}, at 5 and 7 it is {values[1]:.3f}: both pairs are 2 "
        f"apart. At 0 and 7, which are 7 apart, it is {values[2]:.3f}."
    )
    options = (
        Option("It stays the same", why, correct=abs(values[1] - values[0]) < MARGIN),
        Option("It becomes another number", why, correct=abs(values[1] - values[0]) >= MARGIN),
    )
    prompt = (
        f"{query} is at position 0 and {key} at position 2. Both are turned, and compared. Now both tokens move on by "
        "5 places. What happens to their cosine?"
    )
    return Question("moved-together", prompt, options)


def after_reordering(order: Order, gap: Gap, added: bool = True) -> Question:
    """Ask what happens to the outputs without positions if the tokens are in another order.

    ``added`` says that positions are added vectors; otherwise they turn queries and keys. The order must put other
    tokens at some places: otherwise nobody could tell whether the outputs move or stay.
    """
    apart = f"{float(gap.layers[-1]):.2g}"
    rounding = ", which is rounding" if gap.follows else ""
    why = f"Compare each token at its old and at its new place: the largest difference is {apart}{rounding}."
    outcomes = {
        "Each token keeps its vector, at its new place": gap.follows,
        "Each place keeps its vector, whatever token is there now": False,
        "The vectors become other numbers": not gap.follows,
    }
    gone = "The vectors of all places are set to 0" if added else "No vector is turned"
    prompt = f"{gone}, and the tokens are {order}. What happens to the vectors after the last layer?"
    return which_holds("after-reordering", prompt, why, outcomes, mixed=True)


def what_changes(trace: Trace, token: int) -> Question:
    """Ask what changes the first vector of a token: its place, if the model adds positions, never its neighbours."""
    added = trace.model.weights.embeddings.position is not None
    whose = told_apart(trace, token)
    why = (
        f"The first vector is the row of {whose}, and a vector for its place is added. The layers bring in the other "
        "words later."
        if added
        else f"The first vector is the row of {whose} and nothing else. The layers bring in its place and the other "
        f"words later."
    )
    what = "The first layer reads the sum of the vectors of" if added else "The first layer reads the vector of"
    outcomes = {
        "If it is at another place": added,
        "If the words around it are different": False,
        "If it has another meaning in the sentence": False,
        "Never: it is the same in every text": not added,
    }
    prompt = f"{what} {whose}. When does it read other numbers there?"
    return which_holds("what-changes", prompt, why, outcomes, mixed=True)


def no_row_left(trace: Trace) -> Question | None:
    """Ask what a model can do with a place for which it has learned no vector. None if it adds no positions."""
    table, most = trace.model.weights.embeddings.position, trace.model.config.max_tokens
    if table is None:
        return None
    why = f"A learned table ends. {quoted(trace.model.id)} has rows for {most} places, and no vectors for later places."
    outcomes = {
        "It cannot read it: there is no vector for this place": True,
        "It computes the missing vector from the others": False,
        "It reads it without a place": False,
    }
    prompt = f"A text has {most + 1} tokens. What does {quoted(trace.model.id)} do with the last one?"
    return which_holds("no-row-left", prompt, why, outcomes, mixed=True)


def cosine_of_one() -> Question:
    """Ask what the cosine 1 says about two vectors: they point the same way, but need not be equal."""
    why = "The cosine compares directions only. One of the vectors can be longer than the other."
    outcomes = {
        "They point the same way; their lengths can differ": True,
        "They are equal in every number": False,
        "Their words have the same meaning": False,
    }
    return which_holds("cosine-of-one", "Two vectors have the cosine 1. What is certain?", why, outcomes, mixed=True)
