"""What ``lab-bert`` knows about text it never saw.

    python -m training.evaluate --corpora ../shared/corpora

Counts only positions that really hold ``[MASK]`` (15 % of the ordinary tokens, all of them masked),
in windows of up to 64 tokens from held-out documents, source by source.
"""

from __future__ import annotations

import argparse
import json
import lzma
from collections import Counter, defaultdict
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from transformers import BertForPreTraining

from lab.models.catalogue import EMBEDDED
from training.bert import held_out_loss
from training.corpus import SOURCES, TokenCorpus, token_corpus
from training.windows import Batch, WindowSampler, mask_tokens

WINDOWS_A_SOURCE = 40_000  # tokens
BLANKS = (
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
    "The [MASK] ran away.", "The [MASK] is very old.", "He saw the [MASK].", "She gave the [MASK] to her mother.",
    "We walked to the [MASK].", "The [MASK] was on the table.", "They live near the [MASK].",
    "The [MASK] sat on the chair.", "I like the [MASK].", "The children played with the [MASK].",
)  # fmt: skip


@dataclass(frozen=True)
class Score:
    """``context_free`` is the top-1 of always guessing the token that is most frequent at these positions."""

    positions: int
    top_1: float
    top_5: float
    context_free: float
    loss: float


def all_masked(batch: Batch, tokenizer: Tokenizer, generator: torch.Generator) -> Batch:
    """15 % of the ordinary tokens chosen, every one of them replaced by [MASK]."""
    batch = mask_tokens(batch, 0.15, tokenizer, generator)
    return replace(batch, inputs=torch.where(batch.labels >= 0, tokenizer.get_vocab()["[MASK]"], batch.inputs))


@torch.inference_mode()
def masked_score(model: BertForPreTraining, corpus: TokenCorpus, tokenizer: Tokenizer, source: int | None) -> Score:
    """Score one source of the held-out corpus, or all in proportion to their size."""
    sources = [replace(s, weight=float(source in (None, i))) for i, s in enumerate(SOURCES)]
    sampler = WindowSampler(corpus, sources, tokenizer, seed=7)
    generator = torch.Generator().manual_seed(7)
    seen, ranks, truths, loss = 0, [], [], 0.0
    while seen < WINDOWS_A_SOURCE:
        batch = all_masked(sampler.singles(64, 4096), tokenizer, generator)
        seen += batch.inputs.numel()
        out = model.bert(input_ids=batch.inputs, attention_mask=batch.attention_mask, token_type_ids=batch.segments)
        chosen = batch.labels >= 0
        logits = model.cls.predictions(out.last_hidden_state[chosen])
        truth = batch.labels[chosen]
        own = logits.gather(1, truth[:, None])
        ranks.append((logits > own).sum(1))
        truths.append(truth)
        loss += torch.nn.functional.cross_entropy(logits, truth, reduction="sum").item()
    rank, truth = torch.cat(ranks), torch.cat(truths)
    n = len(rank)
    most = truth.bincount().max().item() / n
    return Score(n, (rank == 0).sum().item() / n, (rank < 5).sum().item() / n, most, loss / n)


@torch.inference_mode()
def next_sentence_accuracy(model: BertForPreTraining, corpus: TokenCorpus, tokenizer: Tokenizer) -> float:
    """Share of held-out pairs (windows of 64 and 128 tokens, half of them random) told apart."""
    sampler = WindowSampler(corpus, SOURCES, tokenizer, seed=7)
    right = total = 0
    for length in (64, 128):
        for _ in range(16):
            batch = sampler.pairs(length, 4096)
            out = model(batch.inputs, attention_mask=batch.attention_mask, token_type_ids=batch.segments)
            if batch.is_next is not None:
                right += int((out.seq_relationship_logits.argmax(1) == batch.is_next).sum())
                total += len(batch.is_next)
    return right / total


def tag_lexicon(folder: Path) -> dict[str, str]:
    """Most frequent universal part of speech of each lower-cased form in the UD treebanks."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for path in sorted((folder / "annotated").glob("ud_*/*train.conllu.xz")):
        with lzma.open(path, "rt", encoding="utf-8") as file:
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


def noun_share(model: BertForPreTraining, tokenizer: Tokenizer, lexicon: dict[str, str]) -> dict[str, float]:
    """Probability mass by part of speech at a blank after "the", mean over ten simple sentences."""
    mass: Counter[str] = Counter()
    words = {number: word for word, number in tokenizer.get_vocab().items()}
    for text in AFTER_THE:
        for token, p in enumerate(fill(model, tokenizer, text).tolist()):
            mass[lexicon.get(words[token], "?")] += p / len(AFTER_THE)
    return dict(mass.most_common())


def evaluate(folder: Path, corpora: Path, cache: Path) -> dict[str, object]:
    """All figures of the model card, as plain values."""
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = BertForPreTraining.from_pretrained(folder, dtype=torch.float32).eval()
    held_out = token_corpus(corpora, tokenizer, cache)[1]
    blanks = {}
    for text in BLANKS:
        top = fill(model, tokenizer, text).topk(5)
        blanks[text] = [
            (tokenizer.id_to_token(i), round(p, 3))
            for i, p in zip(top.indices.tolist(), top.values.tolist(), strict=True)
        ]
    present = np.unique(held_out.source_of).tolist()
    return {
        "held_out_loss": held_out_loss(model, held_out, tokenizer, "cpu"),
        "all": vars(masked_score(model, held_out, tokenizer, None)),
        "sources": {SOURCES[i].name: vars(masked_score(model, held_out, tokenizer, i)) for i in present},
        "next_sentence": next_sentence_accuracy(model, held_out, tokenizer),
        "after_the": noun_share(model, tokenizer, tag_lexicon(corpora)),
        "blanks": blanks,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True)
    parser.add_argument("--folder", type=Path, default=EMBEDDED / "lab-bert")
    parser.add_argument("--cache", type=Path, default=Path(".training/lab-bert/tokens.npz"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    figures = evaluate(options.folder, options.corpora, options.cache)
    print(json.dumps(figures, indent=1, ensure_ascii=False))
    options.cache.with_name("figures.json").write_text(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
