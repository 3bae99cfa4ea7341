"""GPT-2 by its sizes, for what a step of training moves and what memory it fills.

The sizes are those of the published models, the parameters in the order of llm.c's files
(github.com/karpathy/llm.c, ``train_gpt2.c``)."""

from __future__ import annotations

from dataclasses import dataclass

POSITIONS = 1024
PADDED = 50_304  #: rows for a vocabulary of 50,257, a multiple of 128


@dataclass(frozen=True)
class Transformer:
    """A GPT-2: layers, channels and heads; its positions, and the rows of its vocabulary."""

    layers: int
    channels: int
    heads: int
    positions: int = POSITIONS
    vocabulary: int = PADDED

    @property
    def parameters(self) -> int:
        """The number of all parameters; the last product shares its matrix with the first."""
        c = self.channels
        embeddings = (self.vocabulary + self.positions) * c
        return embeddings + self.layers * (12 * c * c + 13 * c) + 2 * c

    @property
    def product_flops(self) -> int:
        """FLOP of all products of a forward pass for one token, without attention's."""
        c = self.channels
        return 2 * (12 * c * c * self.layers + self.vocabulary * c)

    def step_flops(self, tokens: int) -> int:
        """Return the FLOP of products and attention in a step: forward once, backward twice.

        Of attention half the pairs count, and what a kernel computes again does not."""
        attention = 2 * self.positions * self.channels * self.layers
        return 3 * tokens * (self.product_flops + attention)


GPT2 = {
    "124M": Transformer(12, 768, 12),
    "350M": Transformer(24, 1024, 16),
    "774M": Transformer(36, 1280, 20),
    "1558M": Transformer(48, 1600, 25),
}
