"""What ``lab-bert`` and ``lab-minilm`` know about text they never saw.

    python -m training.evaluation.bert lab-minilm

Counts only positions that really hold ``[MASK]`` (15 % of the ordinary tokens, all of them masked),
in windows of up to 64 tokens that begin and end with a sentence, source by source.
"""

from __future__ import annotations

import json
import lzma
from collections import Counter, defaultdict
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertForPreTraining

from lab.evidence.treebank import EWT
from lab.models.loading import EMBEDDED, load_model
from training.bert import held_out_loss
from training.command_line import models_asked
from training.corpus import SOURCES, TokenCorpus, held_out_corpus
from training.evaluation import folder_bytes
from training.evaluation.grammar import table
from training.evaluation.heads import head_patterns
from training.evaluation.residual import residual
from training.evaluation.whole_words import MODELS, compared, held_out_windows, model_of
from training.windows import WindowSampler, mask_tokens

BLANKS = (
    "The sleepy cat sat on the [MASK].",
    "The keys to the cabinet [MASK] on the table.",
    "The king and the [MASK] lived in a castle.",
    "She opened the [MASK] and walked in.",
    "The dog ran across the [MASK].",
    "He drank a cup of [MASK].",
    "The capital of France is [MASK].",
    "They went to [MASK] by train.",
    "My [MASK] is a doctor at the hospital.",
    "The sun is very [MASK] today.",
    "I do not [MASK] what to say.",
    "Once upon a [MASK] there was a little girl.",
)
AFTER_THE = (
    "The [MASK] ran away.",
    "The [MASK] is very old.",
    "He saw the [MASK].",
    "She gave the [MASK] to her mother.",
    "We walked to the [MASK].",
    "The [MASK] was on the table.",
    "They live near the [MASK].",
    "The [MASK] sat on the chair.",
    "I like the [MASK].",
    "The children played with the [MASK].",
)


@dataclass(frozen=True)
class Score:
    """``context_free`` is the top-1 of always guessing the token that is most frequent at these positions."""

    positions: int
    top_1: float
    top_5: float
    context_free: float
    loss: float


@torch.inference_mode()
def masked_score(
    model: BertForPreTraining, corpus: TokenCorpus, tokenizer: Tokenizer, source: int | None, rows: int
) -> Score:
    """Score ``rows`` windows of one source of the held-out corpus, or of all in proportion to their size."""
    sources = [replace(s, weight=float(source in (None, i))) for i, s in enumerate(SOURCES)]
    generator = torch.Generator().manual_seed(7)
    ranks, truths, loss = [], [], 0.0
    for group in WindowSampler(corpus, sources, tokenizer, seed=7).groups(64, rows, pairs=False):
        batch = mask_tokens(group, 0.15, tokenizer, generator, keep=0, swap=0)
        hidden = model.bert(input_ids=batch.inputs, token_type_ids=batch.segments).last_hidden_state
        logits = model.cls.predictions(hidden.flatten(0, 1)[batch.chosen])
        own = logits.gather(1, batch.labels[:, None])
        ranks.append((logits > own).sum(1))
        truths.append(batch.labels)
        loss += torch.nn.functional.cross_entropy(logits, batch.labels, reduction="sum").item()
    rank, truth = torch.cat(ranks), torch.cat(truths)
    n = len(rank)
    most = truth.bincount().max().item() / n
    return Score(n, (rank == 0).sum().item() / n, (rank < 5).sum().item() / n, most, loss / n)


@torch.inference_mode()
def next_sentence_accuracy(model: BertForPreTraining, corpus: TokenCorpus, tokenizer: Tokenizer, rows: int) -> float:
    """Share of held-out pairs (up to 64 and up to 128 tokens, half of them random) told apart."""
    sampler = WindowSampler(corpus, SOURCES, tokenizer, seed=7)
    right = total = 0
    for length in (64, 128):
        for batch in sampler.groups(length, rows // 2, pairs=True):
            pooled = model.bert(input_ids=batch.inputs, token_type_ids=batch.segments).pooler_output
            logits = model.cls.seq_relationship(pooled)  # without a score for each word at each token
            right += int((logits.argmax(1) == batch.is_next).sum())
            total += len(logits)
    return right / total


def tag_lexicon() -> dict[str, str]:
    """Most frequent universal part of speech of each lower-cased form in UD English EWT dev."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    with lzma.open(EWT, "rt", encoding="utf-8") as file:
        for line in file:
            fields = line.rstrip("\n").split("\t")
            if len(fields) == 10 and fields[0].isdigit():
                counts[fields[1].lower()][fields[3]] += 1
    return {form: tags.most_common(1)[0][0] for form, tags in counts.items()}


@torch.inference_mode()
def fill(model: BertForPreTraining, tokenizer: Tokenizer, text: str) -> torch.Tensor:
    """Probabilities of every word at the first [MASK] of ``text``, (vocabulary,)."""
    ids = torch.tensor([tokenizer.encode(text).ids])
    hidden = model.bert(input_ids=ids).last_hidden_state[0]
    at = ids[0].tolist().index(tokenizer.token_to_id("[MASK]"))
    return model.cls.predictions(hidden[at]).softmax(-1)


def noun_share(model: BertForPreTraining, tokenizer: Tokenizer) -> dict[str, float]:
    """Probability mass by part of speech at a blank after "the", mean over ten simple sentences."""
    mass: Counter[str] = Counter()
    lexicon = tag_lexicon()
    words = {number: word for word, number in tokenizer.get_vocab().items()}
    for text in AFTER_THE:
        for token, p in enumerate(fill(model, tokenizer, text).tolist()):
            mass[lexicon.get(words[token], "unlisted")] += p / len(AFTER_THE)
    return dict(mass.most_common())


def shipped(model_id: str) -> tuple[BertForPreTraining, TokenCorpus, Tokenizer]:
    """A model that ships, text that it never saw, and its tokenizer."""
    model, tokenizer = model_of(model_id)
    return model, held_out_corpus(tokenizer), tokenizer


def evaluate(model_id: str, rows: int = 3000, rows_a_source: int = 600) -> dict[str, Any]:
    """All figures of the model's card, from the files that ship."""
    model, held_out, tokenizer = shipped(model_id)
    blanks = {}
    for text in BLANKS:
        top = fill(model, tokenizer, text).topk(5)
        blanks[text] = [
            (tokenizer.id_to_token(i), round(p, 3))
            for i, p in zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ]
    present = np.unique(held_out.source_of).tolist()
    return {
        "bytes": folder_bytes(EMBEDDED / model_id),
        "held_out_loss": held_out_loss(model, held_out, tokenizer),
        "all": vars(masked_score(model, held_out, tokenizer, None, rows)),
        "sources": {SOURCES[i].name: vars(masked_score(model, held_out, tokenizer, i, rows_a_source)) for i in present},
        "next_sentence": next_sentence_accuracy(model, held_out, tokenizer, rows),
        "whole_words": {name: asdict(each) for name, each in compared(held_out_windows()).items()},
        "grammar": table(load_model(model_id)),
        "heads": head_patterns(model_id),
        "residual": residual(model_id),
        "after_the": noun_share(model, tokenizer),
        "blanks": blanks,
    }


def main() -> None:
    torch.set_num_threads(1)
    for model_id in models_asked(__doc__, MODELS):
        print(model_id, json.dumps(evaluate(model_id), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
