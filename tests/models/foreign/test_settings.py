"""Every field of Hugging Face's configuration classes: read, refused by name, or proven to decide no number.

A checkpoint is changed in one field at a time, and opened by the lab and by Hugging Face.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from transformers.activations import ACT2FN
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from lab.models.families.family import ONLY
from lab.models.families.registry import FAMILIES
from tests.checkpoints import CHECKPOINT_OF
from tests.conftest import TinyCheckpoint
from tests.models.folders import change_config
from tests.models.foreign.sweep import refusal
from tests.thorough import some

# Another value for each field that decides no number.
_OTHER: Mapping[str, Any] = {
    "transformers_version": "99.0",
    "architectures": ["SomethingElse"],
    "output_hidden_states": True,
    "return_dict": False,
    "dtype": "float16",
    "chunk_size_feed_forward": 3,
    "is_encoder_decoder": True,
    "id2label": {"0": "no", "1": "yes", "2": "perhaps"},
    "label2id": {"no": 0},
    "problem_type": "regression",
    "use_cache": False,
    "bos_token_id": 7,
    "eos_token_id": 9999,
    "cls_token_id": 7,
    "sep_token_id": 7,
    "pad_token_id": 9999,  # where it is harmless: in GPT-2
    "sinusoidal_pos_embds": True,
    "reorder_and_upcast_attn": True,
    "summary_type": "mean",
    "summary_use_proj": False,
    "summary_activation": "tanh",
    "summary_proj_to_labels": False,
    "classifier_pooling": "mean",
    "deterministic_flash_attn": True,
    "sparse_prediction": True,
    "sparse_pred_ignore_index": 5,
}
# Values of the fields that are read, besides the wrong types: each gives other numbers or none.
_READ: Mapping[str, tuple[Any, ...]] = {
    "pad_token_id": (None, 0, 3, -1, 399, 9999),
    "tie_word_embeddings": (False,),
    "initializer_range": (0.5,),
    "type_vocab_size": (0, 1, 3),
    "embedding_size": (32, 128, ...),
    "scale_attn_weights": (False,),
    "layer_norm_eps": (0.0, 0.5, -1.0, 1e30, float("nan"), ...),
    "layer_norm_epsilon": (0.0, 0.5, -1.0, ...),
    "norm_eps": (0.0, 0.5, -1.0, ...),
    "num_attention_heads": (1, 2, 8, 32, 3, 0, ...),
    "n_heads": (1, 2, 3, ...),
    "n_head": (1, 2, 3, ...),
    "num_hidden_layers": (0, 1, 3, ...),
    "n_layer": (1, 3),
    "n_layers": (1, 3),
    "n_inner": (None, 63, 128),
    "hidden_size": (16, 64, ...),
    "intermediate_size": (32, 65, ...),
    "vocab_size": (1, 399, 100_000, ...),
    "max_position_embeddings": (0, 1, 513, ...),
    "n_positions": (1, 513, ...),
    "layer_types": (
        None,
        ["full_attention"] * 2,
        ["sliding_attention"] * 2,
        ["full_attention"],
        ["full_attention", "chunked_attention"],
        [],
        ["full_attention", None],
    ),
    "rope_parameters": (
        None,
        {},
        {"full_attention": {"rope_type": "default", "rope_theta": 50.0}},
        {"full_attention": {"rope_type": "default", "rope_theta": 0.0}},
        {"full_attention": {"rope_type": "linear", "factor": 2.0, "rope_theta": 50.0}},
        {"full_attention": {"rope_type": "yarn"}},
        {"sliding_attention": {"rope_type": "dynamic", "factor": 4.0}},
        {"rope_type": "default", "rope_theta": 50.0},
    ),
    "local_attention": (0, 1, 2, 7, 1000, -4),
    "decoder_bias": (False,),
    "classifier_activation": tuple(ACT2FN),
    "initializer_cutoff_factor": (3.0,),
    "attention_bias": (True,),
    "mlp_bias": (True,),
    "norm_bias": (True,),
    "classifier_bias": (True,),
}
# Values of no field: null, words, lists and switches where numbers belong, and numbers where switches belong.
_WRONG: tuple[Any, ...] = (None, "x", [], 1.5, True, 7)
# Keys that the class does not know. Hugging Face's modules read some of them nevertheless.
_UNKNOWN: tuple[Mapping[str, Any], ...] = (
    {"position_embedding_type": "relative_key"},
    {"is_decoder": True},
    {"add_cross_attention": True},
    {"is_causal": False},
    {"is_causal": None},
    {"head_dim": 4},
    {"head_dim": 8},
    {"sliding_window": 2},
    {"rope_scaling": {"type": "linear", "factor": 2.0}},
    {"rope_theta": 50.0},
    {"global_rope_theta": 50.0},
    {"global_attn_every_n_layers": 0},
    {"layer_types": None, "global_attn_every_n_layers": 2},
    {"layer_types": None, "global_attn_every_n_layers": 0},
    {"layer_types": None, "global_attn_every_n_layers": None},
    {"scale_attn_weights": False},
    {"scale_attn_by_inverse_layer_idx": True},
    {"attention_chunk_size": 2},
    {"pruned_heads": {"0": [1]}},
    {"per_layer_config": {"0": {"intermediate_size": 8}}},
    {"quantization_config": {"quant_method": "bitsandbytes", "load_in_8bit": True}},
    {"quantization_config": {"quant_method": "gptq", "bits": 4}},
    {"quantization_config": {}},
    {"torch_dtype": "bfloat16"},
    {"dtype": "nonsense"},
    {"attn_implementation": "nonsense"},
    {"_attn_implementation": "flash_attention_2"},
    {"output_attentions": True},
    {"auto_map": {"AutoModel": "code.Model", "AutoConfig": "code.Config"}},
    {"num_labels": 0},
    {"id2label": {"a": "b"}},
    {"a_key_of_nobody": [1, {"deep": None}]},
    {"model_type": 5},
    {"model_type": None, "architectures": None},
)


def _folder(tiny: TinyCheckpoint, root: Path, family: str) -> Path:
    folder = Path(shutil.copytree(tiny(CHECKPOINT_OF[family]), root / family))
    if family != CHECKPOINT_OF[family]:
        change_config(folder, model_type=family, architectures=...)
    return folder


def _fields(family: str) -> set[str]:
    return {field.name for field in dataclasses.fields(CONFIG_MAPPING[family])}


def test_every_field_of_the_configuration_class_is_in_one_list() -> None:
    """A field of a new release is in no list, and this test names it."""
    # Only keys that older classes had, or that Hugging Face's modules read from an unknown key, are not fields.
    extra = {*ONLY, "position_embedding_type", "is_causal"}
    for family, known in FAMILIES.items():
        read, only, harmless = known.fields
        assert _fields(family) - read - only - harmless == set(), family
        assert not (read & only or read & harmless or only & harmless), family
        assert (read | only | harmless) - _fields(family) <= extra, family


def _harmless() -> Iterator[tuple[str, str]]:
    for family in ("bert", "electra", "distilbert", "gpt2", "modernbert"):
        for name in sorted(FAMILIES[family].fields[2]):
            yield family, name


@pytest.mark.parametrize(("family", "name"), list(_harmless()))
def test_a_harmless_field_changes_no_number(
    family: str, name: str, tiny_checkpoint: TinyCheckpoint, tmp_path: Path
) -> None:
    folder = _folder(tiny_checkpoint, tmp_path, family)
    other = 0.5 if name.endswith(("dropout", "_prob", "pdrop")) else _OTHER[name]
    assert json.loads((folder / "config.json").read_text()).get(name) != other, "the same value again"
    change_config(folder, **{name: other})
    assert refusal(folder) is None


def _deciding() -> Iterator[tuple[str, str, Any]]:
    for family, known in FAMILIES.items():
        read, only, _ = known.fields
        twin = CHECKPOINT_OF[family] != family  # with the fields and code of another one: a few values suffice
        for name in sorted(read & _fields(family)):
            others = tuple(ACT2FN) if name == known.settings.activation else _READ.get(name, ())
            yield from ((family, name, value) for value in (others[:2] if twin else (*others, *_WRONG)))
        if not twin:
            yield from ((family, name, value) for name in sorted(only & _fields(family)) for value in (True, *_WRONG))


def test_every_family_has_a_tiny_checkpoint() -> None:
    assert CHECKPOINT_OF.keys() == FAMILIES.keys()


@pytest.mark.parametrize("family", some([*FAMILIES], 3))
def test_a_field_that_decides_is_computed_or_refused(
    family: str, tiny_checkpoint: TinyCheckpoint, tmp_path: Path
) -> None:
    """Equal to Hugging Face, or refused in a sentence that names the field, one of its tensors, or Hugging Face."""
    folder = _folder(tiny_checkpoint, tmp_path, family)
    whole = (folder / "config.json").read_text()
    opened, tried = 0, 0
    for of, name, value in _deciding():
        if of != family:
            continue
        (folder / "config.json").write_text(whole)
        change_config(folder, **{name: value})
        try:
            said = refusal(folder)
        except BaseException as error:
            error.add_note(f"{name} = {value!r}")
            raise
        opened, tried = opened + (said is None), tried + 1
    assert 0 < opened < tried


@pytest.mark.parametrize("family", some(["bert", "distilbert", "gpt2", "modernbert"], 2))
def test_keys_that_the_class_does_not_know(family: str, tiny_checkpoint: TinyCheckpoint, tmp_path: Path) -> None:
    folder = _folder(tiny_checkpoint, tmp_path, family)
    whole = (folder / "config.json").read_text()
    for settings in _UNKNOWN:
        (folder / "config.json").write_text(whole)
        change_config(folder, **settings)
        try:
            refusal(folder)
        except BaseException as error:
            error.add_note(str(settings))
            raise
