"""The values of a metric as a small inline SVG: one row of dots a group, its mean, and the noise floor as a band.

Own code, because it is a page long; a plotting library would be megabytes for dots on a line.
"""

import sys
from collections.abc import Sequence

from omnitui.results.statistics import Row
from omnitui.results.table import number
from omnitui.results.telling.markup import safe

_WIDTH, _LEFT, _ROW, _TOP = 460, 90, 22, 14
_MOST = sys.float_info.max


def strip(groups: Sequence[tuple[str, Row]], unit: str, floor: float | None = None) -> str:
    """Groups of values, each with its name, and with its mean if it has one; `floor` around that of the first."""
    values = [value for _, group in groups for value in group.values]
    if not values:
        return ""
    low, high = min(values), max(values)
    base = groups[0][1].mean
    if floor is not None and base is not None:
        low, high = min(low, base - floor), max(high, base + floor)
    # One value, or many alike, stand in the middle.
    span = (high - low) or abs(high) or 1.0
    low, high = max(low - 0.05 * span, -_MOST), min(high + 0.05 * span, _MOST)

    def x(value: float) -> float:
        # By halves: the whole difference may be no float.
        whole, part = high / 2 - low / 2, max(low, min(high, value)) / 2 - low / 2
        return _LEFT + (part / whole if whole else 0.5) * (_WIDTH - _LEFT - 12)

    height = _TOP + _ROW * len(groups) + 18
    parts = [f'<svg viewBox="0 0 {_WIDTH} {height}" width="{_WIDTH}" height="{height}" role="img">']
    told = "; ".join(f"{name}: {', '.join(map(number, group.values))}" for name, group in groups)
    parts.append(f"<title>{safe(told)} {safe(unit)}</title>")
    if floor is not None and base is not None:
        left, wide = x(base - floor), x(base + floor) - x(base - floor)
        parts.append(f'<rect class="floor" x="{left:.1f}" y="4" width="{wide:.1f}" height="{height - 22}"/>')
    for index, (name, group) in enumerate(groups):
        y = _TOP + _ROW * index + 4
        parts.append(f'<text x="0" y="{y + 4}">{safe(name[:14])}</text>')
        parts.append(f'<line class="axis" x1="{_LEFT}" y1="{y}" x2="{_WIDTH - 6}" y2="{y}"/>')
        if group.mean is not None:
            mean = x(group.mean)
            parts.append(f'<line class="mean" x1="{mean:.1f}" y1="{y - 8}" x2="{mean:.1f}" y2="{y + 8}"/>')
        parts += [f'<circle class="g{index % 4}" cx="{x(value):.1f}" cy="{y}" r="4"/>' for value in group.values]
    bottom = height - 4
    parts.append(f'<text x="{_LEFT}" y="{bottom}">{number(low)}</text>')
    parts.append(f'<text x="{_WIDTH - 6}" y="{bottom}" text-anchor="end">{number(high)} {safe(unit)}</text>')
    return "".join([*parts, "</svg>"])
