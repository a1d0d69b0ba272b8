"""What the figures of the embeddings lesson mean, in sentences that the learner's numbers choose."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lab.analysis.words.neighbours import (
    Neighbour,
    cosine_by_state,
    is_whole,
    nearest_in_table,
    nearest_in_texts,
)
from lab.course.words import beside, quoted, signed
from lab.lessons.embeddings.word_figures import NEAREST
from lab.models.trace import Trace
from lab.text.bundled import bundled_sentences

# As many neighbours are named; the figure has more.
_NAMED = 3
# Two vectors whose cosine is at least that point nearly the same way.
_ALIKE = 0.9


@dataclass(frozen=True)
class Use:
    """A word in a sentence: the run, and the place of its token, from 0."""

    trace: Trace
    token: int

    @property
    def word(self) -> str:
        return quoted(self.trace.labels[self.token])


def like_words(trace: Trace, token: int) -> str:
    """Which rows of the token table are most like that of ``token``, and how like they are."""
    token_id, word = trace.token_ids[token], quoted(trace.labels[token])
    found = nearest_in_table(trace.model, token_id, NEAREST)
    if not found.nearest:
        return f"The vocabulary has no other word to compare {word} with."
    named = found.nearest[:_NAMED]
    cosines = _listed([signed(each.cosine) for each in named])
    most = (
        f"Of the other {found.count:,} words, {_words(named)} {'have rows' if len(named) > 1 else 'has the row'} most "
        f"like that of {word}: {'cosines' if len(named) > 1 else 'cosine'} {cosines}. The mean over all of them is "
        f"{signed(found.mean)}."
    )
    if trace.encoding.special[token]:
        return f"{most} {word} is a special token, no word: choose another."
    if not is_whole(trace.model.tokenizer, token_id):
        return f"{most} {word} is no whole word of two letters or more, so do not expect a meaning here."
    return f"{most} Whether they also mean something alike is for you to judge."


def two_uses(first: Use, second: Use, texts: tuple[str, ...] = ()) -> str:
    """One word at two places: how like its vectors still are after the last layer, and which words are near each."""
    last = float(cosine_by_state(first.trace, first.token, second.trace, second.token)[-1])
    near = [nearest_in_texts(use.trace, use.token, texts or bundled_sentences(), NEAREST) for use in (first, second)]
    limit = beside(last, _ALIKE)
    told = (
        f"The layers hardly tell the two apart: their cosine is still {limit}."
        if last >= _ALIKE
        else f"The layers take the two apart: their cosine falls from 1 to {limit}."
    )
    start = f"Both uses of {first.word} begin with one row of the table. {told}"
    if not all(each.nearest for each in near):
        return start
    shared = len({each.word for each in near[0].nearest} & {each.word for each in near[1].nearest})
    common = {0: "They share none", len(near[0].nearest): "They share all"}.get(shared, f"They share {shared}")
    return (
        f"{start} Nearest to the first are {_words(near[0].nearest[:_NAMED])}, to the second "
        f"{_words(near[1].nearest[:_NAMED])}. {common} of their {len(near[0].nearest)} neighbours."
    )


def one_use(use: Use, texts: tuple[str, ...] = ()) -> str:
    """A word that stands in the text once: its neighbours in the table, and after the last layer."""
    table = nearest_in_table(use.trace.model, use.trace.token_ids[use.token], NEAREST).nearest
    after = nearest_in_texts(use.trace, use.token, texts or bundled_sentences(), NEAREST).nearest
    if not table or not after:
        return f"There is no other word to compare {use.word} with."
    return (
        f"In the token table, {_words(table[:_NAMED])} are most like {use.word}. After the last layer, in this "
        f"sentence, {_words(after[:_NAMED])} are. The first list depends on the word alone, the second on what "
        "stands around it, too."
    )


def _words(found: Sequence[Neighbour]) -> str:
    return _listed([quoted(each.word) for each in found])


def _listed(parts: Sequence[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"
