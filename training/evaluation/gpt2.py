"""What ``lab-gpt2`` knows about text it never saw, and how it goes on.

python -m training.evaluation.gpt2
"""

from __future__ import annotations

import json
import math
from typing import Any

import torch
from tokenizers import Tokenizer
from transformers import GPT2LMHeadModel

from lab.models.loading import EMBEDDED
from training.command_line import documented
from training.corpus import TokenCorpus, held_out_corpus
from training.evaluation import folder_bytes
from training.evaluation.heads import feeds_induction, head_patterns, induction
from training.evaluation.residual import residual
from training.gpt2 import TextSampler

FOLDER = EMBEDDED / "lab-gpt2"
PROMPTS = ("Once upon a time", "The old man opened the door and", "My sister likes to")
TEMPERATURE, TOP_K, NEW_TOKENS = 0.7, 40, 48


@torch.inference_mode()
def perplexity(model: GPT2LMHeadModel, corpus: TokenCorpus, tokenizer: Tokenizer, windows: int) -> dict[str, float]:
    """Perplexity per token and per byte on windows of 128 held-out tokens.

    Per byte: e to the summed loss over the number of UTF-8 bytes predicted, which no vocabulary can flatter.
    """
    sampler = TextSampler(corpus, tokenizer, repeats=0.0, seed=7)
    loss = tokens = length = 0.0
    for _ in range(windows // 16):
        ids = torch.tensor([sampler.window(128) for _ in range(16)])
        logits = model(input_ids=ids[:, :-1]).logits
        target = ids[:, 1:]
        loss += torch.nn.functional.cross_entropy(logits.flatten(0, 1), target.flatten(), reduction="sum").item()
        tokens += target.numel()
        length += sum(len(text.encode()) for text in tokenizer.decode_batch(target.tolist(), skip_special_tokens=True))
    return {"per_token": math.exp(loss / tokens), "per_byte": math.exp(loss / length), "tokens": tokens}


@torch.inference_mode()
def continuation(model: GPT2LMHeadModel, tokenizer: Tokenizer, prompt: str, seed: int) -> str:
    """``prompt`` and up to 48 sampled tokens after it, up to the end of the text."""
    generator = torch.Generator().manual_seed(seed)
    ids = tokenizer.encode(prompt).ids
    end = model.config.eos_token_id
    for _ in range(NEW_TOKENS):
        logits, candidates = (model(torch.tensor([ids])).logits[0, -1] / TEMPERATURE).topk(TOP_K)
        drawn = candidates[torch.multinomial(logits.softmax(-1), 1, generator=generator)].item()
        if drawn == end:
            break
        ids.append(int(drawn))
    return tokenizer.decode(ids)


def shipped() -> tuple[GPT2LMHeadModel, TokenCorpus, Tokenizer]:
    """The model that ships, text that it never saw, and its tokenizer."""
    tokenizer = Tokenizer.from_file(str(FOLDER / "tokenizer.json"))
    model = GPT2LMHeadModel.from_pretrained(FOLDER, dtype=torch.float32).eval()
    return model, held_out_corpus(tokenizer, before_sentence=" "), tokenizer


def merges() -> int:
    """How many pairs the tokenizer merges."""
    return len(json.loads((FOLDER / "tokenizer.json").read_text("utf-8"))["model"]["merges"])


def evaluate(windows: int = 640) -> dict[str, Any]:
    """All figures of the model card, from the files that ship."""
    model, held_out, tokenizer = shipped()
    return {
        "bytes": folder_bytes(FOLDER),
        "merges": merges(),
        "perplexity": perplexity(model, held_out, tokenizer, windows),
        "temperature": TEMPERATURE,
        "top_k": TOP_K,
        "continuations": [continuation(model, tokenizer, prompt, seed=1) for prompt in PROMPTS],
        "heads": head_patterns("lab-gpt2"),
        "residual": residual("lab-gpt2"),
        "induction": induction("lab-gpt2"),
        "feeds_induction": feeds_induction("lab-gpt2"),
    }


def main() -> None:
    documented(__doc__).parse_args()
    torch.set_num_threads(1)
    print(json.dumps(evaluate(), indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
