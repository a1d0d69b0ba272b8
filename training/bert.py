"""Train ``lab-bert``: a small BERT with masked-language and next-sentence heads.

    python -m training.bert --corpora ../shared/corpora --hours 2

One process, one thread by default; stop it at any time and start it again with the same command:
it resumes from ``.training/lab-bert/checkpoint.pt``. The learning rate warms up, stays constant
and decays linearly over the last part of the budget, so that the checkpoint taken before the decay
(``stable.pt``) can be trained further. See training/NOTES.md for what was tried.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from tokenizers import Tokenizer
from torch import Tensor
from torch.nn import functional
from transformers import BertConfig, BertForPreTraining

from training.corpus import SOURCES, TokenCorpus, token_corpus
from training.vocabulary import wordpiece_tokenizer
from training.windows import Batch, WindowSampler, mask_tokens


@dataclass(frozen=True)
class Recipe:
    """Everything that decides the result besides the data and the time."""

    layers: int = 4
    width: int = 256
    heads: int = 8
    vocabulary: int = 8192
    batch_tokens: int = 4096
    learning_rate: float = 3e-3
    initial_std: float = 0.04
    next_sentence_weight: float = 0.1
    weight_decay: float = 0.01
    mask_rate: float = 0.35
    final_mask_rate: float = 0.15
    warm_up: float = 0.01
    decay_from: float = 0.7
    seed: int = 0


# (share of the budget, probability of each window length). Long windows come late: attention forms
# fastest on short ones, and only positions that were seen are trained.
CURRICULUM = (
    (0.50, {32: 1.0}),
    (0.70, {32: 0.6, 64: 0.4}),
    (1.01, {32: 0.4, 64: 0.25, 128: 0.25, 512: 0.1}),
)


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
    torch.manual_seed(recipe.seed)
    return BertForPreTraining(config)


def optimizers(model: BertForPreTraining, recipe: Recipe) -> list[torch.optim.Optimizer]:
    """Muon for the encoder's matrices, AdamW for embeddings, biases, LayerNorm and the heads."""
    matrices = [p for n, p in model.bert.encoder.named_parameters() if p.ndim == 2]
    chosen = {id(p) for p in matrices}
    rest = [p for p in model.parameters() if id(p) not in chosen]
    return [
        torch.optim.Muon(
            matrices,
            lr=recipe.learning_rate,
            weight_decay=recipe.weight_decay,
            adjust_lr_fn="match_rms_adamw",
        ),
        torch.optim.AdamW(rest, lr=recipe.learning_rate, betas=(0.9, 0.98), weight_decay=recipe.weight_decay),
    ]


def schedule(progress: float, recipe: Recipe) -> tuple[float, float]:
    """Return (learning-rate factor, mask rate) at ``progress`` in [0, 1] of the budget."""
    if progress < recipe.decay_from:
        return min(1.0, progress / recipe.warm_up + 1e-3), recipe.mask_rate
    left = max(0.0, (1 - progress) / (1 - recipe.decay_from))
    return left, recipe.final_mask_rate + left * (recipe.mask_rate - recipe.final_mask_rate)


def losses(model: BertForPreTraining, batch: Batch) -> tuple[Tensor, Tensor]:
    """Masked-language loss over the chosen positions only, and next-sentence loss of the pairs."""
    output = model.bert(input_ids=batch.inputs, attention_mask=batch.attention_mask, token_type_ids=batch.segments)
    chosen = batch.labels >= 0
    logits = model.cls.predictions(output.last_hidden_state[chosen])
    masked = functional.cross_entropy(logits.float(), batch.labels[chosen])
    if batch.is_next is None:
        return masked, torch.zeros((), device=masked.device)
    relation = model.cls.seq_relationship(output.pooler_output)
    return masked, functional.cross_entropy(relation.float(), batch.is_next)


