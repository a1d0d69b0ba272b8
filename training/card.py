"""The model card of ``lab-bert``, written from the figures of its own training run.

python -m training.card        (after training.export and training.evaluate)
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from lab.models.catalogue import EMBEDDED
from training.corpus import SOURCES

_WIDTH, _HEIGHT, _MARGIN = 640, 300, 48


def loss_curve(log: list[dict[str, float]]) -> str:
    """An SVG of training and held-out loss over tokens; grey ink that reads on light and dark pages."""
    tokens = [row["tokens"] / 1e6 for row in log]
    series = {
        "training": ("#8a8f98", [row["loss"] for row in log]),
        "held-out": ("#2f71cb", [row["held_out"] for row in log]),
    }
    low = min(min(values) for _, values in series.values())
    high = max(max(values) for _, values in series.values())

    def x(value: float) -> float:
        return _MARGIN + value / tokens[-1] * (_WIDTH - 2 * _MARGIN)

    def y(value: float) -> float:
        return _MARGIN / 2 + (high - value) / (high - low) * (_HEIGHT - 1.5 * _MARGIN)

    style = 'font-family="sans-serif" font-size="12" fill="#7a7f88"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">',
             "<title>Loss over training tokens</title>"]  # fmt: skip
    for value in range(int(low) + 1, int(high) + 1):
        parts.append(
            f'<line x1="{_MARGIN}" x2="{_WIDTH - _MARGIN}" y1="{y(value):.1f}" y2="{y(value):.1f}" stroke="#7a7f8844"/>'
        )
        parts.append(f'<text x="{_MARGIN - 8}" y="{y(value) + 4:.1f}" text-anchor="end" {style}>{value}</text>')
    for name, (colour, values) in series.items():
        points = " ".join(f"{x(t):.1f},{y(v):.1f}" for t, v in zip(tokens, values, strict=True))
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        label_y = y(values[-1]) + (-10 if name == "training" else 16)
        parts.append(f'<text x="{x(tokens[-1]) - 4:.1f}" y="{label_y:.1f}" text-anchor="end" '
                     f'font-family="sans-serif" font-size="12" fill="{colour}">{name}</text>')  # fmt: skip
    last = tokens[-1]
    parts += [f'<text x="{x(last):.1f}" y="{_HEIGHT - 12}" text-anchor="end" {style}>{last:.1f} million tokens</text>',
              f'<text x="{_MARGIN}" y="{_HEIGHT - 12}" {style}>0</text>', "</svg>"]  # fmt: skip
    return "\n".join(parts) + "\n"


def _percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def _source_rows(figures: dict[str, Any]) -> str:
    rows = []
    for source in SOURCES:
        score = figures["sources"].get(source.name)
        known = (
            f"{_percent(score['top_1'])} | {_percent(score['top_5'])} | {_percent(score['context_free'])}"
            if score
            else "— | — | —"
        )
        rows.append(f"| {source.name} | {source.licence} | {known} |")
    return "\n".join(rows)


def _blank_rows(figures: dict[str, Any]) -> str:
    return "\n".join(
        f"| {text} | " + ", ".join(f"{word} {probability:.2f}" for word, probability in top) + " |"
        for text, top in figures["blanks"].items()
    )


def card(run: dict[str, Any], figures: dict[str, Any]) -> str:
    """The card's text. Every figure in it comes from ``run`` (log.json) or ``figures`` (figures.json)."""
    recipe, whole = run["recipe"], figures["all"]
    nouns = figures["after_the"].get("NOUN", 0.0)
    return f"""---
license: apache-2.0
language: en
library_name: transformers
pipeline_tag: fill-mask
---
# lab-bert

A small BERT made for *Inside BERT*: {recipe["layers"]} layers, {recipe["width"]} wide, {recipe["heads"]} heads,
512 positions, its own uncased WordPiece vocabulary of {recipe["vocabulary"]:,}, masked-language and
next-sentence heads. Weights are stored as float16 and loaded as float32. This is a first version from two
hours on one busy CPU thread, and it shows: it is for looking inside, not for use.

## How it was made

    make train CORPORA=<folder> HOURS=1.95
    python -m training.export
    python -m training.evaluate --corpora <folder>
    python -m training.card

{run["tokens"] / 1e6:.1f} million tokens in {run["seconds"] / 3600:.2f} hours on one thread of a shared two-core
machine (AMD EPYC, bf16 autocast). Muon for the encoder's matrices and AdamW for the rest, both at
{recipe["learning_rate"]}, constant, then linear to 0 over the last {1 - recipe["decay_from"]:.0%}. Masking
{recipe["mask_rate"]:.0%}, falling to {recipe["final_mask_rate"]:.0%}. Windows of 32 tokens, later also 64, 128 and
512; {recipe["batch_tokens"]:,} tokens a batch. The schedule follows the clock, so another machine sees
another number of tokens.

![Loss over training tokens](loss.svg)

Held-out loss (15 % chosen, 80/10/10): **{figures["held_out_loss"]:.3f}**.

## What it knows

On documents it never saw, in windows of up to 64 tokens, 15 % of the tokens masked, all of them by `[MASK]`,
{whole["positions"]:,} positions: top-1 **{_percent(whole["top_1"])}**, top-5 **{_percent(whole["top_5"])}**.
The best guess that looks at no context, always the most frequent token, is right in
{_percent(whole["context_free"])}: a factor of **{whole["top_1"] / whole["context_free"]:.1f}**.

Next sentence or a random one, half of each: **{_percent(figures["next_sentence"])}** right.

At a blank after "the" in ten simple sentences **{_percent(nouns)}** of the probability is on nouns (words most
often tagged NOUN in the training parts of UD English EWT and GUM).

| source | licence | top-1 | top-5 | without context |
| --- | --- | --- | --- | --- |
{_source_rows(figures)}

Ten blanks a learner would try, good and bad:

| sentence | five best |
| --- | --- |
{_blank_rows(figures)}

## Limits

Trained on {len(SOURCES)} English sources, many of them books from before 1930: it repeats what they say about
people. It knows few names and fewer facts. Positions beyond 128 were seen in few windows.

The texts keep their own licences, named above with whom to credit; the weights are released under Apache-2.0.
TinyStories' licence puts no condition on trained models.
"""


def main() -> None:
    work, folder = Path(".training/lab-bert"), EMBEDDED / "lab-bert"
    run = json.loads((work / "log.json").read_text())
    figures = json.loads((work / "figures.json").read_text())
    (folder / "loss.svg").write_text(loss_curve(run["log"]))
    (folder / "MODEL_CARD.md").write_text(card(run, figures))


if __name__ == "__main__":
    main()
