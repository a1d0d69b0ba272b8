"""Reading a record: a TOML file, checked by pydantic against the dataclass that it fills."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, ConfigDict, StrictStr, TypeAdapter, ValidationError

from lab.analysis.heads.metrics import METRICS
from lab.course.words import in_words, quoted

# The numbers of things that a record may name: {metrics} becomes "six", {Metrics} "Six".
_COUNTED = {"metrics": len(METRICS)}
_SHOWN = 80  # the most characters of a name in a message


def _text(text: str) -> str:
    """Texts may be broken into lines anywhere: white space of any length is one space."""
    for name, count in _COUNTED.items():
        text = text.replace(f"{{{name}}}", in_words(count)).replace(f"{{{name.title()}}}", in_words(count).title())
    return " ".join(text.split())


Text = Annotated[StrictStr, AfterValidator(_text)]
# A dataclass with this configuration refuses the keys that it has no field for: a misspelt key is not overlooked.
KNOWN_KEYS = ConfigDict(extra="forbid")
_KINDS = {
    "string_type": "a text",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "tuple_type": "a list",
    "dataclass_type": "a table",
}
R = TypeVar("R")


def read_toml(path: Path) -> dict[str, Any]:
    """The tables of a file. Raises ValueError, with the file's name, if it is not TOML or does not exist."""
    try:
        return tomllib.loads(path.read_text("utf-8"))
    except FileNotFoundError:
        raise ValueError(f"{_name(path)} is missing.") from None
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{_name(path)}: {error}") from None


def as_record(kind: Callable[..., R], table: Mapping[str, Any], path: Path) -> R:
    """The record of this ``kind`` from a table of the file at ``path``.

    Raises ValueError, which names the file and the key, for a missing or unknown key, and for a value of a wrong kind.
    """
    try:
        read: R = _checker(kind).validate_python(table)
    except ValidationError as error:
        raise ValueError(f"{_name(path)}{_first(error)}") from None
    return read


@cache
def _checker(kind: Any) -> TypeAdapter[Any]:
    return TypeAdapter(kind)


def first_wrong(error: ValidationError) -> str:
    """Say where the first wrong value of somebody's file is, and what is wrong with it, in Markdown."""
    first = error.errors()[0]
    where = " → ".join(quoted(str(each)[:_SHOWN]) for each in first["loc"]) or "the file"
    return f"{where}: {first.get('ctx', {}).get('error', first['msg'])}".removesuffix(".")


def _name(path: Path) -> str:
    return "/".join(path.parts[-4:])


def _first(error: ValidationError) -> str:
    """The first thing that is wrong, as the end of a sentence."""
    first = error.errors()[0]
    *tables, key = first["loc"]
    where = "".join(f" {each + 1}" if isinstance(each, int) else f", [{each}]" for each in tables)
    here = f"{where} {key + 1}" if isinstance(key, int) else f"{where}: {key}"  # a number is a place in a list
    match first["type"]:
        case "missing":
            return f"{where} has no {key}."
        case "unexpected_keyword_argument":
            return f"{where} has {key}, which no code reads."
        case "value_error":
            return f"{here}: {first['ctx']['error']}."
        case kind if kind in _KINDS:
            return f"{here} is {first['input']!r}, not {_KINDS[kind]}."
    return f"{here}: {first['msg']}."
