"""Convert the result of :mod:`lab.evidence.patching.replication` to tables, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from typing import Any

import numpy as np
import pyarrow as pa

from lab.analysis.heads.values import Values
from lab.evidence import shipped
from lab.evidence.pairs import MinimalPair
from lab.evidence.patching.claims import CLAIMS, DIRECTIONS
from lab.evidence.patching.patches import Maps
from lab.evidence.patching.path import Relay
from lab.evidence.patching.result import Carried, PairRow, PatchingTest

_MEANS = tuple(f.name for f in fields(Carried))
_ENDS = ("mean", "low", "high")
_SUBJECT, _ASKED = "subject", "asked"
_TEXT = {f.name: pa.string() for f in fields(MinimalPair)} | {"half": pa.int8()}
_NUMBERS = pa.list_(pa.float64())


def as_tables(found: PatchingTest) -> dict[str, pa.Table]:
    """Return tables of cells (one per part and token), pairs, refused pairs, twin's pairs, relays and token names."""
    cells = {"estimated": _flat(found.estimated)}
    for direction, each in found.carried.items():
        cells |= {f"{direction} {name}": _flat(getattr(each, name)) for name in _MEANS}
    relays = [
        {"direction": direction, "layer": each.layer, **{name: getattr(each, name) for name in _ENDS}}
        for direction, each in found.relays.items()
    ]
    role = {found.subject: _SUBJECT, found.asked: _ASKED}
    shown = {"clean": pa.float64(), "corrupt": pa.float64(), "numbers": _NUMBERS}
    return {
        "cells": pa.table(cells),
        "pairs": pa.Table.from_pylist([_line(row) for row in found.pairs], pa.schema(_TEXT | shown)),
        "refused": pa.Table.from_pylist(
            [asdict(pair) | {"why": why} for pair, why in found.refused], pa.schema(_TEXT | {"why": pa.string()})
        ),
        "twin": pa.Table.from_pylist([_line(row) for row in found.twin], pa.schema(_TEXT | shown)),
        "relays": pa.Table.from_pylist(
            relays, pa.schema({"direction": pa.string(), "layer": pa.int8(), **dict.fromkeys(_ENDS, _NUMBERS)})
        ),
        "tokens": pa.table(
            {
                "name": list(found.tokens),
                "role": [role.get(at, "") for at in range(len(found.tokens))],
                "layers": [found.layers] * len(found.tokens),
            }
        ),
    }


def from_tables(tables: Mapping[str, pa.Table]) -> PatchingTest:
    """Rebuild the result from the tables of :func:`as_tables`."""
    tokens, cells = tables["tokens"].to_pylist(), tables["cells"]
    roles = [each["role"] for each in tokens]

    def maps(name: str) -> Maps:
        return _maps(cells[name].to_numpy(), tokens[0]["layers"], len(tokens))

    carried = {direction: Carried(*(maps(f"{direction} {name}") for name in _MEANS)) for direction in DIRECTIONS}
    pairs, twin = (tuple(_row(line) for line in tables[name].to_pylist()) for name in ("pairs", "twin"))
    refused = tuple((_pair(row), row["why"]) for row in tables["refused"].to_pylist())
    relays = {
        line["direction"]: Relay(line["layer"], *(np.array(line[name]) for name in _ENDS))
        for line in tables["relays"].to_pylist()
    }
    return PatchingTest(
        pairs,
        refused,
        tuple(each["name"] for each in tokens),
        roles.index(_SUBJECT),
        roles.index(_ASKED),
        carried,
        maps("estimated"),
        relays,
        twin,
        shipped.provenance(cells),
    )


def _line(row: PairRow) -> dict[str, object]:
    return asdict(row.pair) | {"clean": row.clean, "corrupt": row.corrupt, "numbers": row.numbers.reshape(-1)}


def _row(line: Mapping[str, Any]) -> PairRow:
    numbers = np.array(line["numbers"], dtype=np.float64).reshape(len(CLAIMS), 2)
    return PairRow(_pair(line), line["clean"], line["corrupt"], numbers)


def _pair(row: Mapping[str, Any]) -> MinimalPair:
    return MinimalPair(**{f.name: row[f.name] for f in fields(MinimalPair)})


def _flat(maps: Maps) -> Values:
    return np.concatenate([getattr(maps, f.name).reshape(-1) for f in fields(Maps)])


def _maps(cells: Values, layers: int, tokens: int) -> Maps:
    residual, attention, ffn, heads = np.split(cells, np.cumsum([layers + 1, layers, layers]) * tokens)
    by_layer = (layers, tokens)
    return Maps(
        residual.reshape(layers + 1, tokens),
        attention.reshape(by_layer),
        ffn.reshape(by_layer),
        heads.reshape(layers, -1, tokens),
    )
