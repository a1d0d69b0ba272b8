"""Train a toy while somebody watches: a transformer of one or two layers learns a task of :mod:`lab.toy.tasks`.

The training changes the tensors of a checkpoint, and torch follows the gradients through the same forward pass
that the lessons show (:mod:`lab.models.forward`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from lab.models import forward
from lab.models.families.registry import read_weights
from lab.models.loading import Checkpoint, LoadedModel
from lab.models.twin import random_twin
from lab.toy.models import letter_tokenizer
from lab.toy.rules import RULES, Rule
from lab.toy.settings import TRAINED_HEADS, check_settings
from lab.toy.tasks import IGNORED, Task, task

_HEAD_WIDTH = 16
_FFN_RATIO = 2
# Standard deviations of initial weights, large enough for different rows of attention before training, as in a random
# toy. GPT-2's pre-norm layers need smaller initial weights; with these, they learn the two steps of induction faster.
_INITIAL_STD, _CAUSAL_INITIAL_STD = 0.2, 0.12
_BATCH_TOKENS = 1024
_LEARNING_RATE = 3e-3
_WARM_UP = 50  # steps
_DECAY = 0.3  # the share of the steps during which the learning rate falls to 0
_STAGES = 20
# The stages after which a run keeps the whole toy; most stages are at the beginning, when the toy learns most.
_KEPT = (0, 1, 2, 3, 4, 5, 6, 8, 10, 13, 16, 20)
_TESTED = 64  # the number of fresh sentences of each length
# Added to the plan's seed for the generators of training and test sentences; weights are drawn with the plan's seed.
_TRAINING_SEED, _TEST_SEED = 1_000_000, 2_000_000


def taught(name: str) -> Task | Rule:
    """Return the task or the rule with this id. Raises KeyError if there is no such task or rule."""
    return next((rule for rule in RULES if rule.id == name), None) or task(name)


@dataclass(frozen=True)
class Plan:
    """The task that a toy learns, and the toy's settings; together they decide every number of a run.

    ``vocabulary`` and ``max_length`` describe the sentences, as in :func:`lab.toy.data.generate`.
    Raises :class:`lab.toy.settings.SettingError` for a setting out of bounds and KeyError for an unknown
    task.
    """

    task: str
    layers: int
    vocabulary: int
    max_length: int
    seed: int
    heads: int = TRAINED_HEADS

    def __post_init__(self) -> None:
        sizes = {"layers": self.layers, "vocabulary": self.vocabulary, "max_length": self.max_length}
        check_settings(**sizes, seed=self.seed, heads=self.heads)
        taught(self.task)

    @property
    def what(self) -> Task | Rule:
        return taught(self.task)

    @property
    def steps(self) -> int:
        """The number of weight updates in a whole run."""
        return self.what.steps


@dataclass(frozen=True, eq=False)
class Snapshot:
    """The toy after ``step`` of the plan's steps: a model like any other, with its loss and accuracy.

    ``loss`` is the mean cross-entropy in nats and ``accuracy`` the share of right answers, both over those places of
    fresh sentences that have an answer.
    """

    plan: Plan
    step: int
    loss: float
    accuracy: float
    model: LoadedModel

    @property
    def finished(self) -> bool:
        return self.step == self.plan.steps


@dataclass(frozen=True, eq=False)
class _Test:
    """Test sentences, one batch of each length, drawn separately from the training sentences."""

    batches: tuple[tuple[Tensor, Tensor], ...]  # words and answers, each (sentences, n)

    @cached_property
    def answers(self) -> Tensor:
        """The answers at all places that have one, (places,)."""
        every = torch.cat([answers.flatten() for _, answers in self.batches])
        return every[every != IGNORED]


@dataclass(frozen=True, eq=False)
class TrainingRun:
    """A training run so far: the curve, the toy at a few earlier points, and the toy now."""

    curve: tuple[tuple[int, float, float], ...]  # step, loss, accuracy
    kept: tuple[Snapshot, ...]
    latest: Snapshot

    @property
    def plan(self) -> Plan:
        return self.latest.plan

    @property
    def made(self) -> partial[TrainingRun]:
        """The call that makes the run again, for notebooks."""
        return partial(trained_to, self.plan, self.latest.step)

    @property
    def stages(self) -> tuple[Snapshot, ...]:
        """The snapshots kept, from before the first step on, and the latest one."""
        return self.kept if self.kept[-1] is self.latest else (*self.kept, self.latest)

    def then(self, snapshot: Snapshot) -> TrainingRun:
        """Return the run with one more snapshot."""
        keep = snapshot.step in {round(snapshot.plan.steps * stage / _STAGES) for stage in _KEPT}
        point = (snapshot.step, snapshot.loss, snapshot.accuracy)
        return TrainingRun((*self.curve, point), (*self.kept, snapshot) if keep else self.kept, snapshot)


def begin(snapshot: Snapshot) -> TrainingRun:
    """Return the run with ``snapshot`` as its first snapshot."""
    return TrainingRun(((snapshot.step, snapshot.loss, snapshot.accuracy),), (snapshot,), snapshot)


def _draw(plan: Plan, length: int, count: int, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Draw ``count`` sentences of one length, and return them and their answers, both (count, length)."""
    return plan.what.draw(plan.vocabulary, length, count, generator)