class Run:
    """The state of a training run on disk and in memory."""

    def __init__(self, folder: Path, recipe: Recipe, device: str) -> None:
        self.folder, self.recipe, self.device = folder, recipe, device
        self.model = build_model(recipe).to(device)  # type: ignore[arg-type]  # Transformers' decorator hides self
        self.optimizers = optimizers(self.model, recipe)
        self.tokens, self.seconds, self.step = 0, 0.0, 0
        self.log: list[dict[str, float]] = []
        if (folder / "checkpoint.pt").exists():
            self.load(folder / "checkpoint.pt")

    def load(self, path: Path) -> None:
        state = torch.load(path, map_location=self.device, weights_only=True)
        self.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.tokens, self.seconds, self.step = state["tokens"], state["seconds"], state["step"]
        self.log = state["log"]

    def save(self, name: str = "checkpoint.pt") -> None:
        state = {
            "model": self.model.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "tokens": self.tokens, "seconds": self.seconds, "step": self.step, "log": self.log,
        }  # fmt: skip
        temporary = self.folder / f"{name}.part"
        torch.save(state, temporary)
        temporary.rename(self.folder / name)
        (self.folder / "log.json").write_text(
            json.dumps({"recipe": asdict(self.recipe), "tokens": self.tokens, "seconds": self.seconds, "log": self.log})
        )

    def record(self, loss: float, held_out: float) -> None:
        """Add a row to the log, print it, and keep the state."""
        row = {"step": self.step, "tokens": self.tokens, "seconds": round(self.seconds),
               "loss": round(loss, 4), "held_out": round(held_out, 4)}  # fmt: skip
        self.log.append(row)
        print(json.dumps(row), flush=True)
        self.save()

    def update(self, batch: Batch, factor: float) -> tuple[float, float]:
        with torch.autocast(self.device, dtype=torch.bfloat16):
            masked, following = losses(self.model, batch)
            loss = masked + self.recipe.next_sentence_weight * following
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        for optimizer in self.optimizers:
            for group in optimizer.param_groups:
                group["lr"] = factor * self.recipe.learning_rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.tokens += batch.inputs.numel()
        self.step += 1
        return masked.item(), following.item()


def held_out_loss(model: BertForPreTraining, corpus: TokenCorpus, tokenizer: Tokenizer, device: str) -> float:
    """Mean masked-language loss on fixed held-out windows (15 % chosen, 80/10/10)."""
    sampler = WindowSampler(corpus, SOURCES, tokenizer, seed=1)
    generator = torch.Generator().manual_seed(1)
    total = 0.0
    with torch.inference_mode():
        for _ in range(8):
            batch = mask_tokens(sampler.pairs(64, 4096), 0.15, tokenizer, generator).to(device)
            total += losses(model, batch)[0].item()
    return total / 8


def train(run: Run, corpora: tuple[TokenCorpus, TokenCorpus], tokenizer: Tokenizer, seconds: float) -> None:
    sampler = WindowSampler(corpora[0], SOURCES, tokenizer, seed=run.recipe.seed + run.step)
    generator = torch.Generator().manual_seed(run.recipe.seed + run.step)
    clock = time.monotonic()
    shown = (0.0, 0)
    while (progress := run.seconds / seconds) < 1:
        lengths = next(lengths for until, lengths in CURRICULUM if progress < until)
        factor, rate = schedule(progress, run.recipe)
        batch = mask_tokens(sampler.draw(lengths, run.recipe.batch_tokens), rate, tokenizer, generator)
        masked, _ = run.update(batch.to(run.device), factor)
        now = time.monotonic()
        run.seconds, clock = run.seconds + now - clock, now
        shown = (shown[0] + masked, shown[1] + 1)
        if run.step % 200 == 0:
            run.record(shown[0] / shown[1], held_out_loss(run.model, corpora[1], tokenizer, run.device))
            if progress < run.recipe.decay_from:
                run.save("stable.pt")
            shown = (0.0, 0)
    if shown[1]:
        run.record(shown[0] / shown[1], held_out_loss(run.model, corpora[1], tokenizer, run.device))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--corpora", type=Path, required=True, help="folder of <source>.txt.xz files")
    parser.add_argument("--work", type=Path, default=Path(".training/lab-bert"), help="checkpoints and caches")
    parser.add_argument("--hours", type=float, default=2.0, help="training time, resumed runs added up")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", default="cpu", choices=["cpu", "cuda"])
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    options.work.mkdir(parents=True, exist_ok=True)
    recipe = Recipe()
    tokenizer = wordpiece_tokenizer(options.corpora, options.work / "tokenizer.json", recipe.vocabulary)
    corpora = token_corpus(options.corpora, tokenizer, options.work / "tokens.npz")
    print(f"{len(corpora[0].tokens):,} training tokens, {len(corpora[1].tokens):,} held out", flush=True)
    train(Run(options.work, recipe, options.device), corpora, tokenizer, options.hours * 3600)


if __name__ == "__main__":
    main()
