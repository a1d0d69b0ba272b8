"""A component's data as bytes: a small JSON header and raw arrays, in one block that JavaScript reads in place.

    u32            length of the header in bytes
    header         JSON in UTF-8, filled up with spaces to a multiple of 4
    arrays         one after the other, each filled up with zeros to a multiple of 4

The header lists the arrays under ``arrays``: for each name the array's type, its shape and its beginning,
counted from the end of the header. Everything is little-endian. ``id`` in the header changes with the
content, so that the browser can recognise a rerun that changed nothing.
"""

import json
import sys
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

# The number types that exist both in numpy and as a browser's typed arrays.
TYPES: Mapping[str, str] = {
    "u1": "u8",
    "i1": "i8",
    "u2": "u16",
    "i2": "i16",
    "u4": "u32",
    "i4": "i32",
    "f4": "f32",
}


def pack(header: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Pack ``header`` and ``arrays`` into one block.

    ``header`` holds values that JSON can hold: strings, plain numbers, lists, dictionaries; labels from a learner's
    text go through :func:`lab.charts.base.axes.visible` first. Arrays have one of the ``TYPES``.

    Raises
    ------
    ValueError
        NaN in the header.
    """
    listed: dict[str, dict[str, Any]] = {}
    blocks: list[bytes] = []
    at = 0
    for name, array in arrays.items():
        kind = TYPES[array.dtype.kind + str(array.dtype.itemsize)]
        listed[name] = {"type": kind, "shape": list(array.shape), "at": at}
        blocks.append(_filled(_little_endian(array).tobytes(), b"\0"))
        at += len(blocks[-1])
    body = b"".join(blocks)
    text = json.dumps({**header, "arrays": listed}, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    mark = zlib.crc32(body, zlib.crc32(text.encode()))
    head = _filled(f'{{"id":"{mark:08x}",{text[1:]}'.encode(), b" ")
    return len(head).to_bytes(4, "little") + head + body


def _little_endian(array: NDArray[Any]) -> NDArray[Any]:
    foreign = array.dtype.byteorder == ">" or (array.dtype.byteorder == "=" and sys.byteorder == "big")
    return np.ascontiguousarray(array.astype(array.dtype.newbyteorder("<")) if foreign else array)


def _filled(block: bytes, with_: bytes) -> bytes:
    return block + with_ * (-len(block) % 4)