def _test(plan: Plan) -> _Test:
    generator = torch.Generator().manual_seed(_TEST_SEED + plan.seed)
    batches = [_draw(plan, n, _TESTED, generator) for n in plan.what.lengths_to(plan.max_length)]
    while not any((answers != IGNORED).any() for _, answers in batches):
        # Short sentences from a large vocabulary seldom have an answer, so draw until a sentence has one.
        batches.append(_draw(plan, plan.max_length, _TESTED, generator))
    return _Test(tuple(batches))


@lru_cache(maxsize=64)
def chance(plan: Plan) -> float:
    """Return the accuracy of a toy that always gives the most common answer, on the same fresh sentences."""
    answers = _test(plan).answers
    return answers.bincount().max().item() / len(answers)


def _config(plan: Plan) -> dict[str, Any]:
    """``config.json`` of the plan's architecture."""
    width = plan.heads * _HEAD_WIDTH
    shared: dict[str, Any] = {"vocab_size": plan.vocabulary + 1 + plan.what.hides, "tie_word_embeddings": True}
    if plan.what.causal:
        sizes = {"n_embd": width, "n_layer": plan.layers, "n_head": plan.heads, "n_inner": _FFN_RATIO * width}
        form = {"model_type": "gpt2", "activation_function": "gelu_new", "layer_norm_epsilon": 1e-5}
        ends = {"n_positions": plan.max_length, "bos_token_id": None, "eos_token_id": None}
        return shared | sizes | form | ends | {"initializer_range": _CAUSAL_INITIAL_STD}
    sizes = {"hidden_size": width, "num_hidden_layers": plan.layers, "num_attention_heads": plan.heads}
    sizes |= {"intermediate_size": _FFN_RATIO * width, "max_position_embeddings": plan.max_length, "type_vocab_size": 2}
    form = {"model_type": "bert", "hidden_act": "gelu", "layer_norm_eps": 1e-12, "pad_token_id": None}
    return shared | sizes | form | {"initializer_range": _INITIAL_STD}


def untrained(plan: Plan) -> LoadedModel:
    """Return the toy before its first step: random weights as in Hugging Face, but with a larger standard deviation."""
    config = _config(plan)
    shapes = gpt2_shapes(config) if plan.what.causal else bert_shapes(config)
    empty = {name: torch.zeros(shape) for name, shape in shapes.items()}
    tokenizer = letter_tokenizer(plan.vocabulary, blanks=plan.what.hides)
    blank = LoadedModel("", read_weights(config, empty), tokenizer, Checkpoint(config, empty))
    return replace(random_twin(blank, plan.seed), id=_name(plan, 0), made=partial(toy_after, plan, 0))


