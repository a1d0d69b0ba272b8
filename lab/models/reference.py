"""Hugging Face's own module of a checkpoint, loaded and run by Hugging Face's code and read by hooks."""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import torch
from torch import Tensor, nn

from lab.models.cores import alone
from lab.models.families.family import Place
from lab.models.families.library import boundary
from lab.models.families.registry import FAMILIES

if TYPE_CHECKING:
    from lab.models.loading import LoadedModel
    from lab.models.trace import Trace
    from lab.models.weights import Weights

# All sessions share the reference module, and hooks see every run, so only one thread may run or listen at a time.
_ONE_AT_A_TIME = threading.RLock()


@dataclass(frozen=True, eq=False)
class ReferenceRun:
    """The output of one run of the Hugging Face module; ``attentions`` is empty if not requested."""

    attentions: tuple[Tensor, ...]
    hidden_states: tuple[Tensor, ...]
    logits: Tensor | None
    pair_logits: Tensor | None


@dataclass(frozen=True, eq=False)
class _Loaded:
    """Hugging Face's module, and the names of its tensors that it did not find in the checkpoint and made itself."""

    module: nn.Module
    not_found: tuple[str, ...]


_LOADED: WeakKeyDictionary[LoadedModel, _Loaded] = WeakKeyDictionary()


def reference(model: LoadedModel) -> nn.Module:
    """Hugging Face's own module of ``model``'s checkpoint, with exactly the checkpoint's heads, loaded by Hugging
    Face's code.

    The module is loaded once. It shares the lab's weights if they are equal bit by bit, and lives as long as the model.
    Raises :class:`lab.models.config.CheckpointError` if Hugging Face cannot load the checkpoint.
    """
    return _loaded(model).module


def not_found(model: LoadedModel) -> tuple[str, ...]:
    """Return the tensors that :func:`reference` compares but did not find in the checkpoint.

    Hugging Face makes such a tensor itself and says so only in a warning.
    """
    # Only the next-sentence head reads the pooler.
    unread = ".pooler." if model.weights.pair_head is None else ()
    return tuple(name for name in _loaded(model).not_found if not unread or unread not in f".{name}")


def _loaded(model: LoadedModel) -> _Loaded:
    with alone(_ONE_AT_A_TIME):
        if model not in _LOADED:
            with boundary(model.id):
                _LOADED[model] = _load(model)
        return _LOADED[model]


@torch.inference_mode(False)  # a parameter made in inference mode does not accept other data
def _load(model: LoadedModel) -> _Loaded:
    import transformers

    transformers.utils.logging.disable_progress_bar()
    name = FAMILIES[model.config.family].reference_class(model.weights)
    kind = getattr(transformers, name)
    settings: dict[str, Any] = {"attn_implementation": "eager", "dtype": torch.float32, "output_loading_info": True}
    if isinstance(model.source, Path):
        config, folder = kind.config_class.from_pretrained(model.source), model.source
        settings["use_safetensors"] = True
        settings["generation_config"] = transformers.GenerationConfig()  # the folder's decides no number of a run
    else:
        # Use from_pretrained, not load_state_dict, because it also knows a base model's names and LayerNorm's old
        # names.
        config, folder = kind.config_class(**model.source.config), None
        settings["state_dict"] = model.source.tensors
    config.return_dict = True
    config.chunk_size_feed_forward = 0  # otherwise the hooks would see the feed-forward network's input in pieces
    module, found = kind.from_pretrained(folder, config=config, **settings)
    _keep_once(module, model.weights)
    return _Loaded(module.eval(), tuple(sorted(found["missing_keys"])))


def _keep_once(module: nn.Module, weights: Weights) -> None:
    """Keep only one copy in memory of each parameter that equals one of the lab's tensors bit by bit."""
    ours: dict[torch.Size, list[Tensor]] = defaultdict(list)
    for tensor in _tensors(weights):
        if tensor.is_inference():  # a parameter does not accept the tensor of a toy
            continue
        for way in (tensor, tensor.T) if tensor.ndim == 2 else (tensor,):
            ours[way.shape].append(way)
    for parameter in module.parameters():
        alike = (each for each in ours[parameter.shape] if torch.equal(each, parameter))
        parameter.data = next(alike, parameter.data)


