"""The training loop that ``lab-bert`` and ``lab-gpt2`` share: warm up, stay constant, then decay to 0.

The learning rate's schedule is counted in tokens, not in steps or hours, so a run means the same on
any machine and can be stopped and resumed at any time. The constant phase lives in ``stable.pt`` and
can always be carried further; a decay starts from there and ends in ``final.pt``
("warm-up, stable, decay": Hu et al. 2024, MiniCPM, §4).
"""

from __future__ import annotations

import argparse
import json
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import torch
from torch import Tensor, nn

from training.command_line import documented

LOG_EVERY = 800_000  # tokens; a long run logs about a hundred times
SAVE_EVERY = 300  # seconds


@dataclass(frozen=True)
class Machine:
    """Where a training computes, and how many processes draw its batches ahead (0: it draws them itself)."""

    device: torch.device = torch.device("cpu")  # noqa: RUF009
    workers: int = 0

    @property
    def has_bfloat16(self) -> bool:
        """A processor without bfloat16 instructions imitates them: a quarter of float32's speed."""
        return self.device.type == "cuda" or bool(torch.cpu.get_capabilities().get("avx512_bf16"))


HERE = Machine()


@dataclass(frozen=True)
class Schedule:
    """Tokens of the constant phase and of the decay after it; ``decay`` 0 stays in the constant phase."""

    constant: int
    decay: int
    warm_up: int = 150_000

    def left(self, tokens: int) -> float:
        """1 until the constant phase ends, then falling linearly to 0 at the end of the decay."""
        if tokens < self.constant or not self.decay:
            return 1.0
        return max(0.0, 1 - (tokens - self.constant) / self.decay)

    def factor(self, tokens: int) -> float:
        """What the learning rate is multiplied by."""
        return min(1.0, tokens / self.warm_up + 1e-2) * self.left(tokens)

    @property
    def total(self) -> int:
        return self.constant + self.decay


class Task(Protocol):
    """What is trained: a model, the loss of its next batch, and its loss on text held out."""

    model: nn.Module
    machine: Machine
    learning_rates: tuple[float, float]  # of the matrices and of the rest
    weight_decay: float

    def matrices(self) -> list[nn.Parameter]:
        """The weights Muon updates; AdamW has the rest."""

    def start(self, tokens: int) -> None:
        """Begin to draw; a run resumed after ``tokens`` must not draw its first windows again."""

    def next_loss(self, tokens: int, left: float) -> tuple[Tensor, Tensor, int]:
        """Draw a batch; return (loss to descend, loss to log, tokens in the batch)."""

    def held_out_loss(self) -> float: ...


def orthogonal(grad: Tensor, ns_coefficients: tuple[float, float, float], ns_steps: int, eps: float) -> Tensor:
    """The Newton–Schulz iteration of Muon in float32, (m, n) -> (m, n); see torch.optim.Muon for the formula.

    PyTorch's own computes in bfloat16, which took half of a step where the processor imitates it.
    """
    a, b, c = ns_coefficients
    wide = grad if grad.shape[0] <= grad.shape[1] else grad.T
    wide = wide / wide.norm().clamp(min=eps)
    for _ in range(ns_steps):
        gram = wide @ wide.T
        wide = torch.addmm(wide, torch.addmm(gram, gram, gram, beta=b, alpha=c), wide, beta=a)
    return wide if grad.shape[0] <= grad.shape[1] else wide.T


def optimizers(task: Task) -> list[torch.optim.Optimizer]:
    """Muon for the matrices between the layers, AdamW for embeddings, biases, LayerNorm and heads."""
    matrices = task.matrices()
    chosen = {id(p) for p in matrices}
    rest = [p for p in task.model.parameters() if id(p) not in chosen]
    (of_matrices, of_rest), decay = task.learning_rates, task.weight_decay
    if not task.machine.has_bfloat16:
        torch.optim._muon._zeropower_via_newtonschulz = orthogonal
    return [
        torch.optim.Muon(matrices, lr=of_matrices, weight_decay=decay, adjust_lr_fn="match_rms_adamw"),
        torch.optim.AdamW(rest, lr=of_rest, betas=(0.9, 0.98), weight_decay=decay),
    ]


