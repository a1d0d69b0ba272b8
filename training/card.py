"""The model cards of ``lab-bert`` and ``lab-gpt2``, written from the figures of their own training and evaluation.

python -m training.card lab-bert        (after training.export)
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.layers.feed_forward import nearly_silent
from lab.course.words import beside
from lab.lessons.feed_forward.meanings import MUCH, layers_named
from lab.models.loading import EMBEDDED
from training import bert, gpt2
from training.corpus import SOURCES
from training.curve import curve
from training.evaluation.heads import SENTENCES
from training.evaluation.outside import RECORD


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def loss_curve(log: list[dict[str, float]]) -> str:
    """Training and held-out loss over tokens."""
    series = {
        name: [(row["tokens"] / 1e6, row[key]) for row in log]
        for name, key in (("training", "loss"), ("held-out", "held_out"))
    }
    return curve("Loss over training tokens", series, "{:.1f} million tokens")


def _how(model_id: str, run: Mapping[str, Any], rate: float) -> str:
    constant, decay = run["constant"] / 1e6, run["decay"] / 1e6
    module = model_id.removeprefix("lab-")
    return f"""## How it was made

    python -m training.{module} --corpora <folder> --until {constant:.1f} --decay {decay:.1f}
    python -m training.export {model_id}
    python -m training.card {model_id}

{run["tokens"] / 1e6:.1f} million tokens in {run["seconds"] / 3600:.1f} hours on one thread of a shared two-core
machine (AMD EPYC, bf16 autocast). Muon for the matrices between the layers and AdamW for the rest, both at {rate},
constant for {constant:.1f} million tokens, then linear to 0. What was tried on the way is in `training/NOTES.md`.

![Loss over training tokens](loss.svg)
"""


def outside_the_lab(model_id: str) -> str:
    """How to load the folder with transformers alone, and how far it was compared (``make outside``)."""
    of_bert = model_id == "lab-bert"
    task, classes, text = (
        ("fill-mask", "`BertTokenizer`, `AutoModelForMaskedLM`, `BertForPreTraining`", "The boys [MASK] playing.")
        if of_bert
        else ("text-generation", "`GPT2Tokenizer`, `AutoModelForCausalLM`", "Once upon a time")
    )
    asked = json.loads(RECORD.read_text("utf-8"))["asked"]
    versions = " and ".join(row["versions"]["transformers"] for row in asked)
    apart = max(row["largest_difference_of_a_probability"] for row in asked)
    same = "tokens, segments and offsets" if of_bert else "tokens and offsets"
    return f"""## Outside the lab

    from transformers import pipeline
    pipeline("{task}", "lab/models/embedded/{model_id}")("{text}")

The folder loads like any {"BERT" if of_bert else "GPT-2"} of the Hub: {classes}. On {asked[0]["texts"]} texts
transformers {versions} give the {same} that the lab gives, and the probabilities of words
{"and of next sentences " if of_bert else ""}differ by {apart:.0e} at most (`make outside`).
"""


def _heads(figures: Mapping[str, Any]) -> str:
    heads = figures["heads"]
    rows = [
        f"| {p.name.lower()} | layer {best['layer']}, head {best['head']} | {beside(best['score'], best['needed'])} | "
        f"{best['uniform']:.2f} | {best['untrained']:.2f} | {best['heads']} |"
        for p in PATTERNS
        if (best := heads.get(p.id))
    ]
    return "\n".join(
        [f"Mean scores over {SENTENCES} held-out sentences, beside what a uniform head and the best head of the",
         "untrained twin (the same architecture, random weights) score there. A head is named where it is clearly",
         "above both: at least half of the way from the uniform head to 1. Clear in two patterns, it has the name of",
         "the one that it is farther above.", "",
         "| pattern | the head that shows it most | score | uniform head | best untrained head | named heads |",
         "| --- | --- | --- | --- | --- | --- |", *rows]
    )  # fmt: skip


def residual_stream(figures: Mapping[str, list[float]]) -> str:
    """What each layer's feed-forward network adds, beside the same with random weights; what is odd is said."""
    trained, active = np.array(figures["trained"]), np.array(figures["active"])
    much, silent = [int(i) for i in np.flatnonzero(trained > MUCH)], nearly_silent(active)
    adds = "adds" if len(much) == 1 else "add"
    odd = [f"{layers_named(much)} {adds} more than {MUCH:.0f} times the length of x."] if much else []
    odd += [f"Layer {i + 1} is nearly silent for words: {active[i]:.1%} of its neurons are above 0." for i in silent]
    rows = [
        f"| {i + 1} | {trained[i]:.2f} | {before:.2f} | {active[i]:.1%} | {special:.0%} |"
        for i, (before, special) in enumerate(zip(figures["random"], figures["on_special"], strict=True))
    ]
    return "\n".join(
        [f"Over the words of {SENTENCES} held-out sentences. ‖Δ‖ / ‖x‖ (median): how long what a feed-forward network",
         "adds to a word is, in lengths of what was there; beside it the same with random weights (seed 0).", "",
         "| layer | ‖Δ‖ / ‖x‖ | random weights | neurons above 0 | attention on special tokens |",
         "| --- | --- | --- | --- | --- |", *rows, "", "**Odd**: " + " ".join(odd) if odd else "Nothing is odd."]
    )  # fmt: skip


def _licences() -> str:
    rows = [f"| {source.name} | {source.licence} |" for source in SOURCES]
    return "\n".join(["| source | licence |", "| --- | --- |", *rows])


