"""Changes to a checkpoint folder, as a careless or an older program would have left it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from torch import Tensor


def change_tensors(folder: Path, change: Callable[[dict[str, Tensor]], dict[str, Tensor]]) -> None:
    path = folder / "model.safetensors"
    save_file(change(load_file(path)), path, {"format": "pt"})


def change_config(folder: Path, **settings: Any) -> None:
    """Set entries of config.json; ``...`` removes one."""
    path = folder / "config.json"
    raw = {**json.loads(path.read_text()), **settings}
    path.write_text(json.dumps({name: value for name, value in raw.items() if value is not ...}))
