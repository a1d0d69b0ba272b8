"""``make evaluate``: every figure of the four model cards, measured on what ships; and the experiments, anew."""

from __future__ import annotations

import json

import torch

from training.evaluation import bert, en_lab, experiments, gpt2, punkt


def main() -> None:
    torch.set_num_threads(1)
    for name, module in (("lab-bert", bert), ("lab-gpt2", gpt2), ("en_lab", en_lab), ("punkt", punkt)):
        print(f"{name}\n{json.dumps(module.evaluate(), indent=1, ensure_ascii=False)}\n", flush=True)
    experiments.main([])


if __name__ == "__main__":
    main()