def bert_card(run: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """The card of ``lab-bert``; every figure in it is measured."""
    recipe, whole, after_the = bert.Recipe(), figures["all"], figures["after_the"]
    nouns = after_the["NOUN"] + after_the["PROPN"]
    sources = []
    for source in SOURCES:
        score = figures["sources"].get(source.name)
        known = " | ".join(percent(score[key]) for key in ("top_1", "top_5", "context_free")) if score else "— | — | —"
        sources.append(f"| {source.name} | {source.licence} | {known} |")
    blanks = [
        f"| {text} | " + ", ".join(f"{word} {probability:.2f}" for word, probability in top) + " |"
        for text, top in figures["blanks"].items()
    ]
    return f"""---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: fill-mask
---
# lab-bert

A small BERT made for *Inside BERT*: {recipe.layers} layers, {recipe.width} wide, {recipe.heads} heads, 512
positions, its own uncased WordPiece vocabulary of {recipe.vocabulary:,}, masked-language and next-sentence heads.
Weights are stored as float16 and loaded as float32. It is for looking inside, not for use.

{_how("lab-bert", run, recipe.learning_rate)}
Masking {recipe.mask_rate:.0%}, falling to {recipe.final_mask_rate:.0%} in the decay; windows of 32 tokens, later 64 and
128, in the decay also 512; {recipe.batch_tokens:,} tokens a batch. Held-out loss (15 % chosen, 80/10/10):
**{figures["held_out_loss"]:.3f}**.

## What it knows

On documents it never saw, in windows of up to 64 tokens, 15 % of the tokens masked, all of them by `[MASK]`,
{whole["positions"]:,} positions: top-1 **{percent(whole["top_1"])}**, top-5 **{percent(whole["top_5"])}**.
The best guess that looks at no context, always the most frequent token, is right in
{percent(whole["context_free"])}: a factor of **{whole["top_1"] / whole["context_free"]:.1f}**.

Next sentence or a random one, half of each: **{percent(figures["next_sentence"])}** right.

At a blank after "the" in ten simple sentences **{percent(nouns)}** of the probability is on words that UD English
EWT dev mostly tags as nouns or names; another {percent(after_the.get("unlisted", 0))} is on words it does not list.

| source | licence | top-1 | top-5 | without context |
| --- | --- | --- | --- | --- |
{chr(10).join(sources)}

A dash: not measured, because the held-out text may not travel in this repository.

Ten blanks a learner would try, good and bad:

| sentence | five best |
| --- | --- |
{chr(10).join(blanks)}

## Its heads

{_heads(figures)}

## Its residual stream

{residual_stream(figures["residual"])}

{outside_the_lab("lab-bert")}
## Limits

Trained on {len(SOURCES)} English sources, many of them books from before 1930: it repeats what they say about
people. It knows few names and fewer facts. Positions beyond 128 were seen in few windows.

The texts keep their own licences, named above with whom to credit; the weights are released under Apache-2.0.
TinyStories' licence puts no condition on trained models.
"""


def gpt2_card(run: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """The card of ``lab-gpt2``; every figure in it is measured."""
    recipe, perplexity, induction = gpt2.Recipe(), figures["perplexity"], figures["induction"]
    texts = "\n\n".join("> " + text.replace("\n", " ") for text in figures["continuations"])
    first = [f"{name} × {weight:g}" for name, weight in gpt2.WEIGHTS.items() if weight > 1]
    return f"""---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: text-generation
---
# lab-gpt2

A small GPT-2 made for *Inside BERT*: {recipe.layers} layers, {recipe.width} wide, {recipe.heads} heads,
{recipe.positions} positions, byte-level BPE with {figures["merges"]:,} merges. Weights are stored as float16 and
loaded as float32. It is for looking inside, not for use.

{_how("lab-gpt2", run, recipe.learning_rate)}
Windows of 64, 128 and 256 tokens, in the decay also 512; {recipe.batch_tokens:,} tokens a batch. Stories are drawn
more often than their size:
{", ".join(first)}.
{recipe.repeats * 100:.0f} % of the windows say their first part again and again, so that induction heads have
something to do.

## What it knows

On documents it never saw, windows of 128 tokens ({perplexity["tokens"]:,.0f} predicted): perplexity
**{perplexity["per_byte"]:.2f}** per byte, {perplexity["per_token"]:.1f} per token.

Three sampled continuations (temperature {figures["temperature"]}, the {figures["top_k"]} likeliest tokens, seed 1, not
chosen among others):

{texts}

## Its heads

{_heads(figures)}

Induction, on {induction["period"]} random tokens said twice, mean of {induction["sequences"]} sequences: layer
{induction["layer"]}, head {induction["head"]} spends **{induction["score"]:.2f}** of the second copy on what followed
the token the first time (a uniform head: {induction["uniform"]:.2f}).

## Its residual stream

{residual_stream(figures["residual"])}

{outside_the_lab("lab-gpt2")}
## Limits

It writes short sentences in the manner of children's stories and old books, loses the thread after two or three of
them, and repeats what its sources say about people. It knows few names and fewer facts.

{_licences()}

The texts keep their own licences, with whom to credit; the weights are released under Apache-2.0. TinyStories'
licence puts no condition on trained models.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["lab-bert", "lab-gpt2"])
    model_id = parser.parse_args().model
    folder = EMBEDDED / model_id
    run = json.loads((Path(".training") / model_id / "log.json").read_text())
    figures = import_module(f"training.evaluation.{model_id.removeprefix('lab-')}").evaluate()
    (folder / "loss.svg").write_text(loss_curve(run["log"]))
    (folder / "MODEL_CARD.md").write_text((bert_card if model_id == "lab-bert" else gpt2_card)(run, figures))


if __name__ == "__main__":
    main()
