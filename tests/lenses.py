"""A lens beside a checkpoint, as ``training/lens.py`` leaves it, with maps of any numbers."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file

from lab.models.fitted_lens import FOLDER, MAPS, RECORD, LensReading
from lab.models.loading import load_model


def put_lens(folder: Path, seed: int = 0) -> Path:
    """Write random maps and a record beside the checkpoint in ``folder``; return ``folder``."""
    config, draw = load_model(folder).config, torch.Generator().manual_seed(seed)
    shapes = {"w": (config.layers, config.width, config.width), "b": (config.layers, config.width)}
    (folder / FOLDER).mkdir()
    maps = {name: torch.randn(shape, generator=draw).div(config.width**0.5).half() for name, shape in shapes.items()}
    save_file(maps, folder / FOLDER / MAPS)
    reading = dict.fromkeys(LensReading.__dataclass_fields__, [0.1] * config.layers + [1.0])
    held_out = {"places": 9, "without_context": 0.5, **dict.fromkeys(("plain", "fitted", "untrained"), reading)}
    (folder / FOLDER / RECORD).write_text(json.dumps({"held_out": held_out}), "utf-8")
    return folder
