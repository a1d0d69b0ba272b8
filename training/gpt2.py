"""Train ``lab-gpt2``: a small GPT-2 that writes short, story-like sentences.

    python -m training.gpt2 --corpora ../shared/corpora                           the schedule of the shipped model
    python -m training.gpt2 --corpora ../shared/corpora --until 40                another constant phase
    python -m training.gpt2 --corpora ../shared/corpora --until 40 --decay 12     and its end

One process, one thread by default; stop it at any time and give the same command again: it resumes. A GPU is asked
for by ``--device cuda --workers 4``.
See training/loop.py for the schedule and training/NOTES.md for what was tried.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor, nn
from torch.nn import functional
from transformers import GPT2Config, GPT2LMHeadModel

from training.corpus import SOURCES, Source, TokenCorpus, token_corpus
from training.loop import HERE, Machine, Run, Schedule, argument_parser, machine_of, parsed_options, schedule_of
from training.vocabulary import END_OF_TEXT, bpe_tokenizer
from training.windows import Batches, Draw, Lengths

WORK = Path(".training/lab-gpt2")
# The tokens of the model that ships; its card names them, too.
SCHEDULE = Schedule(130_000_000, 100_000_000, 2_000_000)

# How often a source is drawn, times its size: stories first, reference works for the rest of the language.
WEIGHTS: Mapping[str, float] = {
    "african-storybook-en": 8,
    "pratham-books-en": 8,
    "tinystories-sample": 12,
    "classic-books-children": 2,
    "classic-books-general": 1,
    "tatoeba-eng": 4,
    "common-voice-en": 1,
    "wikinews-en": 0.5,
    "wikipedia-en-2015": 0.4,
    "openstax": 0.3,
    "open-english-wordnet-glosses": 0.1,
    "factbook": 0.1,
    "nltk-inaugural": 0.2,
    "nltk-state_union": 0.2,
}


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the result besides the data and the number of tokens."""

    layers: int = 4
    width: int = 256
    heads: int = 8
    positions: int = 512
    vocabulary: int = 8192
    batch_tokens: int = 32768
    learning_rate: float = 3e-3
    initial_std: float = 0.04
    weight_decay: float = 0.1
    repeats: float = 0.04
    seed: int = 0


LENGTHS = {64: 0.3, 128: 0.5, 256: 0.2}
# In the decay the last positions join: only positions that were seen are trained.
DECAY_LENGTHS = {64: 0.2, 128: 0.4, 256: 0.2, 512: 0.2}


def build_model(recipe: Recipe) -> GPT2LMHeadModel:
    config = GPT2Config(
        vocab_size=recipe.vocabulary,
        n_embd=recipe.width,
        n_layer=recipe.layers,
        n_head=recipe.heads,
        n_positions=recipe.positions,
        resid_pdrop=0.0,
        embd_pdrop=0.0,
        attn_pdrop=0.0,
        initializer_range=recipe.initial_std,
        bos_token_id=0,
        eos_token_id=0,
        use_cache=False,
    )
    config._attn_implementation = "eager"  # a third faster than the fused kernel's backward pass
    torch.manual_seed(recipe.seed)
    return GPT2LMHeadModel(config)


def weighted_sources() -> tuple[Source, ...]:
    return tuple(replace(source, weight=WEIGHTS[source.name]) for source in SOURCES)


