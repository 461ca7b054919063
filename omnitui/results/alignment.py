"""Reference and hypothesis aligned, word by word, or character by character where words are not written apart."""

import re
from itertools import zip_longest
from typing import Literal

import msgspec
from msgspec import Struct

Op = Literal["equal", "substitute", "delete", "insert"]
_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_MOST = 4000
"""Words or characters of a side beyond which nobody reads an alignment."""


class Piece(Struct, frozen=True):
    """One word or character of each side; an empty one is missing there."""

    op: Op
    reference: str
    hypothesis: str


class Aligned(Struct, frozen=True):
    """All pieces in order. `rate` counts the errors against the reference; None without a reference.

    `cut`: a side is longer, and only its beginning is here.
    """

    pieces: tuple[Piece, ...]
    unit: Literal["words", "characters"]
    rate: float | None
    cut: bool = False


def align(reference: str, hypothesis: str) -> Aligned:
    """The alignment with the fewest errors, by jiwer."""
    by_character = bool(_CJK.search(reference))
    whole = [_pieces(text, by_character) for text in (reference, hypothesis)]
    cut = max(map(len, whole)) > _MOST
    ref, hyp = (pieces[:_MOST] for pieces in whole)
    unit: Literal["words", "characters"] = "characters" if by_character else "words"
    if not ref or not hyp:
        # jiwer refuses an empty reference: every word is an insertion, and there is no rate.
        pieces = [Piece("delete", one, "") for one in ref] + [Piece("insert", "", one) for one in hyp]
        return Aligned(tuple(pieces), unit, 1.0 if ref else None, cut)
    import jiwer  # noqa: PLC0415 - only whoever looks at a sample needs it

    # Joined by single spaces, so that jiwer's words are our pieces.
    found = jiwer.process_words(" ".join(ref), " ".join(hyp))
    pieces = []
    for chunk in found.alignments[0]:
        left = ref[chunk.ref_start_idx : chunk.ref_end_idx]
        right = hyp[chunk.hyp_start_idx : chunk.hyp_end_idx]
        op = msgspec.convert(chunk.type, Op)
        pieces += [Piece(op, one, other) for one, other in zip_longest(left, right, fillvalue="")]
    return Aligned(tuple(pieces), unit, float(found.wer), cut)


def _pieces(text: str, by_character: bool) -> list[str]:
    return [one for one in text if not one.isspace()] if by_character else text.split()