def _name(plan: Plan, step: int) -> str:
    about = f"{plan.what.short}, seed {plan.seed}"
    if step == 0:
        return f"toy-untrained ({about})"
    return f"toy-trained ({about})" if step == plan.steps else f"toy-trained ({about}, step {step} of {plan.steps})"


def logits(words: Tensor, config: Mapping[str, Any], tensors: Mapping[str, Tensor]) -> Tensor:
    """Return the logits from the lab's forward pass, (sentences, n) -> (sentences, n, vocabulary).

    The weights are read from the checkpoint again at each call, so that the gradients reach the checkpoint's tensors.
    """
    weights = read_weights(config, tensors)
    settings = weights.config
    places, one_segment = torch.arange(words.shape[-1]), torch.zeros_like(words)
    x = forward.embed(words, one_segment, places, weights.embeddings, settings.norm_eps).output
    for layer in weights.layers:
        x = forward.run_layer(x, layer, settings).output
    if weights.final_norm is not None:
        x = forward.layer_norm(x, weights.final_norm, settings.norm_eps)
    assert weights.vocabulary_head is not None
    return forward.vocabulary_logits(x, weights.vocabulary_head, settings)


def _snapshot(plan: Plan, step: int, start: LoadedModel, tensors: Mapping[str, Tensor], test: _Test) -> Snapshot:
    """Freeze the current weights and test them."""
    config = _config(plan)
    frozen = {name: tensor.detach().clone() for name, tensor in tensors.items()}
    given = [logits(words, config, frozen)[answers != IGNORED] for words, answers in test.batches]
    scores = torch.cat(given)
    return Snapshot(
        plan,
        step,
        loss=functional.cross_entropy(scores, test.answers).item(),
        accuracy=(scores.argmax(-1) == test.answers).float().mean().item(),
        model=LoadedModel(
            _name(plan, step),
            read_weights(config, frozen),
            start.tokenizer,
            Checkpoint(config, frozen),
            partial(toy_after, plan, step),
        ),
    )


def _length(plan: Plan, generator: torch.Generator) -> int:
    """Return the length of a step's sentences; all have the same length, so that no padding is needed.

    Lengths are drawn uniformly, as in :func:`lab.toy.data.generate`. For a causal model, the beginning of a long
    sentence is the same as a shorter sentence, so a causal model always gets sentences of the longest length, which
    have the most answers.
    """
    if plan.what.causal:
        return plan.max_length
    lengths = plan.what.lengths_to(plan.max_length)
    return lengths[int(torch.randint(len(lengths), (), generator=generator))]


def _learning_rate(step: int, steps: int) -> float:
    """Return the learning rate, which rises over the first steps, stays, and falls to 0 over the last steps."""
    return _LEARNING_RATE * min(1.0, (step + 1) / _WARM_UP) * min(1.0, (steps - step) / (_DECAY * steps))


