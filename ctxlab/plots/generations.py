"""Recall from one generation of a summary to the next."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.generations import GENERATION
from ctxlab.plots.drawing import (
    AXIS_LABELS,
    dress,
    interval_level,
    label_ends,
    look,
    new_axes,
    notes,
    stacked,
    values_of,
    wrapped,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = ("strategy", "context_recall", "context_recall_low", "context_recall_high", "context_recall_rows")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """Recall of one generation; generation null for a strategy that writes no summaries."""

    strategy: str
    generation: int | None
    recall: float | None
    low: float | None
    high: float | None
    rows: int


def plot_generations(metrics: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Context recall with its interval against the generation, one line per strategy.

    Args:
        metrics: from `metrics_frame(by_generation(run))`. Strategies without generations are lines across.
        ax: axes to draw on; default new ones.
    """
    points = _points(metrics)
    chains = _chains(points)
    axes = new_axes() if ax is None else ax
    drawn = [
        _draw_chain(axes, name, chain, place=i, of=len(chains))
        for i, (name, chain) in enumerate(chains.items())
    ]
    others = [point for point in points if point.generation is None and point.recall is not None]
    for point in others:
        axes.axhline(float(point.recall or 0), color="0.45", linestyle=(0, (4, 3)), linewidth=1.1, zorder=1)
        axes.annotate(
            wrapped(point.strategy),
            (0.006, float(point.recall or 0)),
            xycoords=("axes fraction", "data"),
            xytext=(0, 2.5),
            textcoords="offset points",
            fontsize=9.5,
            color="0.3",
        )
    last = max((point.generation or 0 for point in points), default=1)
    axes.set_xticks(range(1, last + 1))
    axes.set_xlim(0.6, last + 0.4)
    axes.set_ylim(-0.05, 1.12)
    label_ends(axes, [end for end in drawn if end])
    axes.set_xlabel("generation of the summary (1 summarises the history, each further one the one before)")
    axes.set_ylabel(stacked(AXIS_LABELS["context_recall"]))
    dress(axes, metrics, "Context recall by generation of the summary")
    notes(axes, metrics, _small_print(metrics, points))
    return axes


def _draw_chain(
    axes: Axes, name: str, chain: list[_Point], *, place: int, of: int
) -> tuple[float, float, str, str] | None:
    """Draw the line of a strategy, and return where it ends, its name and its colour; null without a point."""
    colour, shape = look(place + 1)
    shift = 0.12 * (place - (of - 1) / 2)
    known = [point for point in chain if point.recall is not None]
    x = [float(point.generation or 0) + shift for point in known]
    recalls = [float(point.recall or 0) for point in known]
    axes.plot(
        x, recalls, marker=shape, color=colour, linewidth=1.6, markersize=7, markeredgecolor="white", zorder=3
    )
    for at, point in zip(x, known, strict=True):
        if point.low is not None and point.high is not None:
            axes.plot([at, at], [point.low, point.high], color=colour, linewidth=1.4, marker="_", zorder=2)
    return (x[-1], recalls[-1], name, colour) if known else None


def _small_print(metrics: pd.DataFrame, points: list[_Point]) -> list[str]:
    rows = max((point.rows for point in points), default=0)
    bars = any(point.low is not None for point in points)
    sure = (
        f"bars: {interval_level(metrics)} bootstrap interval of the mean over cases"
        if bars
        else "no intervals: fewer than 2 cases"
    )
    return [f"n = {rows:,} rows per generation; {sure}", "dashed: strategies that write no summary"]


def describe_generations(metrics: pd.DataFrame) -> str:
    """The figure of `plot_generations` in words, for use as alternative text."""
    points = _points(metrics)
    told = [f"Line plot of context recall against the generation of the summary, 1 to {_last(points)}."]
    for name, chain in _chains(points).items():
        values = ", ".join(f"{point.generation}: {_shown(point)}" for point in chain)
        told.append(f"{name}, by generation: {values}.")
    told += [f"{point.strategy}: {_shown(point)}." for point in points if point.generation is None]
    return " ".join(told)


def _last(points: list[_Point]) -> int:
    return max((point.generation or 0 for point in points), default=0)


def _shown(point: _Point) -> str:
    if point.recall is None:
        return "unknown"
    if point.low is None or point.high is None:
        return f"{point.recall:.2f}"
    return f"{point.recall:.2f} ({point.low:.2f} to {point.high:.2f})"


def _points(metrics: pd.DataFrame) -> list[_Point]:
    missing = [name for name in COLUMNS if name not in metrics.columns]
    if missing:
        raise InputError(f"metrics: expected a metrics frame; missing columns are {', '.join(missing)}")
    rows = zip(*(values_of(metrics, name) for name in COLUMNS), strict=True)
    return [_point(*row) for row in rows]


def _point(name: str, recall: float | None, low: float | None, high: float | None, rows: int) -> _Point:
    chain, found, number = name.rpartition(GENERATION)
    return _Point(
        strategy=chain if found else name,
        generation=int(number) if found else None,
        recall=recall,
        low=low,
        high=high,
        rows=rows,
    )


def _chains(points: list[_Point]) -> dict[str, list[_Point]]:
    chains: dict[str, list[_Point]] = {}
    for point in points:
        if point.generation is not None:
            chains.setdefault(point.strategy, []).append(point)
    return chains
