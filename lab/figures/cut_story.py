"""The sentences about a cut: what was cut, the word's probability before and after it, and the ways that are needed.

A cut shows what happens without a way. A sentence says *because* only of a word of the text that no other token hears
and whose loss matters; never of a special token or of a causal model's first token, whose cut changes every row of
attention, whatever they say.
"""

from __future__ import annotations

from lab.analysis.flow.cuts import Cuts, Way, elsewhere, is_sink
from lab.analysis.flow.ways_in import CutEffect, Needed, Ways, effect, ways
from lab.charts.components.word_forms_picture import LEADS, PLAIN, WORD, Spans
from lab.course.words import listed, percent, stopped
from lab.figures.forming import Forming, bare, said
from lab.models.encoding import word_of


def cut_story(forming: Forming) -> Spans:
    """Name the cuts and tell their effect. For a single token, tell also whether its ways are needed."""
    cut = (f"{made(forming)} ", PLAIN)
    if not forming.has_words:
        return (cut,)
    found = effect(forming.before, forming.watched, forming.cuts)
    told = (cut, *_change(forming, found))
    if (only := only_token(forming.cuts)) is None:
        return told
    token, way = only
    if is_sink(forming.before, token):
        return (*told, *_of_a_sink(forming, token, way, found))
    return (*told, *_of_a_word(forming, token, way))


def only_token(cuts: Cuts) -> tuple[int, Way] | None:
    """Return the one token that is cut off, and in which way; None if more or something else is cut."""
    return cuts.tokens[0] if len(cuts.tokens) == 1 and cuts == Cuts(tokens=cuts.tokens) else None


def name_of(forming: Forming, word: int) -> str:
    """Name a word of the vocabulary as the picture does."""
    return bare(word_of(forming.now.model.tokenizer, word))


def made(forming: Forming) -> str:
    """Name all cuts in a sentence."""
    cuts, at = forming.cuts, forming.name(forming.watched)
    told = []
    for way, says in (
        (Way.BOTH, "no other token hears {}"),
        (Way.AROUND, f"no token but {at} hears {{}}"),
        (Way.DIRECT, f"{at} does not hear {{}}"),
        (Way.OTHER, f"{{}} says what it says in “{elsewhere(forming.before)}”"),
    ):
        if tokens := [forming.name(token) for token, its in cuts.tokens if its is way]:
            told.append(says.format(listed(tokens)))
    if cuts.links:
        told.append("one link is cut" if len(cuts.links) == 1 else f"{len(cuts.links)} links are cut")
    if cuts.in_heads:
        heads = len(cuts.in_heads)
        told.append("one head of a link is cut" if heads == 1 else f"{heads} heads of links are cut")
    sentence = " and ".join(told)
    return stopped(f"{sentence[0].upper()}{sentence[1:]}")


def _change(forming: Forming, found: CutEffect) -> Spans:
    """Say how the best word's probability changes, and which word is the best one now."""
    was = (f"“{name_of(forming, found.word)}”", WORD)
    moves = (f" {_moves(found)}.", PLAIN)
    if found.is_little:
        return ("Little changes: ", PLAIN), was, moves
    if not found.changed:
        return was, (" stays the best word, but" if found.kept < found.was else "", PLAIN), moves
    gone = found.was >= LEADS > found.leads
    now = f"No {forming.kind} is likely any more, and the best one is " if gone else f"The best {forming.kind} is now "
    return (now, PLAIN), *said(name_of(forming, found.best), found.leads), (". ", PLAIN), was, moves


def _moves(found: CutEffect) -> str:
    before, after = percent(found.was), percent(found.kept)
    if before == after:
        return f"stays at {before}"
    return f"{'falls' if found.kept < found.was else 'rises'} from {before} to {after}"


def _of_a_word(forming: Forming, token: int, way: Way) -> Spans:
    """Say which ways of a word of the text are needed, where its cut from all tokens matters."""
    found = ways(forming.before, forming.watched, token)
    if found.needed is None:
        return ()
    return ((f" {_needed(found.needed, found, way)}", PLAIN),)


# The ways that a word needs; and of a way that was cut alone, that it is not one of them.
_NEEDED = {
    Needed.DIRECT: "So the direct way is needed: the ways around, through other tokens, do not make up for it.",
    Needed.AROUND: "So the ways around, through other tokens, are needed: the direct way does not make up for them.",
    Needed.BOTH: "Both ways are needed.",
}
_NOT_NEEDED = {
    (Needed.DIRECT, Way.AROUND): "So the word needs the direct way, and not the ways around, through other tokens.",
    (Needed.AROUND, Way.DIRECT): "So the word needs the ways around, through other tokens, and not the direct way.",
}


def _needed(needed: Needed, found: Ways, way: Way) -> str:
    """Name the ways that are needed; the three cuts beside the words have the probabilities that say so."""
    if needed in _NEEDED:
        return _NOT_NEEDED.get((needed, way), _NEEDED[needed])
    if found.costlier is None:
        return "Either way is enough."
    costlier = "the direct way" if found.costlier is Way.DIRECT else "the ways around"
    return f"Either way is enough, but more is lost without {costlier}."


def _of_a_sink(forming: Forming, token: int, way: Way, found: CutEffect) -> Spans:
    """Say what does not follow from the cut of a token at which attention may rest."""
    name = forming.name(token)
    if way is not Way.OTHER:
        if found.is_little:
            return ()
        why = f" Without {name}, attention has to rest on other tokens. The change may come from this alone."
        return ((why, PLAIN),)
    if found.matters or not ways(forming.before, forming.watched, token).both.matters:
        return ()
    return ((f" So the model needs {name} as a token to look at, but not what {name} says here.", PLAIN),)
