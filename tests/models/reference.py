"""The other side of the comparison: Hugging Face's modules, loaded and edited without any code of the lab."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from lab.models.trace import Trace
from tests.checkpoints import CORPUS, HEADS, WIDTH, WINDOW, Family

TOLERANCE = 1e-4
HEAD_WIDTH = WIDTH // HEADS
SENTENCE = "The unhappily café 🙂 doesn't wait for the cat."
PAIR = "A second one, 3 words long."
# Words of a text, from one to more than any limit: 900 words are cut at 512 tokens in every family.
WORD_COUNTS = (1, 2, 12, 80, 900)


def words(count: int) -> str:
    """``count`` words of the corpus, from the start again when it is used up."""
    given = " ".join(CORPUS).split()
    return " ".join(given[i % len(given)] for i in range(count))


@dataclass(frozen=True, eq=False)
class Outputs:
    """One Hugging Face run of one text, without the batch dimension."""

    hidden_states: tuple[Tensor, ...]
    attentions: tuple[Tensor, ...]
    logits: Tensor | None
    pair_logits: Tensor | None


@dataclass(frozen=True, eq=False)
class Theirs:
    """A Hugging Face module and its tokenizer, and where its family keeps the parts the tests edit."""

    family: Family
    module: nn.Module
    tokenize: Callable[..., dict[str, Tensor]]

    def edited(self) -> Theirs:
        """A copy to change; the original is shared by all tests."""
        return Theirs(self.family, copy.deepcopy(self.module), self.tokenize)

    @property
    def base(self) -> nn.Module:
        base = self.module.base_model
        assert isinstance(base, nn.Module)
        return base

    def part(self, bert: str, distilbert: str, gpt2: str, modernbert: str, layer: int | None = None) -> nn.Module:
        """A submodule by the name each naming scheme gives it, of one layer or of the whole model."""
        scheme = self.family if self.family in ("distilbert", "gpt2", "modernbert") else "bert"
        name = {"bert": bert, "distilbert": distilbert, "gpt2": gpt2, "modernbert": modernbert}[scheme]
        stack = {"bert": "encoder.layer", "distilbert": "transformer.layer", "gpt2": "h", "modernbert": "layers"}
        at = stack[scheme]
        path = name if layer is None else ".".join(filter(None, (at, str(layer), name)))
        return self.base.get_submodule(path)

    def block(self, layer: int) -> nn.Module:
        return self.part("", "", "", "", layer)

    def output_projection(self, layer: int) -> nn.Module:
        return self.part("attention.output.dense", "attention.out_lin", "attn.c_proj", "attn.Wo", layer)

    def query_parameters(self, layer: int) -> list[Tensor]:
        """Weight and bias of all queries: rows are outputs, (width, width) and (width,), writable views.

        ModernBERT has no bias.
        """
        return self._projection(layer, 0)

    def key_parameters(self, layer: int) -> list[Tensor]:
        return self._projection(layer, 1)

    def value_parameters(self, layer: int) -> list[Tensor]:
        return self._projection(layer, 2)

    def _projection(self, layer: int, which: int) -> list[Tensor]:
        bert, distilbert = (("query", "q_lin"), ("key", "k_lin"), ("value", "v_lin"))[which]
        linear = self.part(f"attention.self.{bert}", f"attention.{distilbert}", "attn.c_attn", "attn.Wqkv", layer)
        weight, own = linear.get_parameter("weight").data, slice(which * WIDTH, (which + 1) * WIDTH)
        if self.family == "modernbert":
            return [weight[own]]
        bias = linear.get_parameter("bias").data
        return [weight[:, own].T, bias[own]] if self.family == "gpt2" else [weight, bias]

    def projection_inputs(self, layer: int) -> Tensor:
        """W_O with its inputs as rows, (width, width), a writable view."""
        weight = self.output_projection(layer).get_parameter("weight").data
        return weight if self.family == "gpt2" else weight.T

    def written_by_neurons(self, layer: int) -> Tensor:
        """The second matrix of a feed-forward network, (d_ff, d): a row is what a neuron writes. Edit it in place."""
        weight = self.part("output.dense", "ffn.lin2", "mlp.c_proj", "mlp.Wo", layer).get_parameter("weight").data
        return weight if self.family == "gpt2" else weight.T

    def forget_positions(self) -> None:
        """Empty the table of positions; in ModernBERT let no hand turn."""
        name = "embeddings.position_embeddings"
        module = self.part(name, name, "wpe", "rotary_emb")
        own = [buffer for at, buffer in module.named_buffers() if at.endswith("inv_freq")]
        for tensor in own or [module.get_parameter("weight").data]:
            tensor[:] = 0

    def run(self, text: str, pair: str | None = None, mask: Tensor | None = None) -> Outputs:
        """Tokenize and run; ``mask`` is an (n, n) additive attention mask that replaces the module's own."""
        inputs = self.tokenize(text, pair, return_tensors="pt", truncation=True)
        if mask is not None:
            inputs = {**inputs, "attention_mask": self._as_taken(mask[None, None])}
        return self.run_ids(**inputs)

    def _as_taken(self, mask: Tensor) -> Any:
        """ModernBERT takes a mask for each kind of layer; a local one hides what is beyond its window, too."""
        if self.family != "modernbert":
            return mask
        n = mask.shape[-1]
        far = (torch.arange(n)[:, None] - torch.arange(n)).abs() > WINDOW
        return {"full_attention": mask, "sliding_attention": mask.masked_fill(far, -torch.inf)}

    def run_ids(self, **inputs: Any) -> Outputs:
        with torch.inference_mode():
            out = self.module(**inputs, output_attentions=True, output_hidden_states=True)
        logits, pair_logits = (
            out.get("prediction_logits", out.get("logits")),
            out.get("seq_relationship_logits"),
        )
        return Outputs(
            tuple(h[0] for h in out.hidden_states),
            tuple(a[0] for a in out.attentions),
            None if logits is None else logits[0],
            None if pair_logits is None else pair_logits[0],
        )


