"""How many does it look at? The effective number of tokens of a row: by hand for three weights, then in all heads."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from lab.analysis.heads.metrics import effective_keys
from lab.analysis.heads.values import Values, row_entropy
from lab.charts.base.axes import Scale
from lab.charts.base.figure import Figure
from lab.charts.marks.bars import bars
from lab.course.words import capital, head_name, spoken
from lab.figures.attention import other_words
from lab.lessons.attention_metrics import LESSON
from lab.models.trace import Trace
from lab.questions.asking import Spot, asks
from lab.questions.question import Option, Question, derivable
from lab.ui.drawing import code, draw
from lab.ui.quiz.step_questions import predict
from lab.ui.screen import caption, meaning, say
from lab.ui.shared.one_head import OneHead, show_sentence

IDEA = """
A row gives each token some weight, but many of these weights may be tiny. The **effective number of tokens** says how
many equal weights would be spread as widely. Three rows of three weights (a weight of 0 adds nothing):"""
READING = """
From {query}, {head} looks at **{keys:.1f}** tokens in effect: the entropy of this row is {entropy:.2f}, and
e^{entropy:.2f} ≈ {keys:.1f}."""
STORY = """
Two rows are sharper than this one: 1-3 looks at the blank itself, and 3-10 at [CLS]. Of these ten rows, three look at
another word, 6-4 among them, and seven at [CLS] or at the blank itself. So a small number says that a row is sharp. It
does not say at what the row looks, nor that the answer needs it."""
# Rows of three weights, from one that looks at one token to an even one, as one would write them.
THREE = (("1 · 0 · 0", (1, 0, 0)), ("½ · ½ · 0", (1 / 2, 1 / 2, 0)), ("⅓ · ⅓ · ⅓", (1 / 3, 1 / 3, 1 / 3)))
_SHOWN = 10  # heads in the figure


def show(view: OneHead) -> None:
    """Show one row and the rule on three weights; after the question, the heads with the sharpest rows."""
    show_sentence(view)
    say(IDEA)
    say(by_hand())
    if not predict(LESSON, at_how_many()):
        return
    draw(partial(sharpest, view.trace, view.layer.index, view.head, view.query), "sharpest")
    told = f"The dashed line is {head_name((view.layer.index, view.head))}. Strong bars look most at another word."
    caption(told)
    found = capital(reading(view.spot).strip())
    meaning(f"{found} {STORY}" if view.spot.in_story_row else found)
    code(effective_keys)


def by_hand() -> str:
    """The rule on rows of three weights, as a table in Markdown."""
    entropies = row_entropy(np.array([[weights for _, weights in THREE]], dtype=np.float32))[0].tolist()
    lines = [
        f"| {name} | {abs(entropy):.2f} | {math.exp(entropy):.1f} |"
        for (name, _), entropy in zip(THREE, entropies, strict=True)
    ]
    head = "| Three weights | −w · ln w, added up: the **entropy** | e to the entropy: **effective number of tokens** |"
    return "\n".join([head, "|---|---|---|", *lines])


def rows_of(traced: Trace, query: int) -> Values:
    """Return the row of ``query`` in every head, (L, H, n)."""
    return np.stack([traced.layer(at).attention[:, query].numpy() for at in range(traced.model.config.layers)])


def sharpest(traced: Trace, layer: int, head: int, query: int) -> Figure:
    """Draw the ten heads that look from ``query`` at the fewest tokens in effect, each with its favourite token.

    Full colours: the favourite is another word. The dashed line is the effective number of ``head`` of ``layer``.
    """
    rows = rows_of(traced, query)
    keys = effective_keys(rows)
    order = [divmod(int(at), keys.shape[1]) for at in np.argsort(keys, axis=None, kind="stable")[:_SHOWN]]
    favourites = [int(rows[at, of].argmax()) for at, of in order]
    labels = [f"{at + 1}-{of + 1} → {traced.labels[key]}" for (at, of), key in zip(order, favourites, strict=True)]
    elsewhere = np.flatnonzero(other_words(traced, query)[favourites]).tolist()
    scale = Scale("Tokens in effect", (0.0, max(float(keys[each]) for each in order)), ".2f")
    title = f"From {traced.labels[query]}: the heads that look at the fewest tokens in effect"
    values, own = [float(keys[each]) for each in order], float(keys[layer, head])
    return bars(labels, values, scale, title=title, highlight=elsewhere or None, reference=own)


def reading(spot: Spot) -> str:
    """State the effective number of tokens of the row on screen."""
    keys = float(effective_keys(spot.traced.attention[spot.head, spot.query]))
    head = head_name((spot.layer, spot.head))
    return READING.format(query=spoken(spot.trace, spot.query), head=head, keys=keys, entropy=math.log(keys))


@asks(
    basis=derivable(LESSON, "effective", "the table of three weights"),
    hint="Is this row more like the first row of the table, or more like the last one?",
)
def at_how_many() -> Question:
    """Ask for the effective number of tokens of the blank's row in the course's head."""
    return Question(
        "at-how-many",
        "From the blank, head 6-4 of lab-minilm gives *france* 0.96; the eight other tokens share the rest. At how "
        "many tokens does "
        "it look in effect?",
        (
            Option("At 9", "Nine would be an even row, in which each of the nine tokens gets 0.11."),
            Option(
                "At 1.3",
                "The row is nearly the first row of the table, which has 1. What the eight others get adds a little.",
                correct=True,
            ),
            Option("At 1", "In a row that looks at exactly 1 token, all others get 0. Here they share 0.04."),
        ),
        mixed=True,
    )


@asks(
    basis=derivable(LESSON, "effective", "the table of three weights"),
    hint="When does one place of a row get everything? When are all its weights equal?",
)
def one_weight_more() -> Question:
    """Ask how the effective number of a row changes if its largest weight grows: it gets smaller."""
    return Question(
        "one-weight-more",
        "The largest weight of a row grows, and all its other weights shrink by the same factor. What happens to the "
        "effective number of tokens?",
        (
            Option(
                "It gets smaller",
                "The row gets sharper. If the one weight reached 1, the effective number would be 1.",
                correct=True,
            ),
            Option(
                "It stays the same",
                "The row still adds up to 1, and as many tokens have a weight. But the number asks how even they are.",
            ),
            Option("It gets larger", "A weight grew, but the row got less even: an even row has the largest number."),
        ),
        mixed=True,
    )
