"""The model cards of the embedded models, written from the figures of their own training and evaluation.

python -m training.card lab-bert        (after training.export)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lab.models.loading import EMBEDDED
from training import bert, gpt2, minilm
from training.card_parts import heads, how, lenses, licences, loss_curve, outside_the_lab, percent, residual_stream
from training.command_line import documented
from training.corpus import SOURCES
from training.evaluation import bert as bert_evaluation
from training.evaluation import gpt2 as gpt2_evaluation
from training.evaluation.whole_words import RECORD as WHOLE_WORDS

BASE_GRAMMAR = Path(__file__).parent / "evaluation" / "base_grammar.json"


def what_it_knows(figures: Mapping[str, Any]) -> str:
    """What a masked-language model knows about text it never saw: by position, source by source, and blank by blank."""
    whole, after_the = figures["all"], figures["after_the"]
    here, elsewhere = figures["whole_words"], json.loads(WHOLE_WORDS.read_text("utf-8"))["found"]
    hidden = [
        f"| {name} | "
        + " | ".join(percent(found[name][key]) for found in (here, elsewhere) for key in ("top_1", "top_5"))
        + " |"
        for name in here
    ]
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
    return f"""## What it knows

On documents it never saw, in windows of up to 64 tokens, 15 % of the tokens masked, all of them by `[MASK]`,
{whole["positions"]:,} positions: top-1 **{percent(whole["top_1"])}**, top-5 **{percent(whole["top_5"])}**.
The best guess that looks at no context, always the most frequent token, is right in
{percent(whole["context_free"])}: a factor of **{whole["top_1"] / whole["context_free"]:.1f}**.

One whole word hidden at a time, {here["lab-bert"]["words"]:,} words that are one piece in both vocabularies:

| model | first, held out | in five, held out | first, elsewhere | in five, elsewhere |
| --- | --- | --- | --- | --- |
{chr(10).join(hidden)}

Held out: prose as in the rest of this card. Elsewhere: GUM, which is not in the repository, without the genres that the
corpora here have (`training/evaluation/whole_words.json`).

Next sentence or a random one, half of each: **{percent(figures["next_sentence"])}** right.

At a blank after "the" in ten simple sentences **{percent(nouns)}** of the probability is on words that UD English
EWT dev mostly tags as nouns or names; another {percent(after_the.get("unlisted", 0))} is on words it does not list.

| source | licence | top-1 | top-5 | without context |
| --- | --- | --- | --- | --- |
{chr(10).join(sources)}

A dash: not measured, because the held-out text may not travel in this repository.

Blanks a learner would try, good and bad:

| sentence | five best |
| --- | --- |
{chr(10).join(blanks)}"""


def bert_card(run: Mapping[str, Any] | None, figures: Mapping[str, Any]) -> str:
    """The card of ``lab-bert``; every figure in it is measured."""
    recipe = bert.Recipe()
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

{how("lab-bert", run, f"both at {recipe.learning_rate}")}
Masking {recipe.mask_rate:.0%}, falling to {recipe.final_mask_rate:.0%} in the decay; windows of 32 tokens, later 64 and
128, in the decay also 512; {recipe.batch_tokens:,} tokens a batch. Held-out loss (15 % chosen, 80/10/10):
**{figures["held_out_loss"]:.3f}**.

{what_it_knows(figures)}

## Its heads

{heads(figures)}

## Its residual stream

{residual_stream(figures["residual"])}

## Its lenses

{lenses("lab-bert")}

{outside_the_lab("lab-bert")}
## Limits

Trained on {len(SOURCES)} English sources, many of them books from before 1930: it repeats what they say about
people. It knows few names and fewer facts. Positions beyond 128 were seen in few windows.

The texts keep their own licences, named above with whom to credit; the weights are released under Apache-2.0.
TinyStories' licence puts no condition on trained models.
"""