def load_theirs(folder: Path, family: Family) -> Theirs:
    """Load a checkpoint with Hugging Face's Auto classes alone."""
    import transformers

    auto = {
        "bert": transformers.AutoModelForPreTraining,
        "bert-headless": transformers.AutoModel,
        "distilbert": transformers.AutoModelForMaskedLM,
        "roberta": transformers.AutoModelForMaskedLM,
        "electra": transformers.AutoModel,
        "gpt2": transformers.AutoModelForCausalLM,
        "modernbert": transformers.AutoModelForMaskedLM,
    }[family]
    module = auto.from_pretrained(folder, attn_implementation="eager").eval()
    return Theirs(family, module, transformers.AutoTokenizer.from_pretrained(folder))


@contextmanager
def changed_input(module: nn.Module, change: Callable[[Tensor], Tensor]) -> Iterator[None]:
    """While the block runs, ``module`` receives ``change`` of its first input, (1, n, …)."""

    def hook(_module: nn.Module, inputs: tuple[Tensor, ...]) -> tuple[Tensor, ...]:
        return (change(inputs[0]), *inputs[1:])

    handle = module.register_forward_pre_hook(hook)
    try:
        yield
    finally:
        handle.remove()


@contextmanager
def masked(theirs: Theirs, layer: int, mask: Tensor) -> Iterator[None]:
    """While the block runs, layer ``layer`` adds ``mask`` (H, n, n) to its scores, in place of its own mask."""

    def hook(_module: nn.Module, inputs: tuple[Any, ...], named: dict[str, Any]) -> tuple[tuple[Any, ...], Any]:
        assert "attention_mask" in named or len(inputs) > 1
        if "attention_mask" in named:
            return inputs, {**named, "attention_mask": mask[None]}
        return (inputs[0], mask[None], *inputs[2:]), named

    module = theirs.part("attention", "attention", "attn", "attn", layer)
    handle = module.register_forward_pre_hook(hook, with_kwargs=True)
    try:
        yield
    finally:
        handle.remove()


def close(ours: Tensor, theirs: Tensor, tolerance: float = TOLERANCE) -> None:
    """Fail unless both have one shape and differ by at most ``tolerance`` anywhere."""
    assert ours.shape == theirs.shape
    difference = (ours - theirs).abs().max().item()
    assert difference <= tolerance, difference


def agrees(trace: Trace, outputs: Outputs) -> None:
    """Fail unless every attention, hidden state and logit of ``trace`` is Hugging Face's."""
    layers = len(outputs.attentions)
    assert layers == trace.model.config.layers == len(outputs.hidden_states) - 1
    for number, attention in enumerate(outputs.attentions):
        close(trace.layer(number).attention, attention)
        close(trace.hidden_states[number], outputs.hidden_states[number])
    close(trace.output, outputs.hidden_states[-1])
    if outputs.logits is not None:
        close(trace.logits(range(len(trace))), outputs.logits)
    if outputs.pair_logits is not None:
        close(trace.pair_logits, outputs.pair_logits)
