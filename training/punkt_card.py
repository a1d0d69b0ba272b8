"""The model card of the Punkt parameters, written from the figures of their own training run."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

from nltk.tokenize.punkt import PunktParameters

from training.corpus import SOURCES
from training.curve import curve
from training.evaluation.punkt import Mistake

_WAYS = {
    "ours": "these parameters with the lab's rules (`lab.text.sentences`)",
    "parameters_only": "these parameters in NLTK's `PunktSentenceTokenizer`",
    "untrained": "NLTK's untrained `PunktSentenceTokenizer()`",
}
_END_MARKS = ".?!…"


@dataclass(frozen=True)
class Run:
    """What one training run did.

    learned    held-out F1 after so many million words
    words      words read of each source
    """

    seconds: float
    learned: tuple[tuple[float, float], ...]
    words: dict[str, int]
    parameters: PunktParameters


def picture(learned: Sequence[tuple[float, float]], figures: dict[str, Any]) -> str:
    """An SVG of held-out F1 over training words."""
    untrained = 100 * figures["paragraphs"]["untrained"]["f1"]
    line = [(0.0, untrained), *((size, 100 * f1) for size, f1 in learned)]
    series = {"learned": line, "untrained": [(0.0, untrained), (learned[-1][0], untrained)]}
    top = math.ceil(max(y for _, y in line)) + 0.5
    return curve(
        "Sentence F1 on held-out text, in %, over training words",
        series,
        "{:.0f} million words",
        low=math.floor(untrained),
        high=top,
    )


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _score_rows(scores: dict[str, dict[str, float]]) -> str:
    return "\n".join(
        f"| {name} | {_percent(s['precision'])} | {_percent(s['recall'])} | **{_percent(s['f1'])}** |"
        for way, name in _WAYS.items()
        for s in [scores[way]]
    )


def _source_rows(words: dict[str, int]) -> str:
    licences = {source.name: source.licence for source in SOURCES}
    return "\n".join(f"| {name} | {licences[name]} | {words[name]:,} |" for name in sorted(words))


def _unmarked(mistake: Mistake) -> bool:
    """Whether no mark stands where the sentence ends."""
    return mistake.before.rstrip("\"')]}’”»")[-1:] not in _END_MARKS


def _examples(wrong: Sequence[Mistake], count: int = 8) -> str:
    """``count`` mistakes evenly spread over the text, as table rows; the bar shows the boundary.

    None with a longer number: this is web text, and a number may be somebody's telephone.
    """
    wrong = [mistake for mistake in wrong if not re.search(r"\d{3}", mistake.before + mistake.after)]
    chosen = [wrong[number * len(wrong) // count] for number in range(min(count, len(wrong)))]
    return "\n".join(f"| {_plain(m.before)} ¦ {_plain(m.after)} |" for m in chosen)


def _plain(text: str) -> str:
    """Web text inside a Markdown table."""
    return re.sub(r"([\\`*_|<>\[\]#~])", r"\\\1", text)


def card(run: Run, figures: dict[str, Any], wrong: Sequence[Mistake], by_hand: Collection[str]) -> str:
    """The card's text. Every figure comes from ``run``, ``figures`` or the list of mistakes."""
    scores, p = figures["paragraphs"], run.parameters
    missed = [m for m in wrong if not m.invented]
    marked = [m for m in missed if not _unmarked(m)]
    failed = figures["failed_cases"]
    total = sum(run.words.values())
    return f"""---
license: apache-2.0
language: en
library_name: nltk
tags: [sentence-segmentation, punkt]
---
# punkt

Parameters of NLTK's Punkt sentence tokenizer, learned for *Inside BERT* from openly licensed prose
(Kiss & Strunk 2006, Unsupervised Multilingual Sentence Boundary Detection): {len(p.abbrev_types):,} abbreviations,
{len(p.collocations):,} collocations, {len(p.sent_starters):,} sentence starters, the capital habits of
{len(p.ortho_context):,} words. Four text files in the format of NLTK's `punkt_tab`. Added by hand:
{", ".join(f'"{word}."' for word in sorted(by_hand))}; in millions of words "ms" is a unit and a manuscript too, and
mostly without a full stop.

## How it was made

    python -m training.punkt --corpora <folder>
    python -m training.evaluation.punkt

{total / 1e6:.1f} million words in {run.seconds / 60:.1f} minutes on one thread of a busy two-core machine.
The trainer is NLTK's and unsupervised: it sees plain text and no sentence boundary. Its settings and why are in
`training/punkt.py`; they were chosen on the training part of UD English EWT and the short cases below.

![Sentence F1 over training words](curve.svg)

The curve was measured while the parameters were learned. Rules that the lab got later changed the tables below only.

| source | licence | words |
| --- | --- | --- |
{_source_rows(run.words)}

## What it knows

UD English EWT, dev part: web text that was not trained on. No setting was tuned on its figures, but its mistakes
were read once before the last settings were made,
and some more when the lab's own rules were written. The sentences of a paragraph are
joined by one space; {scores["ours"]["gold"]:,} boundaries between them are to be found, at the very
character. The end of the paragraph is not counted.

| tokenizer | precision | recall | F1 |
| --- | --- | --- | --- |
{_score_rows(scores)}

With the paragraphs of a document run together too, {figures["documents"]["ours"]["gold"]:,} boundaries:

| tokenizer | precision | recall | F1 |
| --- | --- | --- | --- |
{_score_rows(figures["documents"])}

UD English GUM, 40 documents of ten genres, whose mistakes were read once while the lab's rules were written.
The documents run together have {figures["gum"]["ours"]["gold"]:,} boundaries:

| tokenizer | precision | recall | F1 |
| --- | --- | --- | --- |
{_score_rows(figures["gum"])}

Of {figures["cases"]} short cases ("Dr. Smith arrived", "the U.S. economy", "at 5 p.m. She") it has
{figures["cases"] - len(failed["ours"])} right; untrained, {figures["cases"] - len(failed["untrained"])}.
They were in sight when the settings were chosen.{_failures(failed["ours"])}

## Limits

{len(missed)} of the {scores["ours"]["gold"]:,} boundaries are missed, and {len(missed) - len(marked)} of these
have no full stop, question or exclamation mark before them: headings, signatures, addresses, chat. Punkt looks for
boundaries at marks only. {len(wrong) - len(missed)} boundaries are invented. Learned from edited English; other
languages get their end marks, and no abbreviations.

Invented (¦ is where it cuts):

| text |
| --- |
{_examples([m for m in wrong if m.invented])}

Missed although a mark stands there:

| text |
| --- |
{_examples(marked)}

The texts keep their own licences, named above with whom to credit; the parameters are released under Apache-2.0.
TinyStories' licence puts no condition on what is learned from it. The held-out text is UD English EWT, CC BY-SA 4.0
(`training/held_out/ATTRIBUTION.md`), and UD English GUM (`lab/evidence/data/ATTRIBUTION.md`).
"""


def _failures(failed: Sequence[str]) -> str:
    if not failed:
        return ""
    return " Wrong (a bar stands where it should cut): " + "; ".join(f'"{case}"' for case in failed) + "."
