"""A corpus folder small enough to train on in a test."""

from __future__ import annotations

import lzma
from pathlib import Path

from training.corpus import SOURCES

_SUBJECTS = ("The king", "A small dog", "My mother", "The old teacher", "Her brother")
_DEEDS = ("opened the door", "ran to the river", "read a long book", "sang a quiet song", "slept under a tree")


def write_corpora(folder: Path) -> Path:
    """Sixty documents of five sentences for every source."""
    folder.mkdir(exist_ok=True)
    for number, source in enumerate(SOURCES):
        texts = []
        for document in range(60):
            sentences = [
                f"{_SUBJECTS[(document + i) % 5]} {_DEEDS[(document * 3 + i * i + number) % 5]} "
                f"on day {document} of {i}."
                for i in range(5)
            ]
            texts.append(" ".join(sentences[:3]) + "\n" + " ".join(sentences[3:]))
        with lzma.open(folder / f"{source.name}.txt.xz", "wt", encoding="utf-8") as file:
            file.write("\n\n".join(texts))
    return folder
