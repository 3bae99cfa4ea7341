"""A transformer as numbers: parameters, FLOP, and the bytes that its passes keep and move.

Counts are by layer and token, in 16-bit activations. Bytes that are kept for the backward pass
follow Korthikanti et al. 2022 (arXiv 2205.05198): 34 C + 5 a T for a layer of GPT with C wide and a
heads over T tokens, of which attention that stores no scores leaves out the second part. Bytes that
elementwise kernels move are counted by hand, each array read or written once by each kernel."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class LargeModel:
    """``hidden``: the inner width of one MLP. ``gated``: three matrices in it, as in Llama.

    ``experts``: MLPs of a layer, of which a token takes ``active``. ``flash``: scores stay on the
    chip, and masked ones are not computed; else they are stored, and computed whole. ``dropout``:
    keeps masks."""

    name: str
    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    vocabulary: int
    tokens: int  #: of a sequence
    gated: bool = False
    experts: int = 1
    active: int = 1
    flash: bool = True
    dropout: bool = False
    tied: bool = False  #: the head shares the embedding's weights

    @property
    def attention_parameters(self) -> int:
        """Of a layer: queries and outputs, keys and values."""
        return 2 * self.width**2 + 2 * self.width * self.kv_width

    @property
    def mlp_parameters(self) -> int:
        """Of one expert of a layer."""
        return (3 if self.gated else 2) * self.width * self.hidden

    @property
    def kv_width(self) -> int:
        return self.width * self.kv_heads // self.heads

    @property
    def embedding_parameters(self) -> int:
        return (1 if self.tied else 2) * self.vocabulary * self.width

    @property
    def parameters(self) -> int:
        """All of its matrices; vectors are left out."""
        layer = self.attention_parameters + self.experts * self.mlp_parameters
        return self.layers * layer + self.embedding_parameters

    @property
    def product_flops(self) -> int:
        """Forward FLOP of a layer's matrices for a token."""
        return 2 * (self.attention_parameters + self.active * self.mlp_parameters)

    @property
    def score_flops(self) -> float:
        """Forward FLOP of a layer's attention for a token; half of it is masked."""
        return 4 * self.tokens * self.width / (2 if self.flash else 1)

    @property
    def head_flops(self) -> int:
        """Forward FLOP of the product with the vocabulary for a token."""
        return 2 * self.vocabulary * self.width

    @property
    def flops_per_token(self) -> float:
        """FLOP of a step for a token, a backward pass counted twice: what MFU counts."""
        layer = self.product_flops + self.score_flops
        return 3 * (self.layers * layer + self.head_flops)

    @property
    def score_bytes(self) -> float:
        """Bytes of a layer's scores that a forward pass moves for a token, if it stores them.

        Written by the product, through softmax and dropout, each read and written, with a mask of
        a byte, and read by the next product."""
        return 0.0 if self.flash else (12 + self.dropout) * self.heads * self.tokens

    @property
    def inner_bytes(self) -> float:
        """Bytes that the MLP's activation moves forward, of a token in a layer."""
        return (6 if self.gated else 4) * self.hidden * self.active

    @property
    def outer_bytes(self) -> float:
        """Bytes that two norms and two residual additions move forward, of a token in a layer."""
        return (2 * 4 + 2 * 6 + 2 * self.dropout) * self.width

    @property
    def outer_kept(self) -> float:
        """Bytes kept of norms and masks, of a token in a layer: 10 C with dropout."""
        return (8 + 2 * self.dropout) * self.width

    @property
    def inner_kept(self) -> float:
        """Bytes kept within attention and MLP, of a token in a layer: 24 C for GPT."""
        attention = 4 * self.width + 4 * self.kv_width
        return attention + (6 if self.gated else 4) * self.hidden * self.active

    @property
    def scores_kept(self) -> float:
        """Bytes of scores kept, of a token in a layer: 5 a T, of which flash keeps nothing."""
        return 0.0 if self.flash else (4 + self.dropout) * self.heads * self.tokens


def gpt(name: str, layers: int, width: int, heads: int) -> LargeModel:
    """Return a GPT as Megatron's papers had it: 2,048 tokens, stored scores, dropout."""
    return LargeModel(
        name, layers, width, heads, heads, 4 * width, 51_200, 2048, flash=False, dropout=True,
        tied=True,
    )  # fmt: skip


LLAMA_70B = LargeModel("Llama 3 70B", 80, 8192, 64, 8, 28_672, 128_256, 8192, gated=True)
LLAMA_405B = LargeModel("Llama 3 405B", 126, 16_384, 128, 8, 53_248, 128_256, 8192, gated=True)
