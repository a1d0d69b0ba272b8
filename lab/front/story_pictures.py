"""The story of the course in pictures: small figures, each with the sentences that rest on its numbers."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass

import streamlit as st

from lab.analysis.words.neighbours import nearest_in_table
from lab.charts.base.colour import CHOSEN
from lab.course.pages import lesson_of, number
from lab.evidence.story import BLANK, COUNTRY, RIVAL, SENTENCE, CourseStory, WordLook, known
from lab.models.catalogue import DEFAULT_MODEL
from lab.models.loading import LoadedModel
from lab.ui import runs, selection

# Each sentence, and the lesson and the step that show it.
VECTORS = """
Each token becomes a vector, made of its word and its place: in the table of words, the row of *france* is nearest to
the rows of {near}."""
LOOKS = """
Heads look from the blank at *is*, at *capital*, at *france*, and what they bring is added to its vector; *is* and
*capital* reach it through other heads and tokens, too. If no token can look at *is* in any layer, the blank may be a
verb; at *capital*, something French comes first; at *france*, some city."""
COPIED = """
Before layer 6, *france*’s own vector decides. In layer 6, two heads bring to the blank which country it is: with theirs
from the sentence about Russia, *{other}* comes first."""
NETWORK = """
A layer also has a feed-forward network, which computes with the vector of each token alone. With the neurons of layer 6
at zero, *{country}* comes first in this sentence, and not its capital."""
SCORES = """
The blank’s last vector is prepared once more, and compared with the row of each of {words:,} tokens. This, and a bias
of the token, gives its logit, and softmax makes shares of the logits."""
LEARNED = """
A model learns its numbers by many small steps. In the texts of this model, some words were hidden, and the steps made
them less of a surprise. The surprise of *paris* here, its **loss**, is −ln {p:.3f} = {loss:.2f}."""
_STYLE = f"""<style>
.mini {{ display: grid; grid-template-columns: 6em 1fr 2.6em; gap: 2px 8px; align-items: center; font-size: .85rem;
  max-width: 20em; }}
.mini-title {{ font-size: .8rem; margin: 0 0 2px; opacity: .7; }}
.mini span {{ text-align: right; }}
.mini i {{ display: block; height: 12px; border-radius: 3px; background: {CHOSEN}; min-width: 2px; }}
</style>"""
_TOP = 3


@dataclass(frozen=True)
class StorySentence:
    """A sentence of the story, the lesson and the step (ids) that show it, and the bars of its small figure."""

    text: str
    lesson: str
    step: str
    title: str
    bars: tuple[tuple[str, float], ...]


def sentences(model: LoadedModel, found: CourseStory) -> tuple[StorySentence, ...]:
    """Return the parts of the story, with the numbers of the model and of its shipped story."""
    said = {row.change: row for row in found.said}
    plain, swapped = said["as it is"], said["heads at country, from Russia"]
    alone = said["network of the last layer at zero"]
    country = model.tokenizer.token_to_id(COUNTRY[0].lower())
    assert country is not None  # the story that ships is about it
    near = nearest_in_table(model, country, _TOP).nearest
    looks = [_most(found, word) for word in ("is", "capital", "country")]
    p = plain.probabilities[0]
    words = [f"*{each.word}*" for each in near]
    return (
        StorySentence(
            VECTORS.format(near=f"{', '.join(words[:-1])} and {words[-1]}"), "embeddings", "like-words",
            "Cosine with the row of france", tuple((each.word, each.cosine) for each in near),
        ),
        StorySentence(
            LOOKS, "multi-head-attention", "word-brings", "Attention from the blank, in one head each",
            tuple((f"{_word(look)}, {look.layer + 1}-{look.head + 1}", look.weight) for look in looks),
        ),
        StorySentence(
            COPIED.format(other=swapped.words[0]), "multi-head-attention", "head-brings",
            "First: as it is, and with two heads swapped",
            tuple((each.words[0], each.probabilities[0]) for each in (plain, swapped)),
        ),
        StorySentence(
            NETWORK.format(country=alone.words[0]), "feed-forward", "plan", "First: with the network, and without it",
            tuple((each.words[0], each.probabilities[0]) for each in (plain, alone)),
        ),
        StorySentence(
            SCORES.format(words=model.config.vocabulary), "masked-language-model", "from-vector-to-word",
            "The most probable words", tuple(zip(plain.words, plain.probabilities, strict=True))[:_TOP],
        ),
        StorySentence(
            LEARNED.format(p=p, loss=-math.log(p)), "how-it-learns", "many-steps",
            "Surprise of a word, −ln of its share",
            tuple((word, -math.log(each)) for word, each in zip(plain.words, plain.probabilities, strict=True))[:_TOP],
        ),
    )  # fmt: skip


def _most(found: CourseStory, word: str) -> WordLook:
    return max((look for look in found.looks if look.word == word), key=lambda look: look.weight)


def _word(look: WordLook) -> str:
    return COUNTRY[0].lower() if look.word == "country" else look.word


def show_story(*, links: bool) -> None:
    """Draw the story of the course's sentence; with ``links``, each part leads to its step."""
    if runs.readable(DEFAULT_MODEL) != DEFAULT_MODEL or (found := known(runs.model(DEFAULT_MODEL))) is None:
        return
    st.markdown(f"*{SENTENCE.format(COUNTRY[0])}* Where does *{COUNTRY[1].lower()}* come from, and not "
                f"*{RIVAL[1].lower()}*? {BLANK} is the blank.")  # fmt: skip
    st.html(_STYLE)
    for place, each in enumerate(sentences(runs.model(DEFAULT_MODEL), found), start=1):
        left, right = st.columns([1, 2], vertical_alignment="center", gap="medium")
        with left:
            st.html(mini(each))
        with right:
            st.markdown(f"**{place}.** {' '.join(each.text.split())}")
            lesson = lesson_of(each.lesson)
            name = lesson.step(each.step).name
            label = f"Lesson {number(lesson)}: {name}"
            if links and st.button(label, key=f"_story.{each.step}", type="tertiary", icon=":material/arrow_forward:"):
                selection.open_page(lesson, name)


def mini(sentence: StorySentence) -> str:
    """Write the small figure of a sentence as HTML: a bar for each number, as long as its share of 1 or the largest."""
    most = max(1.0, *(value for _, value in sentence.bars))
    rows = "".join(
        f'<span>{html.escape(label)}</span><i style="width:{100 * value / most:.0f}%"></i><b>{value:.2f}</b>'
        for label, value in sentence.bars
    )
    told = "; ".join(f"{label} {value:.2f}" for label, value in sentence.bars)
    told = html.escape(f"{sentence.title}: {told}")
    title = f'<p class="mini-title">{html.escape(sentence.title)}</p>'
    return f'{title}<div class="mini" role="img" aria-label="{told}">{rows}</div>'
