"""What a configuration says of a transformer: its sizes, and how its blocks are built."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

#: "gated": RMS norms, a gated feed-forward of three matrices, no biases unless named.
#: "classic": layer norms and biases everywhere, a feed-forward of two matrices, dropout.
Style = Literal["gated", "classic"]


@dataclass(frozen=True)
class Attention:
    """Attention of a query heads on k heads of keys and values, of d elements each.

    Attributes
    ----------
    heads, kv_heads, head_dim : int
    bias : bool
        True if the three projections of the input have biases.
    output_bias : bool
        True if the projection of the output has one.
    """

    heads: int
    kv_heads: int
    head_dim: int
    bias: bool = False
    output_bias: bool = False


@dataclass(frozen=True)
class LatentAttention:
    """Attention whose keys and values are expanded from a latent vector (MLA of DeepSeek).

    Attributes
    ----------
    heads : int
    query_rank : int, optional
        Elements of the latent query; None: queries are projected directly.
    kv_rank : int
        Elements of the latent vector of keys and values.
    nope_dim, rope_dim, value_dim : int
        Elements of a head: of its key without and with positions, and of its value.
    """

    heads: int
    query_rank: int | None
    kv_rank: int
    nope_dim: int
    rope_dim: int
    value_dim: int


@dataclass(frozen=True)
class Experts:
    """The experts of a block: `count` of them, `per_token` chosen, `shared` ones for all tokens.

    Attributes
    ----------
    count, per_token, shared, inner : int
        `inner` is the width of one expert's feed-forward.
    correction_bias : bool
        True if the router has a bias for each expert.
    """

    count: int
    per_token: int
    shared: int
    inner: int
    correction_bias: bool = False


@dataclass(frozen=True)
class Image:
    """What a vision transformer looks at: a square image of channels, cut into patches."""

    size: int
    patch: int
    channels: int

    @property
    def patches(self) -> int:
        """Number of patches."""
        return (self.size // self.patch) ** 2

    @property
    def patch_elements(self) -> int:
        """Elements of one patch."""
        return self.channels * self.patch**2


@dataclass(frozen=True)
class Transformer:
    """A transformer.

    Attributes
    ----------
    family : str
        `model_type` of its configuration.
    style : "gated" or "classic"
    hidden, blocks : int
        h, and the number of blocks.
    attention : Attention or LatentAttention
    inner : int
        Width I of a dense feed-forward.
    experts : Experts, optional
        Of the blocks for which `is_moe` is true.
    first_moe_block, moe_every : int
        Blocks before the first are dense; after it one in so many has experts.
    vocabulary : int
        0 for images.
    tied : bool
        True if the head's matrix is the embedding's.
    learned_positions : int
        Rows of the table of positions, 0 if there is none.
    segments : int
        Rows of the table of segment types, 0 if there is none.
    image : Image, optional
    labels : int
        Classes of the head of a vision transformer.
    pooler : bool
        True if the head is a pooler, h x h on the first token, as of BERT.
    inner_bias : bool
        True if a gated feed-forward has biases.
    longest : int, optional
        Longest sequence that the configuration names.
    notes : tuple of str
        What the configuration says and these numbers leave out.
    """

    family: str
    style: Style
    hidden: int
    blocks: int
    attention: Attention | LatentAttention
    inner: int
    experts: Experts | None = None
    first_moe_block: int = 0
    moe_every: int = 1
    vocabulary: int = 0
    tied: bool = False
    learned_positions: int = 0
    segments: int = 0
    image: Image | None = None
    labels: int = 0
    pooler: bool = False
    inner_bias: bool = False
    longest: int | None = None
    notes: tuple[str, ...] = ()

    def is_moe(self, block: int) -> bool:
        """Return whether a block has experts."""
        later = self.experts is not None and block >= self.first_moe_block
        return later and block % self.moe_every == 0

    @property
    def fixed_sequence(self) -> int | None:
        """Tokens of an image, with the class token; None where the sequence is free."""
        return None if self.image is None else self.image.patches + 1
