"""Train ``lab-minilm``: a real encoder, all-MiniLM-L6-v2, taught to fill blanks and to tell what follows.

    make train MODEL=minilm BASE=folder ARGS="--device cuda --workers 8"

``folder`` holds the encoder as Hugging Face keeps it (config.json, model.safetensors, tokenizer.json). It has
BERT's own vocabulary and no vocabulary head (Wang et al. 2020; Reimers & Gurevych 2019). The word embeddings stay
as they are until the decay; then every weight learns.

Without ``--until`` it goes through the schedule of the shipped model. Stop it at any time and give the same command
again: it resumes. Without a GPU this takes days.
See training/loop.py for the schedule and training/NOTES.md for what was tried.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from transformers import BertConfig, BertForPreTraining

from training.bert import MaskedRecipe, MaskedTask, losses_of
from training.corpus import TokenCorpus, token_corpus
from training.evaluation.grammar import loaded, table
from training.loop import HERE, Machine, Run, Schedule, argument_parser, machine_of, parsed_options, schedule_of
from training.windows import Batch, Lengths

WORK = Path(".training/lab-minilm")
# The tokens of the model that ships; its card names them, too.
SCHEDULE = Schedule(180_000_000, 140_000_000, 2_000_000)
# The grammar of the heads is measured on this many sentences of the treebank, every so many measurements of the loss.
GRAMMAR_SENTENCES, GRAMMAR_EVERY = 500, 10


@dataclass(frozen=True)
class Recipe(MaskedRecipe):
    """Everything that decides the result besides the base, the data and the number of tokens."""

    batch_tokens: int = 32768
    weight_decay: float = 0.05
    mask_rate: float = 0.2
    matrices_rate: float = 2e-3
    rest_rate: float = 1e-3
    # How much the attention of the base holds that of the first layers back, in which its grammar is.
    pull: float = 1.0
    pulled_layers: int = 4
    # Of so many windows one is compared with the base, which then runs as well; none that is longer than this.
    pulled_every: int = 4
    pulled_length: int = 128


# Some windows are long, so that far positions keep what the base knew of them.
LENGTHS = {64: 0.75, 128: 0.2, 512: 0.05}


def empty_model() -> BertForPreTraining:
    """A model of the encoder's shape, for weights to be put into."""
    return BertForPreTraining(
        BertConfig(
            hidden_size=384,
            num_hidden_layers=6,
            num_attention_heads=12,
            intermediate_size=1536,
            hidden_dropout_prob=0.0,
            attention_probs_dropout_prob=0.0,
        )
    )


def build_model(base: Path, seed: int) -> BertForPreTraining:
    """The encoder of ``base`` with new heads. Its word embeddings are also the vocabulary head's weights."""
    config = BertConfig.from_pretrained(base)
    config.hidden_dropout_prob = config.attention_probs_dropout_prob = 0.0
    config._attn_implementation = "eager"  # faster on short windows, see training/NOTES.md
    torch.manual_seed(seed)
    return BertForPreTraining.from_pretrained(base, config=config, dtype=torch.float32)


def tokenizer_of(base: Path) -> Tokenizer:
    """The base's tokenizer, without the padding and cutting that sentence embeddings want."""
    tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer


def drift(base: Sequence[Tensor], now: Sequence[Tensor], rows: Tensor) -> Tensor:
    """How far attention has moved from the base's: KL(base, now), mean over heads and rows, summed over the layers.

    Parameters
    ----------
    base, now
        Attention of each layer, (b, heads, n, n).
    rows
        (b, n) which tokens' rows count.
    """
    return torch.stack(
        [
            (then * (then.clamp(min=1e-9).log() - here.clamp(min=1e-9).log())).sum(-1).mean(1)[rows].mean()
            for then, here in ((a.float(), b.float()) for a, b in zip(base, now, strict=True))
        ]
    ).sum()


class MiniLmTask(MaskedTask):
    """``lab-minilm``, from its base on.

    A blank asks for other rows of attention than the base has, and the heads forget their grammar for it: without a
    pull towards the base's attention the mean of the treebank's table falls from .64 to .56 within 5 million tokens.
    So the rows of ordinary tokens are held back, and those of chosen tokens are free.
    """

    def __init__(
        self, recipe: Recipe, base: Path, corpora: tuple[TokenCorpus, TokenCorpus], machine: Machine = HERE
    ) -> None:
        rates = recipe.matrices_rate, recipe.rest_rate
        super().__init__(build_model(base, recipe.seed), recipe, corpora, tokenizer_of(base), rates, machine)
        self.recipe: Recipe = recipe
        self._base = build_model(base, recipe.seed).bert.eval().requires_grad_(False).to(machine.device)
        self._base.encoder.layer = self._base.encoder.layer[: recipe.pulled_layers]
        self._measured = 0

    def lengths(self, tokens: int, left: float) -> Lengths:
        return LENGTHS

    def next_loss(self, tokens: int, left: float) -> tuple[Tensor, Tensor, int]:
        # A step over 11.7 million embeddings takes time, and changed nothing early on (training/NOTES.md).
        self.bert.bert.embeddings.word_embeddings.weight.requires_grad_(left < 1)
        return super().next_loss(tokens, left)

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        pulled = batch.inputs.shape[1] <= self.recipe.pulled_length
        output = self.bert.bert(input_ids=batch.inputs, token_type_ids=batch.segments, output_attentions=pulled)
        masked, following = losses_of(self.bert, output, batch)
        descended = masked + self.recipe.next_sentence_weight * following
        return (descended + self.recipe.pull * self._moved(batch, output.attentions) if pulled else descended), masked

    def _moved(self, batch: Batch, attentions: Sequence[Tensor]) -> Tensor:
        """How far the rows of ordinary tokens have moved from the base's, in every few windows of ``batch``."""
        few = -(-len(batch.inputs) // self.recipe.pulled_every)
        with torch.no_grad():
            base = self._base(
                input_ids=batch.inputs[:few], token_type_ids=batch.segments[:few], output_attentions=True
            ).attentions
        rows = torch.ones(batch.inputs.numel(), dtype=torch.bool, device=batch.inputs.device)
        rows[batch.chosen] = False
        now = [attention[:few] for attention in attentions[: len(base)]]
        return drift(base, now, rows.view(batch.inputs.shape)[:few])

    def held_out_loss(self) -> float:
        if self._measured % GRAMMAR_EVERY == 0:
            print(json.dumps({"grammar": table(loaded(self.bert, self.tokenizer), GRAMMAR_SENTENCES)}), flush=True)
        self._measured += 1
        return super().held_out_loss()


def main() -> None:
    parser = argument_parser(__doc__, WORK, SCHEDULE)
    parser.add_argument("--base", type=Path, required=True, help="folder of the encoder to begin from")
    parsed = parsed_options(parser)
    tokenizer = tokenizer_of(parsed.base)
    tokenizer.save(str(parsed.work / "tokenizer.json"))
    corpora = token_corpus(parsed.corpora, tokenizer, parsed.work / "tokens.npz")
    print(f"{len(corpora[0].tokens):,} training tokens, {len(corpora[1].tokens):,} held out", flush=True)
    Run(MiniLmTask(Recipe(), parsed.base, corpora, machine_of(parsed)), parsed.work, schedule_of(parsed)).train()


if __name__ == "__main__":
    main()
