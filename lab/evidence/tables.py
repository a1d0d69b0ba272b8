"""Write a result, a frozen dataclass, as tables for Parquet, and build it again from them, by its type hints alone.

A result has arrays, numbers, texts, tuples, mappings from texts, and further dataclasses, at any depth. A field with
``metadata=APART`` is not part of the tables.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, TypeVar, get_args, get_origin, get_type_hints

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Result = TypeVar("Result")
# The table of everything that is no tuple of dataclasses; its only row is the result.
REST = "result"
APART: Mapping[str, bool] = {"apart": True}
# Numbers that are kept in single precision, because they take most of the room.
Single = Annotated[NDArray[np.float64], np.float32]
_ARROW = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}


def to_tables(result: Any) -> dict[str, pa.Table]:
    """Return a table for each field that is a tuple of dataclasses, with a row for each, and one for all other fields.

    Raises TypeError for a field of another kind.
    """
    hints, rows = _hints(type(result)), _row_types(type(result))
    tables = {
        name: pa.Table.from_pylist(_plain(getattr(result, name), hints[name]), pa.schema(list(_arrow(row))))
        for name, row in rows.items()
    }
    rest = {name: hint for name, hint in hints.items() if name not in rows}
    schema = pa.schema([(name, _arrow(hint)) for name, hint in rest.items()])
    row = {name: _plain(getattr(result, name), hint) for name, hint in rest.items()}
    return tables | {REST: pa.Table.from_pylist([row], schema)}


def from_tables(kind: type[Result], tables: Mapping[str, pa.Table]) -> Result:
    """Return the result of this kind that :func:`to_tables` wrote."""
    hints, rows = _hints(kind), _row_types(kind)
    found = {name: _built(tables[name].to_struct_array(), hints[name]) for name in rows}
    # A table without columns comes back from Parquet without its row.
    (rest,) = tables[REST].to_struct_array() if tables[REST].num_columns else ({},)
    return kind(**found, **{name: _built(rest[name], hint) for name, hint in hints.items() if name not in rows})


def float_columns(schema: pa.Schema) -> tuple[list[str], list[str]]:
    """Return the paths, in Parquet, of the columns of floats, and of all other columns."""
    leaves = [leaf for field in schema for leaf in _leaves(field.name, field.type)]
    floats, others = ([path for path, kind in leaves if pa.types.is_floating(kind) == wanted] for wanted in (1, 0))
    return floats, others


def _leaves(path: str, kind: pa.DataType) -> list[tuple[str, pa.DataType]]:
    if pa.types.is_list(kind):
        return _leaves(f"{path}.list.element", kind.value_type)
    if pa.types.is_struct(kind):
        return [leaf for field in kind for leaf in _leaves(f"{path}.{field.name}", field.type)]
    return [(path, kind)]


def _fields(kind: Any) -> dict[str, Any]:
    """Return the type of each field of a dataclass that belongs to the tables."""
    hints = get_type_hints(kind, include_extras=True)
    return {field.name: hints[field.name] for field in fields(kind) if field.metadata != APART}


_hints: Callable[[Any], dict[str, Any]] = cache(_fields)  # of many rows of one kind


def _row_types(kind: Any) -> dict[str, Any]:
    """Return the fields that are tuples of one kind of dataclass, and this kind."""
    each = {name: get_args(hint) for name, hint in _hints(kind).items() if get_origin(hint) is tuple}
    return {name: args[0] for name, args in each.items() if args[1:] == (...,) and is_dataclass(args[0])}


def _parts(hint: Any) -> dict[str, Any] | None:
    """Return the parts of a dataclass or of a tuple of a fixed length, by name; None for any other type."""
    if is_dataclass(hint):
        return _hints(hint)
    args = get_args(hint)
    if get_origin(hint) is tuple and args[-1] is not ...:
        return {f"_{place}": arg for place, arg in enumerate(args)}
    return None


def _array_types(hint: Any) -> tuple[type, type] | None:
    """Return the kind of numbers that an array has, and the kind in which they are kept; None if it is no array."""
    array, *kept = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if get_origin(array) is not np.ndarray:
        return None
    (number,) = get_args(get_args(array)[1])
    return number, kept[0] if kept else number


def _arrow(hint: Any) -> pa.DataType:
    if hint in _ARROW:
        return _ARROW[hint]
    if numbers := _array_types(hint):
        values = pa.list_(pa.from_numpy_dtype(np.dtype(numbers[1])))
        return pa.struct({"shape": pa.list_(pa.int32()), "values": values})
    if (parts := _parts(hint)) is not None:
        return pa.struct({name: _arrow(part) for name, part in parts.items()})
    if get_origin(hint) is tuple:
        return pa.list_(_arrow(get_args(hint)[0]))
    if get_origin(hint) is Mapping:
        return pa.list_(pa.struct({"key": pa.string(), "value": _arrow(get_args(hint)[1])}))
    raise TypeError(f"{hint} has no place in a table.")


def _plain(value: Any, hint: Any) -> Any:
    """Return a value as pyarrow takes it for the type of :func:`_arrow`."""
    if hint in _ARROW:
        return hint(value)
    if numbers := _array_types(hint):
        return {"shape": value.shape, "values": np.asarray(value, dtype=numbers[1]).reshape(-1)}
    if is_dataclass(hint):
        return {name: _plain(getattr(value, name), part) for name, part in _hints(hint).items()}
    if (parts := _parts(hint)) is not None:
        return {name: _plain(each, part) for each, (name, part) in zip(value, parts.items(), strict=True)}
    if get_origin(hint) is tuple:
        return [_plain(each, get_args(hint)[0]) for each in value]
    return [{"key": key, "value": _plain(each, get_args(hint)[1])} for key, each in value.items()]


def _built(found: Any, hint: Any) -> Any:
    """Return the value that pyarrow has read."""
    if hint in _ARROW:
        return found.as_py()
    if numbers := _array_types(hint):
        values = found["values"].values.to_numpy(zero_copy_only=False).astype(numbers[0])
        return values.reshape(found["shape"].as_py())
    if (parts := _parts(hint)) is not None:
        each = {name: _built(found[name], part) for name, part in parts.items()}
        return hint(**each) if isinstance(hint, type) else tuple(each.values())
    if get_origin(hint) is tuple:
        return tuple(_built(each, get_args(hint)[0]) for each in found)
    return {each["key"].as_py(): _built(each["value"], get_args(hint)[1]) for each in found}
