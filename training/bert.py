"""Train ``lab-bert``: a small BERT with masked-language and next-sentence heads.

    python -m training.bert --corpora ../shared/corpora                          the schedule of the shipped model
    python -m training.bert --corpora ../shared/corpora --until 150              another constant phase
    python -m training.bert --corpora ../shared/corpora --until 150 --decay 40   and its end

One process, one thread by default; stop it at any time and give the same command again: it resumes.
See training/loop.py for the schedule and training/NOTES.md for what was tried.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import BertConfig, BertForPreTraining
from transformers.modeling_outputs import BaseModelOutputWithPoolingAndCrossAttentions

from training.corpus import SOURCES, TokenCorpus, token_corpus
from training.loop import HERE, Machine, Run, Schedule, argument_parser, machine_of, parsed_options, schedule_of
from training.vocabulary import wordpiece_tokenizer
from training.windows import Batch, Batches, Draw, Lengths, WindowSampler, mask_tokens

WORK = Path(".training/lab-bert")
# The tokens of the model that ships; its card names them, too.
SCHEDULE = Schedule(34_400_000, 20_000_000)


@dataclass(frozen=True)
class MaskedRecipe:
    """What decides how masked words and next sentences are learned, besides the model and the data."""

    batch_tokens: int = 8192
    next_sentence_weight: float = 0.1
    weight_decay: float = 0.1
    mask_rate: float = 0.35
    final_mask_rate: float = 0.15
    seed: int = 0


@dataclass(frozen=True)
class Recipe(MaskedRecipe):
    """Everything that decides the result besides the data and the number of tokens."""

    layers: int = 4
    width: int = 256
    heads: int = 8
    vocabulary: int = 8192
    learning_rate: float = 3e-3
    initial_std: float = 0.04


# (million tokens seen, probability of each window length). Attention forms fastest on short windows.
CURRICULUM = ((10, {32: 1.0}), (40, {32: 0.6, 64: 0.4}), (1e9, {32: 0.4, 64: 0.5, 128: 0.1}))
# In the decay long windows join: only positions that were seen are trained, and they cost more time.
DECAY_LENGTHS = {32: 0.3, 64: 0.4, 128: 0.2, 512: 0.1}


def build_model(recipe: Recipe) -> BertForPreTraining:
    config = BertConfig(
        vocab_size=recipe.vocabulary,
        hidden_size=recipe.width,
        num_hidden_layers=recipe.layers,
        num_attention_heads=recipe.heads,
        intermediate_size=4 * recipe.width,
        max_position_embeddings=512,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        initializer_range=recipe.initial_std,
    )
    # On short windows plain matrix products are a third faster than the fused kernel's backward pass.
    config._attn_implementation = "eager"
    torch.manual_seed(recipe.seed)
    return BertForPreTraining(config)


def losses(model: BertForPreTraining, batch: Batch) -> tuple[Tensor, Tensor]:
    """Masked-language loss over the chosen positions only, and next-sentence loss of the pairs."""
    return losses_of(model, model.bert(input_ids=batch.inputs, token_type_ids=batch.segments), batch)


def losses_of(
    model: BertForPreTraining, output: BaseModelOutputWithPoolingAndCrossAttentions, batch: Batch
) -> tuple[Tensor, Tensor]:
    """:func:`losses`, where the encoder has run already."""
    assert output.last_hidden_state is not None
    hidden = output.last_hidden_state.flatten(0, 1)[batch.chosen]
    masked = functional.cross_entropy(model.cls.predictions(hidden).float(), batch.labels)
    if batch.is_next is None:
        return masked, torch.zeros((), device=hidden.device)
    relation = model.cls.seq_relationship(output.pooler_output)
    return masked, functional.cross_entropy(relation.float(), batch.is_next)


@torch.inference_mode()
def held_out_loss(model: BertForPreTraining, corpus: TokenCorpus, tokenizer: Tokenizer) -> float:
    """Mean masked-language loss on fixed held-out pairs of up to 64 tokens (15 % chosen, 80/10/10)."""
    generator = torch.Generator().manual_seed(1)
    total = positions = 0.0
    for batch in WindowSampler(corpus, SOURCES, tokenizer, seed=1).groups(64, 640, pairs=True):
        masked = mask_tokens(batch, 0.15, tokenizer, generator).to(model.device)
        total += losses(model, masked)[0].item() * len(masked.labels)
        positions += len(masked.labels)
    return total / positions


class MaskedTask(ABC):
    """Masked tokens and next sentences; see :class:`training.loop.Task`.

    A subclass says which model learns, and how long its windows are.
    """

    def __init__(
        self,
        bert: BertForPreTraining,
        recipe: MaskedRecipe,
        corpora: tuple[TokenCorpus, TokenCorpus],
        tokenizer: Tokenizer,
        learning_rates: tuple[float, float],
        machine: Machine,
    ) -> None:
        self.bert, self.recipe, self.corpora, self.tokenizer = bert, recipe, corpora, tokenizer
        self.model: nn.Module = bert
        nn.Module.to(self.model, machine.device)
        self.machine = machine
        self.learning_rates, self.weight_decay = learning_rates, recipe.weight_decay

    @abstractmethod
    def lengths(self, tokens: int, left: float) -> Lengths:
        """The probability of each window length, ``tokens`` into the training."""

    def start(self, tokens: int) -> None:
        self._batches = Batches(self._sampler, self.machine.workers)
        self._generator = torch.Generator(self.machine.device).manual_seed(self.recipe.seed + tokens)

    def _sampler(self, seed: int, worker: int) -> Draw[Batch]:
        sampler = WindowSampler(self.corpora[0], SOURCES, self.tokenizer, [seed, worker])
        return partial(sampler.draw, batch_tokens=self.recipe.batch_tokens)

    def matrices(self) -> list[nn.Parameter]:
        return [p for n, p in self.model.named_parameters() if p.ndim == 2 and n.startswith("bert.encoder.")]

    def next_loss(self, tokens: int, left: float) -> tuple[Tensor, Tensor, int]:
        recipe = self.recipe
        # Rounded, so that batches of one shape have one number of masked tokens for a while.
        rate = round(recipe.final_mask_rate + left * (recipe.mask_rate - recipe.final_mask_rate), 2)
        drawn = self._batches.next(self.lengths(tokens, left), recipe.seed + tokens)
        batch = mask_tokens(drawn.to(self.machine.device), rate, self.tokenizer, self._generator)
        descended, masked = self.loss(batch)
        return descended, masked, batch.inputs.numel()

    def loss(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """What is descended, and the masked-language loss alone."""
        masked, following = losses(self.bert, batch)
        return masked + self.recipe.next_sentence_weight * following, masked

    def held_out_loss(self) -> float:
        return held_out_loss(self.bert, self.corpora[1], self.tokenizer)


class BertTask(MaskedTask):
    """``lab-bert``, from nothing."""

    def __init__(
        self,
        recipe: Recipe,
        corpora: tuple[TokenCorpus, TokenCorpus],
        tokenizer: Tokenizer,
        machine: Machine = HERE,
    ) -> None:
        super().__init__(build_model(recipe), recipe, corpora, tokenizer, (recipe.learning_rate,) * 2, machine)

    def lengths(self, tokens: int, left: float) -> Lengths:
        return DECAY_LENGTHS if left < 1 else next(chosen for until, chosen in CURRICULUM if tokens < until * 1e6)


def main() -> None:
    parsed = parsed_options(argument_parser(__doc__, WORK, SCHEDULE))
    recipe = Recipe()
    tokenizer = wordpiece_tokenizer(parsed.corpora, parsed.work / "tokenizer.json", recipe.vocabulary)
    corpora = token_corpus(parsed.corpora, tokenizer, parsed.work / "tokens.npz")
    print(f"{len(corpora[0].tokens):,} training tokens, {len(corpora[1].tokens):,} held out", flush=True)
    Run(BertTask(recipe, corpora, tokenizer, machine_of(parsed)), parsed.work, schedule_of(parsed)).train()


if __name__ == "__main__":
    main()
