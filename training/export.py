"""From a training checkpoint to the folder that ships: float16 safetensors, tokenizer, configuration.

python -m training.export [--checkpoint .training/lab-bert/checkpoint.pt]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from lab.models.catalogue import EMBEDDED
from training.bert import Recipe, build_model


def export(checkpoint: Path, tokenizer: Path, folder: Path) -> None:
    """Write the model at ``checkpoint`` as a Hugging Face folder; weights as float16 halve the repository."""
    model = build_model(Recipe())
    model.load_state_dict(torch.load(checkpoint, map_location="cpu", weights_only=True)["model"])
    model.half().save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_file(str(tokenizer)), model_max_length=512, do_lower_case=True,
        unk_token="[UNK]", sep_token="[SEP]", pad_token="[PAD]", cls_token="[CLS]", mask_token="[MASK]",
    ).save_pretrained(folder)  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--checkpoint", type=Path, default=Path(".training/lab-bert/checkpoint.pt"))
    parser.add_argument("--folder", type=Path, default=EMBEDDED / "lab-bert")
    options = parser.parse_args()
    export(options.checkpoint, options.checkpoint.with_name("tokenizer.json"), options.folder)


if __name__ == "__main__":
    main()