class Run:
    """A training run, in memory and in ``folder``."""

    def __init__(self, task: Task, folder: Path, schedule: Schedule) -> None:
        self.task, self.folder, self.schedule = task, folder, schedule
        self.optimizers = optimizers(task)
        self.tokens, self.seconds, self.step = 0, 0.0, 0
        self.log: list[dict[str, float]] = []
        self.log_every = max(LOG_EVERY, schedule.total // 100)
        decaying = folder / "decay.pt"
        for path in (decaying, folder / "stable.pt") if schedule.decay else (folder / "stable.pt",):
            if path.exists():
                self.load(path)
                break
        # A constant phase that already went further is the one that decays.
        if schedule.decay and not decaying.exists() and self.tokens > schedule.constant:
            self.schedule = Schedule(self.tokens, schedule.decay, schedule.warm_up)
        task.start(self.tokens)

    def load(self, path: Path) -> None:
        state = torch.load(path, map_location="cpu", weights_only=True)
        self.task.model.load_state_dict(state["model"])
        for optimizer, saved in zip(self.optimizers, state["optimizers"], strict=True):
            optimizer.load_state_dict(saved)
        self.tokens, self.seconds, self.step = state["tokens"], state["seconds"], state["step"]
        self.log = state["log"]
        if state.get("decay"):
            self.schedule = Schedule(state["constant"], state["decay"], self.schedule.warm_up)

    def save(self) -> None:
        """Keep the state: ``stable.pt`` before the decay, ``decay.pt`` in it, ``final.pt`` at its end."""
        decaying = self.schedule.left(self.tokens) < 1
        finished = decaying and self.tokens >= self.schedule.total
        state = {
            "model": self.task.model.state_dict(),
            "optimizers": [o.state_dict() for o in self.optimizers],
            "tokens": self.tokens,
            "seconds": self.seconds,
            "step": self.step,
            "log": self.log,
            "constant": self.schedule.constant,
            "decay": self.schedule.decay if decaying else 0,
        }
        name = "final.pt" if finished else "decay.pt" if decaying else "stable.pt"
        temporary = self.folder / f"{name}.part"
        torch.save(state, temporary)
        temporary.rename(self.folder / name)
        if finished:
            (self.folder / "decay.pt").unlink(missing_ok=True)
            (self.folder / "log.json").write_text(
                json.dumps({key: state[key] for key in ("tokens", "seconds", "step", "constant", "decay", "log")})
            )

    def update(self) -> Tensor:
        """One step; return the loss to log. It stays where it is: reading it would wait for the device."""
        factor, machine = self.schedule.factor(self.tokens), self.task.machine
        with torch.autocast(machine.device.type, dtype=torch.bfloat16, enabled=machine.has_bfloat16):
            loss, shown, tokens = self.task.next_loss(self.tokens, self.schedule.left(self.tokens))
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.task.model.parameters(), 1.0)
        for optimizer, rate in zip(self.optimizers, self.task.learning_rates, strict=True):
            for group in optimizer.param_groups:
                group["lr"] = factor * rate
            optimizer.step()
            optimizer.zero_grad(set_to_none=True)
        self.tokens += tokens
        self.step += 1
        return shown.detach()

    def record(self, losses: list[Tensor]) -> None:
        """Add a row to the log, print it, and keep the state."""
        row = {
            "step": self.step,
            "tokens": self.tokens,
            "seconds": round(self.seconds),
            "loss": round(torch.stack(losses).mean().item(), 4),
            "held_out": round(self.task.held_out_loss(), 4),
        }
        self.log.append(row)
        print(json.dumps(row), flush=True)
        self.save()

    def train(self) -> None:
        """Train to the end of the schedule, keeping the state every few minutes and when told to stop."""
        losses: list[Tensor] = []
        clock = saved = time.monotonic()
        constant = self.schedule.constant
        stopped: list[int] = []
        signal.signal(signal.SIGTERM, lambda number, _: stopped.append(number))
        while self.tokens < self.schedule.total and not stopped:
            before = self.tokens
            losses.append(self.update())
            now = time.monotonic()
            self.seconds, clock = self.seconds + now - clock, now
            turned = before < constant <= self.tokens
            ended = self.tokens >= self.schedule.total
            if before // self.log_every != self.tokens // self.log_every or turned or ended:
                self.record(losses)
                losses, saved = [], now
            elif now - saved > SAVE_EVERY or stopped:
                self.save()
                saved = now


def argument_parser(description: str | None, work: Path, shipped: Schedule) -> argparse.ArgumentParser:
    """The command line that every training has; without a length it goes through the ``shipped`` model's schedule."""
    parser = documented(description)
    parser.add_argument("--corpora", type=Path, required=True, help="folder of <source>.txt.xz files")
    parser.add_argument("--work", type=Path, default=work, help="states and caches")
    parser.add_argument(
        "--until",
        type=float,
        help=f"million tokens of the constant phase; without it, the shipped model's schedule: {_told(shipped)}",
    )
    parser.add_argument("--decay", type=float, help="million tokens of the decay after it; with --until alone none yet")
    parser.add_argument("--warm-up", type=float, help="million tokens until the full learning rate")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument(
        "--device", type=torch.device, default=torch.device("cpu"), help="cpu, or cuda where there is one"
    )
    parser.add_argument("--workers", type=int, default=0, help="processes that draw batches ahead; 0: none")
    parser.set_defaults(shipped=shipped)
    return parser


def _told(schedule: Schedule) -> str:
    constant, decay, warm_up = (tokens / 1e6 for tokens in (schedule.constant, schedule.decay, schedule.warm_up))
    return f"--until {constant:g} --decay {decay:g} --warm-up {warm_up:g}"


def parsed_options(parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line, and make ready what it asks for."""
    parsed = parser.parse_args(arguments)
    if not parsed.corpora.is_dir():
        parser.error(f"There is no folder {parsed.corpora}; say where the texts are.")
    torch.set_num_threads(parsed.threads)
    parsed.work.mkdir(parents=True, exist_ok=True)
    return parsed


def machine_of(parsed: argparse.Namespace) -> Machine:
    return Machine(parsed.device, parsed.workers)


def schedule_of(parsed: argparse.Namespace) -> Schedule:
    """The schedule that a command line asks for: what it names counts, and a length of one's own brings no decay."""
    shipped, own = parsed.shipped, parsed.until is not None

    def tokens(asked: float | None, otherwise: int) -> int:
        return otherwise if asked is None else round(asked * 1e6)

    return Schedule(
        tokens(parsed.until, shipped.constant),
        tokens(parsed.decay, 0 if own else shipped.decay),
        tokens(parsed.warm_up, Schedule.warm_up if own else shipped.warm_up),
    )
