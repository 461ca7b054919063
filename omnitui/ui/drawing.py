"""Fewer bytes over a slow line: of a widget's line, only the cells that changed are sent.

Textual sends a changed line from the left edge of its widget on (`ChopsUpdate.render_segments`): a clock at its
right would cost the whole line each second.
"""

from rich.console import Console, RenderableType
from textual._compositor import ChopsUpdate

_MOVE = "\x1b[{};{}H"


class Tight(ChopsUpdate):
    """An update that begins where the change does."""

    def render_segments(self, console: Console) -> str:
        """What is written to the terminal."""
        written: list[str] = []
        for y, left, right in self.spans:
            for end, (x, strip) in zip(self.chop_ends[y], self.chops[y].items(), strict=False):
                if strip is None or x > right or end <= left:
                    continue
                first, last = max(x, left), min(end, right)
                if last > first:
                    written.append(_MOVE.format(y + 1, first + 1))
                    written.append(strip.crop(first - x, last - x).render(console))
        return "".join(written)


def tight(update: RenderableType | None) -> RenderableType | None:
    """The same update in fewer bytes; one of another kind is left as it is."""
    if type(update) is ChopsUpdate:
        return Tight(update.chops, update.spans, update.chop_ends)
    return update
