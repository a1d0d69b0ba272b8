"""Questions about words and their vectors: which words are similar, and how one word differs in two sentences."""

from __future__ import annotations

from collections.abc import Sequence

from lab.analysis.words.neighbours import cosine_by_state, is_whole, nearest_in_table
from lab.course.words import named, quoted
from lab.lessons.embeddings.meanings import Use
from lab.models.trace import Trace
from lab.questions.kinds import which_holds
from lab.questions.question import MARGIN, Option, Question, shuffled

# The ranks of the wrong words in the list of neighbours, from 0.
_RANKS = (60, 400, 1500)
# The least distance of the nearest word's cosine from the mean over all words, for a question.
_CLEAR = 0.25
_EQUAL = 1e-3


def nearest_word(trace: Trace, token: int) -> Question | None:
    """Ask which of four words has the row most like the row of ``token``. None for a token that is not a whole word."""
    token_id = trace.token_ids[token]
    if trace.encoding.special[token] or not is_whole(trace.model.tokenizer, token_id):
        return None
    found = nearest_in_table(trace.model, token_id, _RANKS[-1] + 1)
    if len(found.nearest) <= _RANKS[-1] or found.nearest[0].cosine < found.mean + _CLEAR:
        return None
    best, *wrong = (found.nearest[rank] for rank in (0, *_RANKS))
    if best.cosine - wrong[0].cosine < MARGIN:
        return None
    told = f"The cosine of {quoted(best.word)} is {best.cosine:.2f}, the largest of all {found.count:,} words"
    options = [Option(quoted(best.word), f"{told}.", correct=True)] + [
        Option(quoted(each.word), f"{told}. For {quoted(each.word)} it is {each.cosine:.2f}.") for each in wrong
    ]
    prompt = f"Which of these words has the row that is most like the row of {named(trace, token)}?"
    return shuffled("nearest-word", prompt, options)


def where_equal(uses: Sequence[Use]) -> Question | None:
    """Ask where the vectors of one token in two sentences are equal: in the table, after the last layer, or in both."""
    if len(uses) != 2:
        return None
    first, second = uses
    last = float(cosine_by_state(first.trace, first.token, second.trace, second.token)[-1])
    if 1 - MARGIN < last < 1 - _EQUAL:
        return None
    why = (
        f"The token table has one row for {first.word}. After the last layer the cosine of the two vectors is "
        f"{last:.2f}: the layers have used the words around it."
    )
    outcomes = {
        "In the token table, but not after the last layer": last < 1 - MARGIN,
        "In the token table and after the last layer: it is one word": last >= 1 - _EQUAL,
        "Neither in the token table nor after the last layer": False,
    }
    texts = " and in ".join(quoted(use.trace.text) for use in uses)
    return which_holds(
        "where-equal", f"{first.word} occurs in {texts}. Where are its two vectors equal?", why, outcomes
    )


def who_bit_whom(plain: Sequence[Use], without: Sequence[Use]) -> Question | None:
    """Ask if a word's last vector is the same in two orders of the same words.

    ``without``: the runs without positions.
    """
    if len(plain) != 2 or len(without) != 2:
        return None
    moved, kept = _moved(plain), _moved(without)
    if moved < MARGIN:
        return None
    because = (
        "Nothing else showed the model the order."
        if kept < _EQUAL
        else "In this model, a mask also tells which words come before a word, or near it."
    )
    differ = f"by {kept:.1%} of their length, with positions by {moved:.0%}"
    why = f"Without positions the two vectors differ {differ}. {because}"
    outcomes = {
        "Yes: the sentences have the same words": kept < _EQUAL,
        "No: the words are in another order": kept >= _EQUAL,
    }
    first, second = (quoted(use.trace.text) for use in plain)
    prompt = (
        f"Suppose that you take all places away. Is the last vector of {plain[0].word} the same in {first} and "
        f"in {second}?"
    )
    return which_holds("who-bit-whom", prompt, why, outcomes)


def _moved(uses: Sequence[Use]) -> float:
    """The distance between the last vectors of two uses, as a share of the first vector's length."""
    first, second = (use.trace.output[use.token].double() for use in uses)
    return float((first - second).norm() / first.norm())
