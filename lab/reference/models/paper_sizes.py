"""The sizes of the models of the papers, from their published configurations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class PublishedSize:
    """The numbers in a ``config.json`` that decide a model's size; see :attr:`parameters`."""

    id: str
    layers: int
    width: int
    heads: int
    ffn_width: int
    vocabulary: int
    max_tokens: int
    segments: int = 2
    causal: bool = False  # GPT-2 has a last LayerNorm, but neither segments nor a pooler

    @property
    def parameters(self) -> int:
        """The number of trained values, without a head for words, which uses the embeddings transposed.

        BERT has a pooler, that is, a layer for [CLS]. Each matrix has a bias, each LayerNorm two vectors.
        """
        d, norm = self.width, 2 * self.width
        embeddings = (self.vocabulary + self.max_tokens + (0 if self.causal else self.segments)) * d
        layer = 4 * (d * d + d) + 2 * d * self.ffn_width + self.ffn_width + d + 2 * norm
        rest = norm if self.causal else norm + d * d + d
        return embeddings + self.layers * layer + rest


PUBLISHED = (
    PublishedSize("bert-base-uncased", 12, 768, 12, 3072, 30_522, 512),
    PublishedSize("bert-large-uncased", 24, 1024, 16, 4096, 30_522, 512),
    PublishedSize("bert-base-multilingual-uncased", 12, 768, 12, 3072, 105_879, 512),
    PublishedSize("gpt2", 12, 768, 12, 3072, 50_257, 1024, causal=True),
)