def _tensors(value: object) -> Iterator[Tensor]:
    if isinstance(value, Tensor):
        yield value
    elif isinstance(value, tuple):
        for part in value:
            yield from _tensors(part)
    elif is_dataclass(value):
        for each in fields(value):
            yield from _tensors(getattr(value, each.name))


def base_of(model: LoadedModel) -> nn.Module:
    """Return the part of Hugging Face's module that has the layers. Raises TypeError if there is none."""
    module = reference(model)
    base = module.base_model
    if not isinstance(base, nn.Module):
        raise TypeError(f"{type(module).__name__} has no base model to listen to.")
    return base


@contextmanager
def listening(base: nn.Module, places: Iterable[Place]) -> Iterator[dict[Place, Tensor]]:
    """Read these places of ``base`` while the block runs: (n, d) each, attention weights (H, n, n).

    A run within the block raises RuntimeError if the module returns no attention weights.
    """
    read: dict[Place, Tensor] = {}

    def reader(place: Place) -> Callable[..., None]:
        def hook(_module: nn.Module, inputs: tuple[Tensor, ...], output: Any = None) -> None:
            if place[1] == "weights":
                # All implementations of attention except eager return None without a warning.
                if output[1] is None:
                    raise RuntimeError(
                        "the reference returned no attentions; it must be loaded with the eager implementation."
                    )
                read[place] = output[1][0]
                return
            value = inputs[0] if place[1] == "in" else output
            tensor = value[0] if isinstance(value, tuple) else value
            # The output of position look-ups is (n, d), every other output is (1, n, d).
            read[place] = tensor[0] if tensor.ndim == 3 else tensor

        return hook

    with alone(_ONE_AT_A_TIME), _handles() as handles:
        for place in places:
            module = base.get_submodule(place[0])
            register = module.register_forward_pre_hook if place[1] == "in" else module.register_forward_hook
            handles.append(register(reader(place)))
        yield read


@contextmanager
def after_each_layer(base: nn.Module, paths: Iterable[str], then: Callable[[int], None]) -> Iterator[None]:
    """Call ``then(number)`` after each layer at one of ``paths``; begin this block inside :func:`listening`."""

    def teller(number: int) -> Callable[..., None]:
        return lambda *_: then(number)

    with _handles() as handles:
        for number, path in enumerate(paths):
            handles.append(base.get_submodule(path).register_forward_hook(teller(number)))
        yield


@contextmanager
def _handles() -> Iterator[list[Any]]:
    """Hooks that are removed at the end of the block."""
    handles: list[Any] = []
    try:
        yield handles
    finally:
        for handle in handles:
            handle.remove()


@torch.inference_mode()
def reference_run(trace: Trace, attentions: bool = True) -> ReferenceRun:
    """Run the Hugging Face module once on the trace's ids.

    Raises RuntimeError if attentions were requested but not returned.
    """
    module = reference(trace.model)
    inputs = {"input_ids": torch.tensor([trace.token_ids])}
    if trace.model.config.segments:
        inputs["token_type_ids"] = torch.tensor([trace.segment_ids])
    if trace.encoding.padding:
        inputs["attention_mask"] = read_tokens(trace)[None].long()
    with alone(_ONE_AT_A_TIME):
        out = module(**inputs, output_attentions=attentions, output_hidden_states=True)
    # With any implementation except eager, Transformers 5 returns an empty tuple without a warning.
    returned = out.attentions if attentions else ()
    if attentions and len(returned) != trace.model.config.layers:
        raise RuntimeError("the reference returned no attentions; it must be loaded with the eager implementation.")
    logits = out.get("prediction_logits", out.get("logits"))
    relation = out.get("seq_relationship_logits")
    return ReferenceRun(
        attentions=tuple(a[0] for a in returned),
        hidden_states=tuple(h[0] for h in out.hidden_states),
        logits=None if logits is None else logits[0],
        pair_logits=None if relation is None else relation[0],
    )


def read_tokens(trace: Trace) -> Tensor:
    """Return a mask of the tokens that are not padding, (n,) bool: Hugging Face's attention mask."""
    return torch.arange(len(trace)) < len(trace) - trace.encoding.padding
