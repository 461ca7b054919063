"""Samples as lines: the table, and one of them with its errors in place and its sound. Pure."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from rich.cells import cell_len

from omnitui.results.alignment import Aligned, Piece
from omnitui.results.samples import Sample
from omnitui.results.table import number
from omnitui.results.waveform import Waveform
from omnitui.sanitise import plain
from omnitui.ui.browsing.columns import Column, row
from omnitui.ui.plots import plot
from omnitui.ui.signs import Tone
from omnitui.ui.widgets.rows import Cell, Row

COLUMNS = (
    Column("sign", "", 3, sorts=False),
    Column("rate", "WER", 8, right=True),
    Column("id", " id", 28),
    Column("latency_s", "latency s", 12, right=True, rank=2),
    Column("tokens", "tokens", 9, right=True, rank=3),
    Column("audio_s", "audio s", 10, right=True, rank=4),
    Column("hypothesis", "  heard", 20, rank=1, sorts=False, grows=True),
)
_OPS: Mapping[str, tuple[str, Tone]] = {
    "equal": ("", ""),
    "substitute": ("S", "red"),
    "delete": ("D", "warn"),
    "insert": ("I", "blue"),
}


class Order(Struct, frozen=True):
    """Which samples, in which order; those without the figure come last either way."""

    text: str = ""
    key: str = "rate"
    descending: bool = True


def ordered(samples: Sequence[Sample], order: Order) -> tuple[Sample, ...]:
    """The samples with a text anywhere, in order."""
    wanted = order.text.casefold()
    kept = [
        one
        for one in samples
        if not wanted or wanted in f"{one.id}\n{one.reference}\n{one.hypothesis}\n{one.failed}".casefold()
    ]
    if order.key == "id":
        return tuple(sorted(kept, key=lambda one: one.id, reverse=order.descending))
    sign = -1.0 if order.descending else 1.0

    def place(one: Sample) -> tuple[bool, float, str]:
        value = getattr(one, order.key)
        return value is None, sign * value if value is not None else 0.0, one.id

    return tuple(sorted(kept, key=place))


def sample_row(one: Sample, shown: Sequence[Column]) -> Row:
    """One sample; a failed one has no figures, and says so."""
    bad = one.rate is not None and one.rate > 0
    sign = "✘" if one.failed else "!" if bad else "✔" if one.rate is not None else "·"
    tone: Tone = "red" if one.failed else "warn" if bad else "green" if one.rate is not None else "muted"
    heard = one.hypothesis or ("(nothing)" if one.rate is not None else one.reference)
    texts = {
        "sign": sign,
        "rate": "–" if one.rate is None else f"{one.rate:.3f}",
        "id": f" {one.id}",
        "latency_s": number(one.latency_s),
        "tokens": number(one.tokens),
        "audio_s": number(one.audio_s),
        "hypothesis": f"  failed: {one.failed}" if one.failed else f"  {heard}",
    }
    tones: dict[str, Tone] = {"sign": tone, "hypothesis": "red" if one.failed else "muted"}
    return row(one.id, shown, texts, tones)


def aligned_rows(found: Aligned, width: int) -> Iterator[Row]:
    """Reference above hypothesis, each piece below the other, and below them what is wrong with it."""
    errors = sum(piece.op != "equal" for piece in found.pieces)
    rate = "no reference" if found.rate is None else f"{found.rate:.4g}"
    only = "the beginning only: " if found.cut else ""
    told = f"{only}{errors} errors in {len(found.pieces)} {found.unit}, as written: {rate}"
    yield Row("", (Cell(told, "strong"), Cell("  S other · D missing · I too much", "muted")))
    gap = 1 if found.unit == "words" else 0
    for line in _wrapped(found.pieces, max(8, width - 6), gap):
        ref, hyp, what = [Cell("ref  ", "muted")], [Cell("hyp  ", "muted")], [Cell("     ")]
        for piece in line:
            wide = _wide(piece)
            letter, tone = _OPS[piece.op]
            ref.append(Cell(piece.reference or "·" * wide, tone, wide + gap))
            hyp.append(Cell(piece.hypothesis or "·" * wide, tone, wide + gap))
            what.append(Cell(letter, tone, wide + gap))
        yield from (Row("", tuple(ref)), Row("", tuple(hyp)))
        if any(piece.op != "equal" for piece in line):
            yield Row("", tuple(what))


def _wide(piece: Piece) -> int:
    return max(1, cell_len(plain(piece.reference)), cell_len(plain(piece.hypothesis)))


def _wrapped(pieces: Sequence[Piece], width: int, gap: int) -> Iterator[list[Piece]]:
    line: list[Piece] = []
    used = 0
    for piece in pieces:
        wide = _wide(piece) + gap
        if line and used + wide > width:
            yield line
            line, used = [], 0
        line.append(piece)
        used += wide
    if line:
        yield line


def sound_rows(one: Sample, found: Waveform | None) -> Iterator[Row]:
    """Its sound, and where it lies."""
    if not one.wav:
        return
    if not one.there:
        yield Row("", (Cell("◌ ", "warn"), Cell(one.wav, "muted"), Cell("  is not on this machine", "warn")))
        return
    yield Row("", (Cell(one.wav, "muted"),))
    if found is None:
        return
    if found.error:
        yield Row("", (Cell(f"✘ {found.error}", "red"),))
        return
    most = max(found.peaks)
    if most == 0:
        yield Row("", (Cell(f"! silent for {found.seconds:.2f} s", "warn"),))
        return
    yield from (Row("", line) for line in plot(found.peaks, 1.0, 2, tone="blue"))
    yield Row("", (Cell(f"{found.seconds:.2f} s at {found.rate} Hz, loudest {most:.2f}", "muted"),))


def field_rows(one: Sample) -> Iterator[Row]:
    """Everything else that the files tell of it."""
    if one.failed:
        yield Row("", (Cell(f"✘ {one.failed}", "red"),))
    width = max(map(len, one.fields), default=0) + 2
    for name, value in one.fields.items():
        yield Row("", (Cell(name, "muted", width), Cell(value)))
