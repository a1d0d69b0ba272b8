"""Reading a record: a TOML file whose every key is read, so that a missing or unknown key is named in the error."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any


class Record:
    """One table of a TOML file, read key by key; :meth:`done` refuses the keys that were not read.

    Texts may be broken into lines anywhere: white space of any length is one space.
    """

    def __init__(self, values: Mapping[str, Any], where: str) -> None:
        self._values, self._where, self._read = values, where, set[str]()

    @classmethod
    def of(cls, path: Path) -> Record:
        """Read the file at ``path``. Raises ValueError, with the file's name, if it is not TOML or does not exist."""
        where = "/".join(path.parts[-4:])
        try:
            return cls(tomllib.loads(path.read_text("utf-8")), where)
        except FileNotFoundError:
            raise ValueError(f"{where} is missing.") from None
        except tomllib.TOMLDecodeError as error:
            raise ValueError(f"{where}: {error}") from None

    def text(self, key: str, default: str | None = None) -> str:
        """A text; it is required unless there is a ``default``."""
        return " ".join(self._value(key, str, default).split())

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty if the key is left out."""
        found = self._value(key, list, [])
        if not all(isinstance(each, str) for each in found):
            raise ValueError(f"{self._where}: {key} has something in it that is not a text.")
        return tuple(" ".join(each.split()) for each in found)

    def whole(self, key: str, default: int | None = None) -> int:
        """A whole number."""
        return self._value(key, int, default)

    def flag(self, key: str, default: bool) -> bool:
        """True or false."""
        return self._value(key, bool, default)

    def named_texts(self, key: str) -> dict[str, str]:
        """A table of texts, by their names; empty if the key is left out."""
        table = self.part(key)
        return {} if table is None else {name: table.text(name) for name in table}

    def part(self, key: str) -> Record | None:
        """A table inside this one; None if the key is left out."""
        found = self._value(key, dict, {})
        return Record(found, f"{self._where}, [{key}]") if found else None

    def parts(self, key: str) -> Iterator[Record]:
        """A list of tables."""
        for number, each in enumerate(self._value(key, list, []), start=1):
            yield Record(each, f"{self._where}, [[{key}]] {number}")

    def done(self) -> None:
        """Raise ValueError for the keys that were not read: otherwise a misspelt key would be overlooked."""
        if unknown := [key for key in self._values if key not in self._read]:
            raise ValueError(f"{self._where} has {', '.join(unknown)}. It may have {', '.join(sorted(self._read))}.")

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def _value(self, key: str, kind: type, default: Any) -> Any:
        self._read.add(key)
        if key not in self._values:
            if default is None:
                raise ValueError(f"{self._where} has no {key}.")
            return default
        value = self._values[key]
        if type(value) is not kind:
            raise ValueError(f"{self._where}: {key} is {value!r}, not {_KINDS[kind]}.")
        return value


_KINDS = {str: "a text", list: "a list", int: "a whole number", bool: "true or false", dict: "a table"}