def minilm_card(run: Mapping[str, Any] | None, figures: Mapping[str, Any]) -> str:
    """The card of ``lab-minilm``; every figure in it is measured."""
    recipe, base = minilm.Recipe(), json.loads(BASE_GRAMMAR.read_text("utf-8"))
    rates = f"the one at {recipe.matrices_rate}, the other at {recipe.rest_rate}"
    options = " --warm-up 2 --base <folder> --device cuda --workers 8"
    return f"""---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: fill-mask
base_model: {base["base"]}
---
# lab-minilm

A real encoder that was taught to fill blanks, made for *Inside BERT*: 6 layers, 384 wide, 12 heads, 512 positions and
BERT's own uncased vocabulary of 30,522, with masked-language and next-sentence heads. Weights are stored as float16
and loaded as float32. It is for looking inside, not for use.

It goes on from [{base["base"]}](https://huggingface.co/{base["base"]})
(Apache-2.0): a BERT of this shape that was distilled from a large one (Wang et al. 2020, MiniLM) and then trained on
pairs of sentences so that texts of like meaning get vectors alike (Reimers & Gurevych 2019, Sentence-BERT). That
encoder has no vocabulary head; ours was trained with all other weights. Taken from the package
`{base["package"]}`, SHA-256 of its weights `{base["weights"]}`, rounded to float16.

{how("lab-minilm", run, rates, options=options, gpu=True)}
Masking {recipe.mask_rate:.0%}, falling to {recipe.final_mask_rate:.0%} in the decay; windows of 64 tokens, of the
batches of pairs a fifth has 128 and a twentieth 512; {recipe.batch_tokens:,} tokens a batch. The word embeddings learn
in the decay only. In the first {recipe.pulled_layers} layers the attention of ordinary tokens is pulled back to the
encoder's (a divergence of rows, added to the loss with weight {recipe.pull:g}): without it the heads forgot grammar
that they knew. Held-out loss (15 % chosen, 80/10/10): **{figures["held_out_loss"]:.3f}**.

{what_it_knows(figures)}

## The grammar of its heads

For each relation the head that finds it most often, on UD English EWT dev with the method of Clark et al. 2019, beside
the best fixed distance and the best head of the encoder before (`{base["command"]}`):

| relation | cases | fixed distance | encoder before | lab-minilm | head |
| --- | --- | --- | --- | --- | --- |
{grammar(figures["grammar"], base["found"])}

No annotation was trained on, but the recipe was chosen by this table: four were compared by their held-out loss and by
the grammar of their heads on 500 of these sentences, and the pull on the first layers was added when the heads lost it
(`training/NOTES.md`). So the table flatters the model. What the same heads do on UD English GUM, on which nothing was
chosen, is in `docs/reproduced.md`.

## Its heads

{heads(figures)}

## Its residual stream

{residual_stream(figures["residual"])}

## Its lenses

{lenses("lab-minilm")}

{outside_the_lab("lab-minilm")}
## Limits

What it knew before comes from texts we have not seen; what it learned here from {len(SOURCES)} English sources, many of
them books from before 1930: it repeats what they say about people. Names and facts it often makes up. Case and accents
are lost.

The texts keep their own licences, named above with whom to credit; the weights are released under Apache-2.0, as those
they come from. TinyStories' licence puts no condition on trained models.
"""


def grammar(ours: Mapping[str, Mapping[str, Any]], base: Mapping[str, Mapping[str, Any]]) -> str:
    """A row for each relation, and their mean."""
    rows = [
        f"| {name} | {row.get('count', '')} | {row['offset']:.2f} | {base[name]['best']:.2f} | {row['best']:.2f} | "
        f"{row.get('head', '')} |"
        for name, row in ours.items()
    ]
    return "\n".join(rows)


def gpt2_card(run: Mapping[str, Any] | None, figures: Mapping[str, Any]) -> str:
    """The card of ``lab-gpt2``; every figure in it is measured."""
    recipe, perplexity, induction = gpt2.Recipe(), figures["perplexity"], figures["induction"]
    feeds, both = figures["feeds_induction"], f"both at {recipe.learning_rate}"
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

{how("lab-gpt2", run, both, options=" --warm-up 2 --device cuda --workers 4", gpu=True)}
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

{heads(figures)}

Induction, on {induction["period"]} random tokens said twice, mean of {induction["sequences"]} sequences: layer
{induction["layer"]}, head {induction["head"]} spends **{induction["score"]:.2f}** of the second copy on what followed
the token the first time (a uniform head: {induction["uniform"]:.2f}). It is fed by layer {feeds["layer"]}, head
{feeds["head"]}, which spends {feeds["previous"]:.2f} on the token before: without it the induction score is
{feeds["without"]:.2f} in place of {feeds["with"]:.2f}.

## Its residual stream

{residual_stream(figures["residual"])}

## Its lenses

{lenses("lab-gpt2")}

{outside_the_lab("lab-gpt2")}
## Limits

It writes short sentences in the manner of children's stories and old books, loses the thread after two or three of
them, and repeats what its sources say about people. It knows few names and fewer facts.

{licences()}

The texts keep their own licences, with whom to credit; the weights are released under Apache-2.0. TinyStories'
licence puts no condition on trained models.
"""


CARDS = {"lab-minilm": minilm_card, "lab-bert": bert_card, "lab-gpt2": gpt2_card}


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("model", choices=list(CARDS))
    model_id = parser.parse_args().model
    folder = EMBEDDED / model_id
    log = Path(".training") / model_id / "log.json"
    # Trained elsewhere: the figures are measured anew, and how it was made stays as it is told.
    run = json.loads(log.read_text()) if log.exists() else None
    figures = gpt2_evaluation.evaluate() if model_id == "lab-gpt2" else bert_evaluation.evaluate(model_id)
    if run:
        (folder / "loss.svg").write_text(loss_curve(run["log"]))
    (folder / "MODEL_CARD.md").write_text(CARDS[model_id](run, figures))


if __name__ == "__main__":
    main()
