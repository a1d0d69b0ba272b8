"""A component's bytes read back, by the layout that packing.py's docstring states and not with its code."""

from __future__ import annotations

import json
import struct
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

_TYPES = {"u8": "<u1", "i8": "<i1", "u16": "<u2", "i16": "<i2", "u32": "<u4", "i32": "<i4", "f32": "<f4"}


def unpack(block: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """The header and the arrays of ``block``."""
    (size,) = struct.unpack_from("<I", block)
    assert size % 4 == 0
    header: dict[str, Any] = json.loads(block[4 : 4 + size])
    arrays, end = {}, 0
    for name, entry in header["arrays"].items():
        assert entry["at"] == end, f"{name} does not follow the array before it"
        kind = np.dtype(_TYPES[entry["type"]])
        count = prod(entry["shape"])
        arrays[name] = np.frombuffer(block, kind, count, 4 + size + end).reshape(entry["shape"])
        end += -(-count * kind.itemsize // 4) * 4
    assert 4 + size + end == len(block)
    return header, arrays
