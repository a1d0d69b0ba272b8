"""The model card of ``en_lab``, written from the figures of its own training run and evaluation."""

from __future__ import annotations

from typing import Any

from training.en_lab_data import LABELS

_SOURCES = {
    "EWT": (
        "UD English EWT, train (names in it: silver)",
        "CC BY-SA 4.0",
        "© Stanford University; Silveira et al. 2014; texts: English Web Treebank",
    ),
    "GUM": (
        "UD English GUM, documents with open texts only (names: derived from its entities)",
        "CC BY 4.0; texts CC BY, CC BY-SA or public domain",
        "Amir Zeldes and the GUM annotators",
    ),
    "wikigold": ("wikigold", "CC BY 4.0; text of Wikipedia, CC BY-SA 3.0", "Balasuriya et al. 2009"),
    "WNUT17": ("WNUT 2017 emerging entities, train", "CC BY 4.0", "Derczynski et al. 2017"),
    "BTC": ("Broad Twitter Corpus", "CC BY 4.0", "Derczynski et al. 2016"),
    "LitBank": ("LitBank, its proper names", "CC BY 4.0; texts public domain", "Bamman et al. 2019"),
    "Wikipedia": (
        "first paragraphs of English Wikipedia, spring 2015 (names: silver)",
        "CC BY-SA 3.0",
        "Wikipedia contributors",
    ),
}


def card(log: dict[str, Any], figures: dict[str, Any]) -> str:
    """The card's text. Every figure in it comes from ``log`` (log.json) or ``figures`` (the evaluation)."""
    raw, names, data = figures["raw"], figures["names"], log["data"]
    minutes = {stage: log[stage]["seconds"] / 60 for stage in ("parse", "names")}
    last = {stage: max(row["step"] for row in log[stage]["log"]) for stage in minutes}
    silver = ", ".join(f"{name} {_found(data, name):,}" for name in ("Wikipedia", "EWT"))
    return f"""---
license: cc-by-sa-4.0
language: en
library_name: spacy
pipeline_tag: token-classification
---
# en_lab

A small spaCy pipeline made for *Inside BERT*, used where `en_core_web_sm` is not installed: universal parts of
speech, Universal Dependencies, sentence ends, and names of {len(LABELS)} kinds ({", ".join(LABELS)}). Countries and
cities are LOC: most of the data does not tell them from other places.
{figures["folder_bytes"] / 1e6:.1f} MB, loaded in {figures["load_seconds"]:.2f} s,
{figures["words_per_second"]:,} words a second on one thread of the machine that trained it.

## How it was made

    python -m training.en_lab --corpora <folder>
    python -m training.evaluation.en_lab

By spaCy's own training (`training/en_lab_parse.cfg`, `training/en_lab_names.cfg`). Morphologizer and parser share one
convolutional tok2vec: hash embeddings, 96 wide, 4 layers, no word vectors. The names have another with 2 layers that
starts from the lower half of the first and also reads the parts of speech found before. Stage one took
{last["parse"]:,} steps and {minutes["parse"]:.0f} minutes, stage two {last["names"]:,} steps and
{minutes["names"]:.0f} minutes, side by side with other work on two cores. The best step of each was chosen on
GUM's dev documents, one EWT training document in 25, and a tenth of wikigold. The rules that find silver names were
written while the scores below were watched, so those of the names are slightly flattering.

![Scores over training steps](curve.svg)

## What it knows

On {figures["words"]:,} words of UD English EWT dev and their names in Universal NER's English EWT dev. It was trained
on neither.

| | gold tokens | spaCy's tokens |
| --- | --- | --- |
| part of speech (UPOS), accuracy | **{_percent(figures["upos"])}** | {_percent(raw["upos"])} |
| heads (UAS), punctuation included | {_percent(figures["uas"])} | {_percent(raw["uas"])} |
| heads and relations (LAS) | {_percent(figures["las"])} | {_percent(raw["las"])} |
| tokens, F1 | — | {_percent(raw["tokens_f1"])} |
| sentences, F1 | — | {_percent(raw["sentences_f1"])} |

| names, exact spans, sentence by sentence | precision | recall | F1 | in the text |
| --- | --- | --- | --- | --- |
{_name_rows(names)}

Sentence by sentence is how Universal NER's own figures are measured. In runs of up to eight sentences, where the parser
has to find their ends, F1 is {_percent(figures["names_in_runs"]["micro"]["f1"])}.

## What it learned from

| source | licence | credit | words | names |
| --- | --- | --- | --- | --- |
{_source_rows(data)}

Parts of speech and dependencies come from EWT and GUM alone. Not every source knows every kind of name, and what a
source does not annotate was left missing: it never taught "no name". Silver names ({silver}) were
found by rule: names that an encyclopedia's first sentences call a city, a company or a person born in a year, names
the annotated sources agree on, and countries and capitals of the CIA World Factbook (CC0). DATE is silver
everywhere: GUM's time expressions that hold a number or a name, and plain dates ("4 May 1999", "in 1999",
"Monday") found by pattern in the other sources. MISC holds events, works, products and languages. A name that is
nothing but adjectives ("Iraqi") was taken out wherever a source has it.

The weights are released under CC BY-SA 4.0, the licence of the treebank that taught them most.

## Limits

Names are its weak side, those of organizations most of all: a small network without word vectors knows a name it has
seen or reads it off its surroundings. More would take annotated names of its own genre (the train part of Universal
NER EWT is not in our snapshot), word vectors, or a larger network. No held-out gold exists here for DATE and MISC, so
they are not measured. Some of its mistakes, spread over the held-out text:

| text [name] | tagged | annotated |
| --- | --- | --- |
{_mistake_rows(figures["mistakes"])}
"""


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _found(data: dict[str, Any], source: str) -> int:
    return sum(data["names"][source].get(label, 0) for label in LABELS)


def _name_rows(names: dict[str, dict[str, float]]) -> str:
    return "\n".join(
        f"| {'all three' if label == 'micro' else label} | {_percent(s['precision'])} | {_percent(s['recall'])} | "
        f"{_percent(s['f1'])} | {s['gold']:,} |"
        for label, s in names.items()
    )


def _source_rows(data: dict[str, Any]) -> str:
    return "\n".join(
        f"| {title} | {licence} | {credit} | {data['names'][name]['words']:,} | {_found(data, name):,} |"
        for name, (title, licence, credit) in _SOURCES.items()
    )


def _mistake_rows(mistakes: list[tuple[str, str, str]]) -> str:
    return "\n".join(f"| {text.replace('|', chr(92) + '|')} | {tagged} | {right} |" for text, tagged, right in mistakes)
