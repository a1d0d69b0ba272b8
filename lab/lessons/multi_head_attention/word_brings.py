"""What does a word bring?: one word after the other is cut off from all tokens, and the model's best words are read."""

from __future__ import annotations

from functools import partial

import numpy as np

from lab.analysis.flow.cut_off import MOST, CutOff, asked_of, cut_off
from lab.analysis.heads.swapping import Asked
from lab.charts.base.axes import Axis, Scale
from lab.charts.cells.categories import word_grid
from lab.charts.cells.grid import Texts
from lab.charts.cells.heatmap import Heatmap
from lab.course.sentences.looks import is_story
from lab.course.words import quoted, told_apart
from lab.evidence import story
from lab.lessons.multi_head_attention import LESSON
from lab.models.interventions import Interventions
from lab.models.trace import Trace
from lab.questions.asking import asks
from lab.questions.question import Option, Question, bet
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say, say_more
from lab.ui.sentence import show_asked
from lab.ui.shared.one_head import OneHead
from lab.ui.shared.prediction import cannot_predict

IDEA = """
Where a head looks is not yet what matters. So cut a word off from everybody: in every layer, no other token can look
at it. Which word does the model say then?"""
FIGURE = "Each row is a run with one word cut off, and its four most probable words."
READING = """
With {word} cut off, {best} goes from {before:.2f} to **{after}**{most}; {then}
({probability:.2f})."""
MOST_CUT = ", the largest fall in the figure"
STORY = """
A city still comes first: *france* says **which**. Without *capital*, *french* and *france* come first, not a city:
*capital* says **what kind**. Without *is*, *is* itself comes first: the blank may be the verb."""
# What is left if only the links of the heads that look at a word are cut.
LINKS = """
**Is it the heads that look?** Now only the heads that look at a word lose it from the blank’s view; every other head
still sees it. If the four heads at *is*, or the four at *capital*, lose their word, *paris* still comes first
({verb:.2f}, {capital:.2f}): the blank gets both through other heads and other tokens, too. If the two heads at *France*
lose it, another city comes first. Countries differ: of {count}, the capital still comes first in {verbs} without the
looks at *is*, in {capitals} without those at *capital*, and in {countries} without those at the country."""
LIST = """
**In other countries’ sentences, too?** The lab asked about {all} countries; the model names the capital of {count}. In
these {count} sentences, the model puts *is* into the blank in {verbs} if *is* is cut off. The capital still comes
first in {kinds} of them if *capital* is cut off. If the country is cut off, the sentences no longer differ for the
blank, and *{same}* comes first."""
CAVEAT = """
A cut shows whether the answer changes if no token can look at the word. It does not show which vectors carry what the
word says (lesson 9)."""
MARKS = " Marks count, too: with the full stop cut off, a colon comes first."
NOTHING = "There is no word here that could be cut off. Write a longer sentence."
FIRST = " You see the first ten words."


def show(view: OneHead) -> Trace | None:
    """Cut off one word after the other; return the run that the badge proves."""
    say(IDEA)
    asked = asked_of(view.trace)
    if asked is None:
        say(cannot_predict(view.trace.model) or NOTHING)
        return None
    show_asked(asked.run, asked.place)
    if not predict(LESSON, without_capital()):
        return asked.run
    rows = cut_off(asked)
    if len(rows) < 2:
        say(NOTHING)
        return asked.run
    say(FIGURE + FIRST * (len(rows) > MOST))
    draw(partial(what_is_left, asked.run, asked.place), "what-is-left")
    found, told = reading(asked, rows), story.known(view.trace.model)
    if is_story(view.trace) and told is not None:
        meaning(f"{found} {STORY}")
        say_more(links(told))
        say_more(of_cuts(told))
    else:
        meaning(found)
    caption(CAVEAT + MARKS * is_story(view.trace))
    code(Interventions.steps)
    return asked.run


def reading(asked: Asked, rows: list[CutOff]) -> str:
    """Name the word without which the best word loses most."""
    plain, *cuts = rows
    most = min(cuts, key=lambda row: row.kept)
    assert most.token is not None
    first = most.best[0].word
    return READING.format(
        word=told_apart(asked.run, most.token),
        best=quoted(plain.best[0].word),
        before=plain.kept,
        after=f"{most.kept:.2f}" if most.kept >= 0.01 else "less than 0.01",
        most=MOST_CUT * (round(most.kept, 2) < round(plain.kept, 2)),
        then=f"{quoted(first)} {'still ' * (first == plain.best[0].word)}comes first",
        probability=most.best[0].probability,
    )


def links(found: story.CourseStory) -> str:
    """Say what the model says if only the heads that look at a word cannot look at it."""
    said = {row.change: row for row in found.said}
    verb, capital, _ = (said[f"heads at {word}, link cut"] for word in story.WORDS)
    first = {word: found.first_after(f"heads at {word}, link cut") for word in story.WORDS}
    verbs, capitals, countries = (first[word] for word in story.WORDS)
    numbers = {"count": len(found.named), "verbs": verbs, "capitals": capitals, "countries": countries}
    return LINKS.format(verb=verb.probabilities[0], capital=capital.probabilities[0], **numbers)


def of_cuts(found: story.CourseStory) -> str:
    """Say what the cuts do in the sentences about the countries of the fixed list."""
    verbs = sum(row.best == "is" for row in found.removed if row.change == "is cut off from everybody")
    kinds = found.first_after("capital cut off from everybody")
    (same,) = {row.best for row in found.removed if row.change == "country cut off from everybody"}
    return LIST.format(all=len(found.countries), count=len(found.named), verbs=verbs, kinds=kinds, same=same)


@asks(
    basis=bet(
        "The model loses the whole answer without a word that matters.",
        "Each word adds something of its own, and the rest stays.",
        "The model copies the words at which it looks.",
    ),
    hint="*France* can still be heard.",
)
def without_capital() -> Question:
    """Ask what the model says about France if no token can hear *capital*."""
    return Question(
        "without-capital",
        "Cut *capital* off from everybody in *The capital of France is ▢.* Which words does lab-minilm find most "
        "probable then?",
        (
            Option(
                "*french* and *france*, and no city leads",
                "*France* can still be heard, and says which country. Hardly anything asks for a city any more.",
                correct=True,
            ),
            Option(
                "Cities, but of any country",
                "That is what happens without *France*: *capital* asks for a city, and nobody says of which country.",
            ),
            Option(
                "*capital*, because it is missing",
                "The words around the blank do not ask for *capital* there, whether it can be heard or not.",
            ),
        ),
        mixed=True,
    )


def what_is_left(traced: Trace, place: int) -> Heatmap:
    """Draw the four most probable words at ``place``: as the text is, and with each of its words cut off."""
    rows = cut_off(Asked(traced, place))
    cut = [row.token for row in rows if row.token is not None]
    twice = {label for label in traced.labels if traced.labels.count(label) > 1}
    numbers = [f" ({token + 1})" * (traced.labels[token] in twice) for token in cut]
    names = ["as it is", *(f"without {traced.labels[each]}{at}" for each, at in zip(cut, numbers, strict=True))]
    texts = [[each.word for each in row.best] for row in rows]
    values = np.array([[each.probability for each in row.best] for row in rows])
    axes = Axis("Cut off from everybody", names), Axis("Most probable words", ["first", "second", "third", "fourth"])
    title = "What the model says without a word"
    return word_grid(values, Texts("Word", texts), axes, Scale("Probability", (0.0, 1.0), ".2f"), title=title)
