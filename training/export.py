"""From a finished training to the folder that ships: float16 safetensors, tokenizer, configuration.

python -m training.export lab-bert
python -m training.export lab-bert --tokenizer      (only what stands around the weights, which stay)
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedModel

from lab.models.catalogue import record
from lab.models.loading import EMBEDDED
from training import bert, gpt2, minilm
from training.command_line import documented
from training.vocabulary import END_OF_TEXT

# What google-bert/bert-base-uncased and openai-community/gpt2 say of their tokenizers, written out: the defaults of
# the classes differ between versions of transformers. The class decides which inputs a tokenizer gives: only
# BERT's gives token_type_ids.
_WORDPIECE: dict[str, Any] = {
    "tokenizer_class": "BertTokenizer",
    "model_max_length": 512,
    "do_lower_case": True,
    "strip_accents": None,
    "tokenize_chinese_chars": True,
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
_TOKENIZERS: dict[str, dict[str, Any]] = {
    "lab-minilm": _WORDPIECE,
    "lab-bert": _WORDPIECE,
    "lab-gpt2": {
        "tokenizer_class": "GPT2Tokenizer",
        "model_max_length": 512,
        "add_prefix_space": False,
        "unk_token": END_OF_TEXT,
        "bos_token": END_OF_TEXT,
        "eos_token": END_OF_TEXT,
    },
}

# Of its shape; the weights come from the training.
_EMPTY: dict[str, Callable[[], PreTrainedModel]] = {
    "lab-minilm": minilm.empty_model,
    "lab-bert": lambda: bert.build_model(bert.Recipe()),
    "lab-gpt2": lambda: gpt2.build_model(gpt2.Recipe()),
}


def export(model_id: str, state: Path, folder: Path) -> None:
    """Write the model of ``state`` as a Hugging Face folder; weights as float16 halve the repository."""
    model = _EMPTY[model_id]()
    model.load_state_dict(torch.load(state, map_location="cpu", weights_only=True)["model"])
    model.half().save_pretrained(folder)
    write_tokenizer(model_id, Tokenizer.from_file(str(state.with_name("tokenizer.json"))), folder)
    compute_in_float32(folder)
    if model_id == "lab-gpt2":
        (folder / "generation_config.json").unlink(missing_ok=True)


def write_tokenizer(model_id: str, tokenizer: Tokenizer, folder: Path) -> None:
    """Write ``tokenizer`` with the files that a model of its family has on the Hub.

    ``tokenizer.json`` is the whole; beside it ``vocab.txt``, or ``vocab.json`` with ``merges.txt``, from which
    transformers before version 5 builds the tokenizers without Rust.
    """
    tokenizer.save(str(folder / "tokenizer.json"))
    tokenizer.model.save(str(folder))
    _write(folder / "tokenizer_config.json", _TOKENIZERS[model_id])


def compute_in_float32(folder: Path) -> None:
    """Say so in ``config.json``: transformers 5 and its pipelines would compute in the type that is stored."""
    path = folder / "config.json"
    _write(path, json.loads(path.read_text("utf-8")) | {"dtype": "float32"})


def _write(path: Path, content: dict[str, Any]) -> None:
    path.write_text(json.dumps(content, indent=2, sort_keys=True) + "\n", encoding="utf-8", newline="\n")


def main() -> None:
    parser = documented(__doc__)
    parser.add_argument("model", choices=list(_EMPTY))
    parser.add_argument("--state", type=Path, help="default: final.pt of the model's training")
    parser.add_argument("--tokenizer", action="store_true", help="leave the weights; rewrite the files around them")
    options = parser.parse_args()
    folder = EMBEDDED / options.model
    if options.tokenizer:
        write_tokenizer(options.model, Tokenizer.from_file(str(folder / "tokenizer.json")), folder)
        compute_in_float32(folder)
    else:
        export(options.model, options.state or Path(".training") / options.model / "final.pt", folder)
        record(EMBEDDED, options.model)


if __name__ == "__main__":
    main()
