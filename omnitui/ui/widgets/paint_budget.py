"""How much of a slow line what moves by itself may take: a bucket of bytes that fills at a steady rate."""

import time


class PaintBudget:
    """Shared by all that draws without a key; what a key asks for is drawn at once and costs nothing here."""

    def __init__(self, bytes_s: float, burst: float) -> None:
        self._bytes_s = bytes_s
        self._burst = burst
        self._left = burst
        self._at_s = 0.0

    def ready(self) -> bool:
        """Whether something may be drawn now."""
        return self._filled() > 0

    def spend(self, cost: int) -> None:
        """Note what was drawn, in bytes; a large picture is paid off before the next."""
        self._left = self._filled() - cost

    def _filled(self) -> float:
        now_s = time.monotonic()
        self._left = min(self._burst, self._left + (now_s - self._at_s) * self._bytes_s)
        self._at_s = now_s
        return self._left
