"""What Hugging Face's library makes of a checkpoint folder: the whole configuration, and the tokenizer.

A folder that does not ship with the lab was written by somebody else's program. Its config.json leaves out what has a
default, uses older names, or holds values that the library refuses; its tokenizer_config.json may change what
tokenizer.json says. So both are read by the library. It is imported only for such folders: it takes a second to load.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lab.models.config import CheckpointError

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

    from lab.models.families.family import Family

# A letter of cuneiform, which hardly any vocabulary has, and which no normalizer takes away.
_UNKNOWN = "\U00010380"
# Hugging Face writes 10³⁰ where there is no limit, and takes numbers above this one for none.
NO_LIMIT = 10**20


@dataclass(frozen=True, eq=False)
class LibraryTokenizer:
    """The tokenizer of a folder as AutoTokenizer makes it, with the settings that only AutoTokenizer itself applies.

    segments  whether it numbers the segments of a pair
    limit     the most tokens of a text; a longer text is cut
    from_end  true if a text that is too long keeps its end, false if it keeps its beginning
    named     the special tokens by their roles, such as "mask_token"
    """

    tokenizer: Tokenizer
    segments: bool
    limit: int
    from_end: bool
    named: Mapping[str, str]


@contextmanager
def boundary(what: str, told: type[ValueError] = CheckpointError) -> Iterator[None]:
    """Turn any exception that a library raises in the block into ``told``, with the exception's first line.

    This is the one place where the lab catches every exception of a library (a job catches those of its work). The
    files of a checkpoint are anybody's, and the libraries that read them promise no kind of exception: tokenizers
    raises Exception itself and lets its Rust code panic, transformers raises what the next call happens to raise. Only
    calls of the libraries belong in the block, so that a fault of the lab stays visible.
    """
    try:
        yield
    except told:
        raise
    except BaseException as error:
        # A panic of Rust code is not an Exception. Streamlit's reruns and Ctrl-C are not either, and must pass.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        raise told(f"Hugging Face's library cannot read {what}: {_first_line(error)}") from error


def _first_line(error: BaseException) -> str:
    """Return the first line of an exception's text, and the second line if the first only announces it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    said = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1]) or type(error).__name__
    return said if said.endswith((".", "!", "?")) else f"{said}."


def whole_config(raw: Mapping[str, Any], family: Family, folder: str) -> dict[str, Any]:
    """Return a config.json with every setting of its configuration class, under the names of that class.

    Raises :class:`CheckpointError` for a value that Hugging Face refuses.
    """
    from huggingface_hub.errors import StrictDataclassFieldValidationError

    of = _config_class(family)
    with boundary(f"config.json in {folder}"):
        try:
            config = of.from_dict(copy.deepcopy(dict(raw)))
        except StrictDataclassFieldValidationError as error:
            name = str(error).split("'")[1]  # the error has the name of the field only in its text
            raise CheckpointError(
                f"config.json in {folder} gives {name} as {raw.get(name)!r}, a value that Hugging Face's {of.__name__} "
                "refuses."
            ) from error
        named = {field.name: getattr(config, field.name) for field in fields(config)}
    return {**raw, **named}


def require_module(raw: Mapping[str, Any], family: Family, class_name: str, folder: str) -> None:
    """Raise :class:`CheckpointError` if Hugging Face cannot build its module ``class_name`` for a config.json.

    The module is built without weights. Then the comparison with it cannot fail for a setting that only it reads.
    """
    import torch
    import transformers

    with boundary(f"config.json in {folder}"), torch.device("meta"):
        config = _config_class(family).from_dict(copy.deepcopy(dict(raw)))
        config._attn_implementation = "eager"  # as in the comparison, whatever config.json would like
        getattr(transformers, class_name)(config)


def _config_class(family: Family) -> Any:
    import transformers

    return getattr(transformers, f"{family.classes}Config")


def left_out(raw: Mapping[str, Any], family: Family) -> list[str]:
    """Return the names of the sizes that a config.json has neither under this name nor under another."""
    others = {name: other for other, name in _config_class(family).attribute_map.items()}
    return [name for name in family.sizes if name not in raw and others.get(name) not in raw]


def library_tokenizer(folder: Path, family: Family) -> LibraryTokenizer:
    """Return the tokenizer that AutoTokenizer makes of a folder.

    Raises :class:`CheckpointError` if there is none, or none with a fast form.
    """
    from transformers import AutoTokenizer, PreTrainedTokenizerBase

    with boundary(f"the tokenizer in {folder.name}"):
        # With the configuration given, the library does not look for the class of the model in config.json.
        made: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            folder, config=_config_class(family)(), trust_remote_code=False, local_files_only=True
        )
        fast: Tokenizer | None = getattr(made, "backend_tokenizer", None)
        segments, from_end = "token_type_ids" in made.model_input_names, made.truncation_side == "left"
        named = {role: str(token) for role, token in made.special_tokens_map.items() if role.endswith("_token")}
    if fast is None:
        raise CheckpointError(
            f"the tokenizer in {folder.name} is a {type(made).__name__}, which has no fast form; this lab reads only "
            "tokenizers that have one. Save it with a fast tokenizer's tokenizer.json."
        )
    return LibraryTokenizer(fast, segments, _limit(made.model_max_length, folder.name), from_end, named)


def _limit(given: Any, folder: str) -> int:
    """Return the most tokens of a text. Raises :class:`CheckpointError` if it is not a number that can be counted."""
    if isinstance(given, int | float) and given >= NO_LIMIT:
        return NO_LIMIT
    if not isinstance(given, int) or given < 1:
        raise CheckpointError(
            f"tokenizer_config.json in {folder} gives model_max_length as {given!r}; it must be a whole number from 1."
        )
    return given


def answer(tokenizer: Tokenizer, folder: str) -> Encoding:
    """Return the tokens of a pair of texts with a letter that the tokenizer does not know.

    Raises :class:`CheckpointError` for a tokenizer that has no answer to every text.
    """
    with boundary(f"the tokenizer in {folder}"):
        return tokenizer.encode(f"a {_UNKNOWN}", "a")
