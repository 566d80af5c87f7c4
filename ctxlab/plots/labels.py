"""Labels beside their marks: placed one after another where they hide neither a mark nor another label."""

from __future__ import annotations

from dataclasses import dataclass
from math import hypot
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from matplotlib.axes import Axes

Box = tuple[float, float, float, float]
"""Left, bottom, right, top in pixels."""
Point = tuple[float, float]

_RINGS_PT = (3, 14, 28, 45, 64, 86, 110)
_CROSSING = 80  # pixels that a point of a leader in a label counts for
_STRIKING = 8  # and one in a mark or bar
_DIRECTIONS = ((1, 0), (0.8, 0.8), (0.8, -0.8), (0, 1), (0, -1), (-0.8, 0.8), (-0.8, -0.8), (-1, 0))


@dataclass(frozen=True, slots=True, kw_only=True)
class Spot:
    """A mark in data coordinates, the interval drawn through it, and the text that belongs to it."""

    x: float
    y: float
    radius_pt: float
    low: float | None
    high: float | None
    text: str


def label_marks(axes: Axes, spots: Sequence[Spot], *, size_pt: float = 9.5) -> None:
    """Write each spot's text next to it, with a thin leader where it had to move away.

    Limits and layout of the axes have to be final: places are found in pixels.
    """
    figure = axes.get_figure(root=True)
    if figure is None:
        return
    figure.draw_without_rendering()
    scale = figure.dpi / 72
    centres = [_pixels(axes, spot.x, spot.y) for spot in spots]
    page = _Page(axes, [(x, y, s.radius_pt * scale) for (x, y), s in zip(centres, spots, strict=True)], spots)
    for spot, (x, y) in zip(spots, centres, strict=True):
        width, height = _size(axes, spot.text, size_pt)
        rings = [(spot.radius_pt + ring) * scale for ring in _RINGS_PT]
        moves = [(dx * ring, dy * ring) for ring in rings for dx, dy in _DIRECTIONS]
        places = [
            _Place(
                box=_box(x + dx, y + dy, dx, dy, width, height),
                leader=() if hypot(dx, dy) <= 1.2 * rings[0] else _between((x, y), (x + dx, y + dy)),
            )
            for dx, dy in moves
        ]
        best = min(places, key=page.trouble)  # of equals the first, which is the nearest
        page.take(best)
        _write(axes, spot, best, size_pt=size_pt)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a label could stand, and the points of the leader that it would need there."""

    box: Box
    leader: tuple[Point, ...]


class _Page:
    """What stands in the axes already."""

    def __init__(
        self, axes: Axes, marks: Sequence[tuple[float, float, float]], spots: Sequence[Spot]
    ) -> None:
        frame = axes.get_window_extent()
        self._inside = (frame.x0 + 2, frame.y0 + 2, frame.x1 - 2, frame.y1 - 2)
        self._marks = [(x - half, y - half, x + half, y + half) for x, y, half in marks]
        self._marks += _bars(axes, spots)
        self._labels: list[Box] = []
        self._leaders: list[Point] = []

    def take(self, place: _Place) -> None:
        """Put a label there."""
        self._labels.append(place.box)
        self._leaders += place.leader

    def trouble(self, place: _Place) -> float:
        """Pixels hidden, cut off or crossed by a leader."""
        box = place.box
        cut_off = (box[2] - box[0]) * (box[3] - box[1]) - _overlap(box, self._inside)
        hidden = sum(_overlap(box, other) for other in (*self._marks, *self._labels))
        crossed = sum(_holds(box, point) for point in self._leaders)
        crossed += sum(_holds(label, point) for label in self._labels for point in place.leader)
        struck = sum(_holds(mark, point) for mark in self._marks for point in place.leader)
        return 10 * cut_off + hidden + _CROSSING * crossed + _STRIKING * struck


def _pixels(axes: Axes, x: float, y: float) -> tuple[float, float]:
    px, py = axes.transData.transform((x, y))
    return float(px), float(py)


def _between(start: Point, end: Point) -> tuple[Point, ...]:
    """Points along a leader, close enough together that none steps over a line of text."""
    steps = [i / 24 for i in range(1, 25)]
    return tuple((start[0] + s * (end[0] - start[0]), start[1] + s * (end[1] - start[1])) for s in steps)


def _bars(axes: Axes, spots: Sequence[Spot]) -> Iterator[Box]:
    for spot in spots:
        if spot.low is not None and spot.high is not None:
            x, low = _pixels(axes, spot.x, spot.low)
            _, high = _pixels(axes, spot.x, spot.high)
            yield x - 2, low, x + 2, high


def _size(axes: Axes, text: str, size_pt: float) -> tuple[float, float]:
    """Width and height of a text in pixels, with a little air."""
    probe = axes.text(0, 0, text, fontsize=size_pt, linespacing=1.15)
    extent = probe.get_window_extent()
    probe.remove()
    return extent.width + 4, extent.height + 3


def _box(x: float, y: float, dx: float, dy: float, width: float, height: float) -> Box:
    """The box of a label that hangs on (x, y) by the side or corner that faces its mark."""
    left = x if dx > 0 else x - width if dx < 0 else x - width / 2
    bottom = y if dy > 0 else y - height if dy < 0 else y - height / 2
    return left, bottom, left + width, bottom + height


def _holds(box: Box, point: Point) -> bool:
    return box[0] < point[0] < box[2] and box[1] < point[1] < box[3]


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    return width * height if width > 0 and height > 0 else 0.0


def _write(axes: Axes, spot: Spot, place: _Place, *, size_pt: float) -> None:
    from matplotlib.patheffects import withStroke

    box = place.box
    centre = axes.transData.inverted().transform(((box[0] + box[2]) / 2, (box[1] + box[3]) / 2))
    note = axes.annotate(
        spot.text,
        xy=(spot.x, spot.y),
        xytext=(float(centre[0]), float(centre[1])),
        ha="center",
        va="center",
        multialignment="left",
        fontsize=size_pt,
        linespacing=1.15,
        zorder=5,
        arrowprops={"arrowstyle": "-", "color": "0.45", "linewidth": 0.8, "shrinkB": 4}
        if place.leader
        else None,
        annotation_clip=False,
        path_effects=[withStroke(linewidth=2.5, foreground="white")],  # legible over bars and leaders
    )
    note.set_in_layout(False)