class TextSampler:
    """Draws windows of running text that begin at a sentence, documents ended by ``<|endoftext|>``."""

    def __init__(self, corpus: TokenCorpus, tokenizer: Tokenizer, repeats: float, seed: int | Sequence[int]) -> None:
        self.corpus, self.repeats = corpus, repeats
        self.random = np.random.default_rng(seed)
        sources = weighted_sources()
        weight = np.asarray([s.weight for s in sources])[corpus.source_of] * np.diff(corpus.sentence_starts)
        self._cumulative = np.cumsum(weight) / weight.sum()
        self._running = np.asarray([s.documents for s in sources])
        self.end: int = tokenizer.get_vocab()[END_OF_TEXT]
        # A text begins without the space that stands before a word inside it.
        vocabulary = tokenizer.get_vocab()
        self._bare = {
            number: vocabulary.get(token[1:], number)
            for token, number in vocabulary.items()
            if token.startswith("Ġ") and len(token) > 1
        }

    def _document_from(self, first: int, budget: int) -> list[int]:
        """Tokens from sentence ``first`` to the end of its document, at most ``budget`` of them."""
        corpus, after = self.corpus, first + 1
        start = int(corpus.sentence_starts[first])
        if self._running[corpus.source_of[first]]:
            while (
                after < len(corpus.document_of)
                and corpus.document_of[after] == corpus.document_of[first]
                and int(corpus.sentence_starts[after]) - start < budget
            ):
                after += 1
        ids: list[int] = corpus.tokens[start : int(corpus.sentence_starts[after])].tolist()
        return [self._bare.get(ids[0], ids[0]), *ids[1:], self.end][:budget]

    def window(self, length: int) -> list[int]:
        """``length`` tokens of text; a few windows say their first part again and again."""
        ids: list[int] = []
        budget = int(self.random.integers(8, length // 2 + 1)) if self.random.random() < self.repeats else length
        while len(ids) < budget:
            first = int(np.searchsorted(self._cumulative, self.random.random()))
            ids += self._document_from(first, budget - len(ids))
        return (ids * -(-length // budget))[:length]

    def batch(self, lengths: Lengths, batch_tokens: int) -> Tensor:
        length = int(self.random.choice(list(lengths), p=list(lengths.values())))
        return torch.tensor([self.window(length) for _ in range(batch_tokens // length)])


def next_token_loss(model: nn.Module, ids: Tensor) -> Tensor:
    """Mean cross-entropy of every token after the first of its window."""
    logits = model(input_ids=ids[:, :-1]).logits
    return functional.cross_entropy(logits.flatten(0, 1).float(), ids[:, 1:].flatten())


class Gpt2Task:
    """Next tokens; see :class:`training.loop.Task`."""

    def __init__(
        self,
        recipe: Recipe,
        corpora: tuple[TokenCorpus, TokenCorpus],
        tokenizer: Tokenizer,
        machine: Machine = HERE,
    ) -> None:
        self.recipe, self.corpora, self.tokenizer, self.machine = recipe, corpora, tokenizer, machine
        self.model: nn.Module = build_model(recipe)
        nn.Module.to(self.model, machine.device)
        self.learning_rates = (recipe.learning_rate, recipe.learning_rate)
        self.weight_decay = recipe.weight_decay

    def start(self, tokens: int) -> None:
        self._batches = Batches(self._sampler, self.machine.workers)

    def _sampler(self, seed: int, worker: int) -> Draw[Tensor]:
        sampler = TextSampler(self.corpora[0], self.tokenizer, self.recipe.repeats, [seed, worker])
        return partial(sampler.batch, batch_tokens=self.recipe.batch_tokens)

    def matrices(self) -> list[nn.Parameter]:
        return [p for n, p in self.model.named_parameters() if p.ndim == 2 and ".h." in n]

    def next_loss(self, tokens: int, left: float) -> tuple[Tensor, Tensor, int]:
        lengths = DECAY_LENGTHS if left < 1 else LENGTHS
        ids = self._batches.next(lengths, self.recipe.seed + tokens).to(self.machine.device)
        loss = next_token_loss(self.model, ids)
        return loss, loss.detach(), ids.numel()

    @torch.inference_mode()
    def held_out_loss(self) -> float:
        sampler = TextSampler(self.corpora[1], self.tokenizer, 0.0, seed=1)
        batches = [sampler.batch({128: 1.0}, 8192).to(self.machine.device) for _ in range(4)]
        return sum(next_token_loss(self.model, batch).item() for batch in batches) / 4


def main() -> None:
    parsed = parsed_options(argument_parser(__doc__, WORK, SCHEDULE))
    recipe = Recipe()
    tokenizer = bpe_tokenizer(parsed.corpora, parsed.work / "tokenizer.json", recipe.vocabulary)
    corpora = token_corpus(parsed.corpora, tokenizer, parsed.work / "tokens.npz", before_sentence=" ")
    print(f"{len(corpora[0].tokens):,} training tokens, {len(corpora[1].tokens):,} held out", flush=True)
    Run(Gpt2Task(recipe, corpora, tokenizer, machine_of(parsed)), parsed.work, schedule_of(parsed)).train()


if __name__ == "__main__":
    main()
