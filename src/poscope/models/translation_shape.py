"""The sizes of a translation network."""

from dataclasses import dataclass


@dataclass(frozen=True)
class TranslationShape:
    """The sizes of an encoder and a decoder (Vaswani et al. 2017, §3).

    Attributes:
        vocabulary_size: token numbers of both languages, special ones included.
        source_positions: rows of the encoder's position table.
        target_positions: rows of the decoder's position table.
        dim: width of words, positions and layers; a multiple of `heads`.
        layers: of the encoder, and of the decoder.
        heads: of attention.
        feed_forward: width between the two linear maps of a layer.
        dropout: probability, after the embeddings and at the end of each sublayer (§5.4).
        padding: number of the padding token.
        start: number of the token that the decoder reads first.
        end: number of the token that ends a sentence.
        scale_embedding: whether words are multiplied by √dim before positions are added (§3.4).
        shared_embeddings: whether source words have the vectors of target words.
    """

    vocabulary_size: int
    source_positions: int
    target_positions: int
    dim: int
    layers: int
    heads: int
    feed_forward: int
    dropout: float
    padding: int
    start: int
    end: int
    scale_embedding: bool
    shared_embeddings: bool = False

    def __post_init__(self) -> None:
        """Refuse what no network can be made of.

        Raises:
            ValueError: a width that heads do not divide, or special tokens that are alike or no tokens.
        """
        if self.dim % self.heads:
            raise ValueError(f"dim {self.dim} is no multiple of heads {self.heads}")
        special = (self.padding, self.start, self.end)
        if len(set(special)) < len(special):
            raise ValueError(f"padding, start and end are three tokens, and not {special}")
        if not all(0 <= each < self.vocabulary_size for each in special):
            raise ValueError(
                f"padding, start and end are numbers below {self.vocabulary_size}, and not {special}"
            )
