"""From a finished training to the folder that ships: float16 safetensors, tokenizer, configuration.

python -m training.export lab-bert
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch
from tokenizers import Tokenizer
from transformers import PreTrainedTokenizerFast

from lab.models.catalogue import EMBEDDED
from training import bert, gpt2
from training.vocabulary import END_OF_TEXT

_BERT_TOKENS = {
    "unk_token": "[UNK]", "sep_token": "[SEP]", "pad_token": "[PAD]", "cls_token": "[CLS]", "mask_token": "[MASK]",
    "do_lower_case": True,
}  # fmt: skip
_GPT2_TOKENS = {"unk_token": END_OF_TEXT, "bos_token": END_OF_TEXT, "eos_token": END_OF_TEXT}


def export(model_id: str, state: Path, folder: Path) -> None:
    """Write the model of ``state`` as a Hugging Face folder; weights as float16 halve the repository."""
    of_bert = model_id == "lab-bert"
    model = bert.build_model(bert.Recipe()) if of_bert else gpt2.build_model(gpt2.Recipe())
    model.load_state_dict(torch.load(state, map_location="cpu", weights_only=True)["model"])
    model.half().save_pretrained(folder)
    PreTrainedTokenizerFast(
        tokenizer_object=Tokenizer.from_file(str(state.with_name("tokenizer.json"))),
        model_max_length=512,
        **(_BERT_TOKENS if of_bert else _GPT2_TOKENS),
    ).save_pretrained(folder)
    if not of_bert:
        (folder / "generation_config.json").unlink(missing_ok=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", choices=["lab-bert", "lab-gpt2"])
    parser.add_argument("--state", type=Path, help="default: final.pt of the model's training")
    options = parser.parse_args()
    state = options.state or Path(".training") / options.model / "final.pt"
    export(options.model, state, EMBEDDED / options.model)


if __name__ == "__main__":
    main()
