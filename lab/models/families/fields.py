"""The settings that all of Hugging Face's configuration classes share.

A test reads the classes of the installed transformers and fails on a field that a family neither reads nor lists.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Settings that decide numbers in every family, each with the only value that the lab computes.
ONLY: Mapping[str, Any] = {"quantization_config": None, "per_layer_config": None}

# Settings that decide no number of a run: labels of classifiers, training, the form of Hugging Face's output,
# and ids that only its text generation reads. Weights are read as float32, whatever their dtype. Cutting the
# feed-forward network's input into chunks saves memory and changes nothing else.
HARMLESS = frozenset(
    {
        "transformers_version",
        "architectures",
        "output_hidden_states",
        "return_dict",
        "dtype",
        "chunk_size_feed_forward",
        "is_encoder_decoder",
        "id2label",
        "label2id",
        "problem_type",
        "bos_token_id",
        "eos_token_id",
    }
)
