"""Recall against cost and against latency, one mark per strategy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.plots.drawing import (
    AXIS_LABELS,
    MEASURES,
    UNITS,
    dress,
    interval_level,
    look,
    new_axes,
    notes,
    stacked,
    values_of,
    wrapped,
)
from ctxlab.plots.labels import Spot, label_marks
from ctxlab.schemas import HEADLINE_COLUMNS, headline_columns

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

_RADIUS_PT, _RING_PT = 4.2, 2.2


@dataclass(frozen=True, slots=True, kw_only=True)
class _Point:
    """One strategy in the figure; x or recall null means that it cannot be drawn."""

    place: int
    strategy: str
    x: float | None
    recall: float | None
    low: float | None
    high: float | None
    rows: int
    outcome: str


def plot_recall_cost(metrics: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Recall with its interval against cost, one mark per strategy of a `metrics` frame (GEN-057).

    The x axis is cost, or sent tokens where cost is unknown, or request size where nothing was sent; recall is
    answer recall, or context recall where no model answered. Both axes say which.
    """
    recall, cost = _headline(metrics)
    return _scatter(metrics, recall=recall, x=cost, ax=ax)


def plot_recall_latency(metrics: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Recall with its interval against the median seconds of a row, one mark per strategy (GEN-057)."""
    recall, _ = _headline(metrics)
    return _scatter(metrics, recall=recall, x="duration_p50_s", ax=ax)


def describe_recall_cost(metrics: pd.DataFrame) -> str:
    """The figure of `plot_recall_cost` in words, one sentence per strategy, for use as alternative text."""
    recall, cost = _headline(metrics)
    return _describe(metrics, recall=recall, x=cost)


def describe_recall_latency(metrics: pd.DataFrame) -> str:
    """The figure of `plot_recall_latency` in words."""
    recall, _ = _headline(metrics)
    return _describe(metrics, recall=recall, x="duration_p50_s")


def _headline(metrics: pd.DataFrame) -> tuple[str, str]:
    missing = [name for name in ("strategy", *HEADLINE_COLUMNS) if name not in metrics.columns]
    if missing:
        raise InputError(f"metrics: expected a metrics frame; missing columns are {', '.join(missing)}")
    if metrics["strategy"].duplicated().any():
        raise InputError("metrics: expected one row per strategy; choose one group of a frame made with `by`")
    return headline_columns({name: values_of(metrics, name) for name in HEADLINE_COLUMNS})


def _points(metrics: pd.DataFrame, *, recall: str, x: str) -> list[_Point]:
    columns = {
        name: values_of(metrics, name)
        for name in (
            "strategy", x, recall, f"{recall}_low", f"{recall}_high", f"{recall}_rows", "rows", "refused", "errors",
        )
    }  # fmt: skip
    return [
        _Point(
            place=i,
            strategy=columns["strategy"][i],
            x=columns[x][i],
            recall=columns[recall][i],
            low=columns[f"{recall}_low"][i],
            high=columns[f"{recall}_high"][i],
            rows=columns[f"{recall}_rows"][i],
            outcome=f"{columns['refused'][i]} refused, {columns['errors'][i]} in error of {columns['rows'][i]} rows",
        )
        for i in range(len(metrics))
    ]


def _scatter(metrics: pd.DataFrame, *, recall: str, x: str, ax: Axes | None) -> Axes:
    axes = new_axes() if ax is None else ax
    points = _points(metrics, recall=recall, x=x)
    shared = _shared_spots(points)
    for group in shared:
        for covering, point in enumerate(reversed(group)):
            _mark(axes, point, radius_pt=_RADIUS_PT + _RING_PT * covering)
    spots = [_spot(group) for group in shared]
    right = max((spot.x for spot in spots), default=0) or 1
    axes.set_xlim(-0.03 * right, 1.12 * right)
    axes.set_ylim(-0.07, 1.09)
    axes.set_xlabel(AXIS_LABELS[x])
    axes.set_ylabel(stacked(AXIS_LABELS[recall]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    dress(axes, metrics, f"{MEASURES[recall]} against {MEASURES[x]}, by strategy")
    hidden = _hidden_notes(points, recall=recall, x=x)
    notes(axes, metrics, [*_bars_note(metrics, points), *hidden])
    if not spots:
        axes.text(0.5, 0.5, "nothing to show", transform=axes.transAxes, ha="center", fontsize=12)
    label_marks(axes, spots)
    return axes


def _shared_spots(points: list[_Point]) -> list[list[_Point]]:
    """The strategies that have a mark, those on one spot together."""
    sharing: dict[tuple[float, float], list[_Point]] = {}
    for point in points:
        if point.x is not None and point.recall is not None:
            sharing.setdefault((point.x, point.recall), []).append(point)
    return list(sharing.values())


def _spot(group: list[_Point]) -> Spot:
    """Where the marks of a group stand, with one name per line."""
    return Spot(
        x=float(group[0].x or 0),
        y=float(group[0].recall or 0),
        low=min((point.low for point in group if point.low is not None), default=None),
        high=max((point.high for point in group if point.high is not None), default=None),
        radius_pt=_RADIUS_PT + _RING_PT * (len(group) - 1),
        text="\n".join(wrapped(point.strategy) for point in group),
    )


def _mark(axes: Axes, point: _Point, *, radius_pt: float) -> None:
    """A mark and its interval; what lies under others on its spot is larger and drawn first, so that all show."""
    colour, shape = look(point.place)
    x, recall = float(point.x or 0), float(point.recall or 0)
    if point.low is not None and point.high is not None:
        axes.plot(
            [x, x],
            [point.low, point.high],
            marker="_",
            markersize=8,
            markeredgewidth=1.6,
            color=colour,
            linewidth=1.6,
            zorder=2,
        )
    axes.plot(
        [x],
        [recall],
        marker=shape,
        color=colour,
        markersize=2 * radius_pt,
        markeredgecolor="white",
        markeredgewidth=0.9,
        linestyle="none",
        zorder=4 - radius_pt / 100,
        clip_on=False,
    )


def _bars_note(metrics: pd.DataFrame, points: list[_Point]) -> list[str]:
    rows = sorted({point.rows for point in points if point.recall is not None})
    if not rows:
        return []
    sample = f"n = {' to '.join(f'{n:,}' for n in dict.fromkeys((rows[0], rows[-1])))} rows per strategy"
    if any(point.low is not None for point in points):
        return [f"{sample}; bars: {interval_level(metrics)} bootstrap interval of the mean over cases"]
    return [f"{sample}; no intervals: fewer than 2 cases"]


def _hidden_notes(points: list[_Point], *, recall: str, x: str) -> list[str]:
    """Which strategies have no mark, and why: failures and refusals are never dropped in silence."""
    return [
        f"not shown: {point.strategy} (no {MEASURES[recall if point.recall is None else x]}; {point.outcome})"
        for point in points
        if point.x is None or point.recall is None
    ]


def _describe(metrics: pd.DataFrame, *, recall: str, x: str) -> str:
    points = _points(metrics, recall=recall, x=x)
    first = f"Scatter plot of {MEASURES[recall]} against {MEASURES[x]} for {len(points)} strategies."
    return " ".join([first, *(_sentence(metrics, point, recall=recall, x=x) for point in points)])


def _sentence(metrics: pd.DataFrame, point: _Point, *, recall: str, x: str) -> str:
    if point.recall is None:
        return f"{point.strategy}: no {MEASURES[recall]}, {point.outcome}."
    interval = "no interval"
    if point.low is not None and point.high is not None:
        interval = f"{interval_level(metrics)} interval {point.low:.2f} to {point.high:.2f}"
    at = f"unknown {MEASURES[x]}" if point.x is None else f"{point.x:,.6g} {UNITS[x]}"
    return f"{point.strategy}: {MEASURES[recall]} {point.recall:.2f} ({interval}, {point.rows} rows) at {at}."
