"""The picture that travels with a question: a figure as an image, which every page of a room shows without a model."""

from __future__ import annotations

import re
from dataclasses import dataclass

MOST_CHARACTERS = 400_000
_SOURCE = re.compile(r"data:image/(svg\+xml|png);base64,[A-Za-z0-9+/]+=*", re.ASCII)


@dataclass(frozen=True)
class QuestionPicture:
    """An image, and its description for readers who cannot see it.

    ``source`` is the image itself as an address, ``data:image/…;base64,…``. Raises ValueError for any other address,
    and for an image that is too large for a class's phones.
    """

    source: str
    alt: str

    def __post_init__(self) -> None:
        if len(self.source) > MOST_CHARACTERS or not _SOURCE.fullmatch(self.source):
            raise ValueError(f"picture: an image of at most {MOST_CHARACTERS:,} characters, written into its address.")