def train(plan: Plan) -> Iterator[Snapshot]:
    """Train the toy; yield a snapshot before the first step, at every twentieth of the run, and at the end.

    The caller may stop between two snapshots. A plan always
    gives the same numbers on the same machine. Each step reduces the cross-entropy on about 1,024 tokens of
    new sentences. The optimizer is AdamW (Loshchilov & Hutter 2019).
    """
    start, test = untrained(plan), _test(plan)
    assert isinstance(start.source, Checkpoint)
    config = start.source.config
    tensors = {name: tensor.clone().requires_grad_() for name, tensor in start.source.tensors.items()}
    optimizer = torch.optim.AdamW(tensors.values(), lr=_LEARNING_RATE, betas=(0.9, 0.98), fused=True)
    generator = torch.Generator().manual_seed(_TRAINING_SEED + plan.seed)
    stages = {round(plan.steps * stage / _STAGES) for stage in range(1, _STAGES + 1)}
    yield _snapshot(plan, 0, start, tensors, test)
    for step in range(plan.steps):
        length = _length(plan, generator)
        words, answers = _draw(plan, length, _BATCH_TOKENS // length, generator)
        asked = answers != IGNORED
        if asked.any():  # a batch of short sentences may have no answer at all
            for group in optimizer.param_groups:
                group["lr"] = _learning_rate(step, plan.steps)
            loss = functional.cross_entropy(logits(words, config, tensors)[asked], answers[asked])
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
        if step + 1 in stages:
            yield _snapshot(plan, step + 1, start, tensors, test)


def trained_to(plan: Plan, step: int) -> TrainingRun:
    """Train the toy again and return the run up to ``step`` of the plan's steps.

    Raises ValueError for a step after which :func:`train` yields no snapshot.
    """
    run: TrainingRun | None = None
    for snapshot in train(plan):
        run = begin(snapshot) if run is None else run.then(snapshot)
        if snapshot.step == step:
            return run
    raise ValueError(f"A run of {plan.steps} steps keeps no snapshot of step {step}.")


def toy_after(plan: Plan, step: int) -> LoadedModel:
    """Train the toy again and return it after ``step`` of the plan's steps. Raises as :func:`trained_to` does."""
    return trained_to(plan, step).latest.model


Shapes = dict[str, tuple[int, ...]]


def _linear(name: str, inputs: int, outputs: int) -> Shapes:
    """Return the tensors of a torch ``Linear``, whose matrix is stored as (out, in)."""
    return {f"{name}.weight": (outputs, inputs), f"{name}.bias": (outputs,)}


def _conv1d(name: str, inputs: int, outputs: int) -> Shapes:
    """Return the tensors of GPT-2's ``Conv1D``, whose matrix is stored as (in, out)."""
    return {f"{name}.weight": (inputs, outputs), f"{name}.bias": (outputs,)}


def _norm(name: str, width: int) -> Shapes:
    return {f"{name}.weight": (width,), f"{name}.bias": (width,)}


def bert_shapes(config: Mapping[str, Any]) -> Shapes:
    """Names and shapes of the tensors of ``BertForMaskedLM``, whose decoder is the table of token embeddings."""
    d, d_ff, words = config["hidden_size"], config["intermediate_size"], config["vocab_size"]
    shapes: Shapes = {
        "bert.embeddings.word_embeddings.weight": (words, d),
        "bert.embeddings.position_embeddings.weight": (config["max_position_embeddings"], d),
        "bert.embeddings.token_type_embeddings.weight": (config["type_vocab_size"], d),
        **_norm("bert.embeddings.LayerNorm", d),
        **_linear("cls.predictions.transform.dense", d, d),
        **_norm("cls.predictions.transform.LayerNorm", d),
        "cls.predictions.bias": (words,),
    }
    for layer in range(config["num_hidden_layers"]):
        at = f"bert.encoder.layer.{layer}"
        for name in ("self.query", "self.key", "self.value", "output.dense"):
            shapes |= _linear(f"{at}.attention.{name}", d, d)
        shapes |= _linear(f"{at}.intermediate.dense", d, d_ff) | _linear(f"{at}.output.dense", d_ff, d)
        shapes |= _norm(f"{at}.attention.output.LayerNorm", d) | _norm(f"{at}.output.LayerNorm", d)
    return shapes


def gpt2_shapes(config: Mapping[str, Any]) -> Shapes:
    """Names and shapes of the tensors of ``GPT2LMHeadModel``, whose decoder is the table of token embeddings."""
    d, d_ff = config["n_embd"], config["n_inner"]
    shapes: Shapes = {
        "transformer.wte.weight": (config["vocab_size"], d),
        "transformer.wpe.weight": (config["n_positions"], d),
        **_norm("transformer.ln_f", d),
    }
    for layer in range(config["n_layer"]):
        at = f"transformer.h.{layer}"
        shapes |= _norm(f"{at}.ln_1", d) | _norm(f"{at}.ln_2", d)
        shapes |= _conv1d(f"{at}.attn.c_attn", d, 3 * d) | _conv1d(f"{at}.attn.c_proj", d, d)
        shapes |= _conv1d(f"{at}.mlp.c_fc", d, d_ff) | _conv1d(f"{at}.mlp.c_proj", d_ff, d)
    return shapes
