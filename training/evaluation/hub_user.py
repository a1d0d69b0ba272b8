"""What somebody who knows only transformers gets out of a checkpoint folder; imports nothing of the lab.

    python training/evaluation/hub_user.py < questions.json > answers.json

So it runs wherever transformers does. :mod:`training.evaluation.outside` asks it in several versions of transformers
and compares its answers with the lab's.
"""

from __future__ import annotations

import argparse
import json
import sys
from typing import Any

import tokenizers
import torch
import transformers
from transformers import AutoModelForCausalLM, AutoTokenizer, BertForPreTraining, pipeline

Answers = dict[str, Any]


def hush() -> None:
    """No progress bars, no report of the heads that a class does not use."""
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


def encodings(folder: str, texts: list[list[str]]) -> list[Answers]:
    """Each text, or pair of texts, as ``AutoTokenizer`` gives it with nothing asked for but the offsets."""
    tokenizer, plain = (AutoTokenizer.from_pretrained(folder, use_fast=fast) for fast in (True, False))
    found = []
    for text in texts:
        encoded = tokenizer(*text, return_offsets_mapping=True)
        given: Answers = {name: list(values) for name, values in encoded.items() if name != "attention_mask"}
        given["offset_mapping"] = [list(pair) for pair in given["offset_mapping"]]
        given["tokens"] = tokenizer.convert_ids_to_tokens(encoded["input_ids"])
        # Before version 5 this is another tokenizer, in Python, made from the vocabulary files.
        found.append(given | {"input_ids_in_python": plain(*text)["input_ids"]})
    return found


@torch.inference_mode()
def follows(folder: str, pairs: list[list[str]]) -> list[float]:
    """The probability that the second text of each pair follows the first, by ``BertForPreTraining``."""
    tokenizer, model = AutoTokenizer.from_pretrained(folder), BertForPreTraining.from_pretrained(folder).eval()
    logits = [model(**tokenizer(*pair, return_tensors="pt")).seq_relationship_logits[0] for pair in pairs]
    return [row.softmax(-1)[0].item() for row in logits]


def filled(folder: str, blanks: list[str]) -> list[list[tuple[str, float]]]:
    """The five best words at each [MASK], by the pipeline "fill-mask"."""
    fill = pipeline("fill-mask", model=folder)
    return [[(each["token_str"], each["score"]) for each in fill(blank)] for blank in blanks]


@torch.inference_mode()
def continued(folder: str, prompts: list[str]) -> list[tuple[str, float]]:
    """The likeliest first token after each prompt by the pipeline "text-generation", with its probability."""
    write = pipeline("text-generation", model=folder)
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    found = []
    for prompt in prompts:
        (written,) = write(prompt, max_new_tokens=1, do_sample=False, return_full_text=False)
        probabilities = model(**tokenizer(prompt, return_tensors="pt")).logits[0, -1].softmax(-1)
        found.append((written["generated_text"], probabilities.max().item()))
    return found


def answers(berts: list[str], gpt2: str, questions: Answers) -> Answers:
    """Everything asked, of the folders of two BERTs and a GPT-2."""
    return {
        "encodings": {folder: encodings(folder, questions["texts"]) for folder in (*berts, gpt2)},
        "classes": {folder: type(AutoTokenizer.from_pretrained(folder)).__name__ for folder in (*berts, gpt2)},
        "follows": {folder: follows(folder, questions["pairs"]) for folder in berts},
        "filled": {folder: filled(folder, questions["blanks"]) for folder in berts},
        "continued": continued(gpt2, questions["prompts"]),
        "versions": {each.__name__: each.__version__ for each in (transformers, tokenizers, torch)},
    }


if __name__ == "__main__":
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    hush()
    asked = json.load(sys.stdin)
    json.dump(answers(asked["berts"], asked["gpt2"], asked["questions"]), sys.stdout)
