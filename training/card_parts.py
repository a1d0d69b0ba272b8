"""What the cards of the embedded models have in common, written from the figures of their training and evaluation."""

from __future__ import annotations

import json
from collections.abc import Mapping
from textwrap import fill
from typing import Any

import numpy as np

from lab.analysis.heads.patterns import PATTERNS
from lab.analysis.layers.feed_forward import nearly_silent
from lab.course.words import beside
from lab.models.catalogue import EMBEDDED
from lab.models.fitted_lens import FOLDER
from lab.models.fitted_lens import RECORD as RECORD_OF_LENS
from lab.reference.models.model_cards import CARD
from training.corpus import SOURCES
from training.curve import curve
from training.evaluation.heads import SENTENCES
from training.evaluation.outside import RECORD

# A sublayer adds much to a token if Δ is this many times as long as x.
MUCH = 10.0
_HOW, _PICTURE = "## How it was made", "![Loss over training tokens](loss.svg)\n"


def percent(value: float) -> str:
    return f"{100 * value:.1f} %"


def loss_curve(log: list[dict[str, float]]) -> str:
    """Training and held-out loss over tokens."""
    series = {
        name: [(row["tokens"] / 1e6, row[key]) for row in log]
        for name, key in (("training", "loss"), ("held-out", "held_out"))
    }
    return curve("Loss over training tokens", series, "{:.1f} million tokens")


def how(model_id: str, run: Mapping[str, Any] | None, rates: str, *, options: str = "", gpu: bool = False) -> str:
    """The commands, the machine, the schedule and the curve; without ``run`` what the card says already.

    ``options`` are those of the command besides the length; ``gpu``: whether a lent one did the work.
    """
    if run is None:
        told = (EMBEDDED / model_id / CARD).read_text("utf-8")
        return f"{_HOW}{told.partition(_HOW)[2].partition(_PICTURE)[0]}{_PICTURE}"
    constant, decay = run["constant"] / 1e6, run["decay"] / 1e6
    module = model_id.removeprefix("lab-")
    where = "an NVIDIA H200 that another training shared" if gpu else "one thread of a shared two-core AMD EPYC"
    took = f"{run['seconds'] / 60:.0f} minutes" if gpu else f"{run['seconds'] / 3600:.1f} hours"
    return f"""{_HOW}

    python -m training.{module} --corpora <folder> --until {constant:.1f} --decay {decay:.1f}{options}
    python -m training.export {model_id}
    python -m training.card {model_id}

{run["tokens"] / 1e6:.1f} million tokens in {took} on {where},
in bfloat16 where autocast allows it. Muon for the matrices between the layers and AdamW for the rest, {rates},
constant for {constant:.1f} million tokens, then linear to 0. What was tried on the way is in `training/NOTES.md`.

{_PICTURE}"""


def outside_the_lab(model_id: str) -> str:
    """How to load the folder with transformers alone, and how far it was compared (``make outside``)."""
    of_bert = model_id != "lab-gpt2"
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


def heads(figures: Mapping[str, Any]) -> str:
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


def layers_named(layers: list[int]) -> str:
    """Layers, given from 0, as text names them: "Layer 2", "Layers 1, 2 and 4"."""
    names = [str(i + 1) for i in layers]
    return f"Layer {names[0]}" if len(names) == 1 else f"Layers {', '.join(names[:-1])} and {names[-1]}"


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


def lenses(model_id: str) -> str:
    """How well the plain lens, the fitted one and its control read held-out text, and how they were fitted."""
    record = json.loads((EMBEDDED / model_id / FOLDER / RECORD_OF_LENS).read_text("utf-8"))
    read, kinds = record["held_out"], ("plain", "fitted", "untrained")
    rows = [
        f"| {layer or 'embeddings'} | "
        + " | ".join(
            f"{read[kind][key][layer]:.3f}" for key in ("agreement", "divergence", "probability") for kind in kinds
        )
        + " |"
        for layer in range(len(read["plain"]["agreement"]))
    ]
    places = "places" if model_id == "lab-gpt2" else "masked places"
    told = fill(
        f"What the vocabulary head reads after each layer, on {read['places']:,} {places} of held-out text: how often "
        "its best word is the model's own (=), the divergence from the model's own prediction (KL, nats), and the mean "
        "probability of the true word (P). *Plain*: the head alone. *Fitted*: a map before it, which guesses the last "
        f"hidden state: a ridge regression on {record['fitted_on']:,} {places} of the training texts, its strength "
        f"chosen on {record['chosen_on']:,} others (Belrose et al. 2023 train such maps by gradient descent). *Twin*: "
        "a map fitted from the states of the untrained twin to the trained model's last state, which shows what a map "
        "can guess without the model's layers. All maps but the twin's are in `lens/lens.safetensors`, made by "
        f"`{record['command']}`.",
        118,
    )
    head = (
        "| after layer | = plain | = fitted | = twin | KL plain | KL fitted | KL twin | P plain | P fitted | P twin |"
    )
    return "\n".join([told, "", head, "| --- " * 10 + "|", *rows, *_in_sight(record.get("in_sight"))])


def _in_sight(read: Mapping[str, Any] | None) -> list[str]:
    """How often both lenses agree with the model where nothing was fitted; nothing for GPT-2."""
    if read is None:
        return []
    plain, fitted = (", ".join(f"{share:.3f}" for share in read[kind]) for kind in ("plain", "fitted"))
    told = (
        f"At {read['places']:,} words in plain sight, where nothing was fitted, the best word is the model's own, from "
        f"the embeddings to the last layer: plain {plain}; fitted {fitted}."
    )
    return ["", fill(told, 118)]


def licences() -> str:
    rows = [f"| {source.name} | {source.licence} |" for source in SOURCES]
    return "\n".join(["| source | licence |", "| --- | --- |", *rows])
