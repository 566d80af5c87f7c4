"""What strategies keep, against the tokens that they may keep."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.plots.drawing import AXIS_LABELS, dress, label_ends, look, new_axes, notes, stacked, values_of

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

COLUMNS = (
    "set", "strategy", "target", "result_tokens_mean", "context_recall", "context_recall_low", "context_recall_high",
)  # fmt: skip


def plot_kept(kept: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Context recall with its interval against the mean tokens of a request, one line per strategy.

    Args:
        kept: from `compare_at`, of one dataset.
        ax: axes to draw on; default new ones.
    """
    _check(kept)
    axes = new_axes() if ax is None else ax
    strategies = enumerate(kept["strategy"].unique())
    ends = [_draw(axes, kept[kept["strategy"] == name], name, place=i) for i, name in strategies]
    axes.set_ylim(-0.05, 1.12)
    axes.set_xlim(0, 1.06 * max((end[0] for end in ends if end), default=1))
    label_ends(axes, [end for end in ends if end])
    axes.set_xlabel("tokens of a request (estimate, mean over cases)")
    axes.set_ylabel(stacked(AXIS_LABELS["context_recall"]))
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    dress(
        axes, kept, f"Context recall within the same target, by strategy: {', '.join(kept['set'].unique())}"
    )
    cases = int(kept["cases"].max())
    targets = ", ".join(kept["target"].unique())
    lines = [
        f"n = {cases:,} cases; bars: 95 % bootstrap interval of the mean over cases",
        f"targets: {targets}",
    ]
    notes(axes, kept, lines)
    return axes


def _draw(
    axes: Axes, rows: pd.DataFrame, strategy: str, *, place: int
) -> tuple[float, float, str, str] | None:
    """Draw the line of a strategy, and return where it ends, its name and its colour; null without a point."""
    colour, shape = look(place)
    columns = zip(*(values_of(rows, name) for name in COLUMNS[3:]), strict=True)
    points = sorted(row for row in columns if None not in row[:2])
    axes.plot(
        [x for x, *_ in points],
        [recall for _, recall, *_ in points],
        marker=shape,
        color=colour,
        linewidth=1.4,
        markersize=7,
        markeredgecolor="white",
        zorder=3,
    )
    for x, _, low, high in points:
        if low is not None and high is not None:
            axes.plot([x, x], [low, high], color=colour, linewidth=1.2, marker="_", zorder=2)
    return (points[-1][0], points[-1][1], strategy, colour) if points else None


def describe_kept(kept: pd.DataFrame) -> str:
    """The figure of `plot_kept` in words, for use as alternative text."""
    _check(kept)
    told = [f"Line plot of context recall against tokens of a request for {', '.join(kept['set'].unique())}."]
    for strategy in kept["strategy"].unique():
        rows = kept[kept["strategy"] == strategy]
        values = zip(values_of(rows, "target"), values_of(rows, "context_recall"), strict=True)
        told.append(
            f"{strategy}: "
            + ", ".join(
                f"{'unknown' if recall is None else f'{recall:.2f}'} at {target}" for target, recall in values
            )
            + "."
        )
    return " ".join(told)


def _check(kept: pd.DataFrame) -> None:
    missing = [name for name in COLUMNS if name not in kept.columns]
    if missing:
        raise InputError(f"kept: expected a frame of compare_at; missing columns are {', '.join(missing)}")
    if kept["set"].nunique() > 1:
        raise InputError("kept: expected one dataset; choose one `set` of the frame")
