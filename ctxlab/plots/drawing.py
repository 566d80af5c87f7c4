"""What all figures have in common: axes, colours and shapes, titles, and the small print under them."""

from __future__ import annotations

from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ctxlab.display import signature

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pandas as pd
    from matplotlib.axes import Axes

MARKS = "osD^vPX*<>hp"
COLOURS = ("#000000", "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
"""Okabe and Ito's colours without yellow; shapes tell strategies apart where colours do not."""

MEASURES = {
    "answer_recall": "answer recall",
    "context_recall": "context recall",
    "cost": "cost",
    "sent_tokens": "sent tokens",
    "result_tokens_mean": "tokens of a request",
    "duration_p50_s": "latency",
}
AXIS_LABELS = {
    "answer_recall": "answer recall (share of facts in the answer, mean over cases)",
    "context_recall": "context recall (share of facts in the fitted context, mean over cases)",
    "cost": "cost of all rows (currency of the prices)",
    "sent_tokens": "sent tokens (estimate, helper calls included, all rows)",
    "result_tokens_mean": "tokens of a request (estimate, mean; nothing was sent)",
    "duration_p50_s": "latency (s; median of a row, helper calls included)",
}
UNITS = {
    "cost": "(cost in the currency of the prices)",
    "sent_tokens": "sent tokens",
    "result_tokens_mean": "tokens of a request",
    "duration_p50_s": "seconds",
}
LABEL_SHARE = 0.09
"""The least distance of two labels, as a share of the height of the axes."""
LABEL_CHARACTERS = 40
MOST_CHARACTERS = 26
"""How long a line of a label gets before it is broken."""


def new_axes(height: float = 4.8) -> Axes:
    """Axes of a new figure, 7.4 inches wide."""
    import matplotlib.pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # The layout does not see the outer half of the last tick label; the padding makes room for it.
    _, axes = plt.subplots(figsize=(7.4, height), layout=ConstrainedLayoutEngine(w_pad=0.2))
    return axes


def look(i: int) -> tuple[str, str]:
    """Colour and shape of the strategy at this place."""
    return COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)]


def wrapped(name: str) -> str:
    """A strategy's name in lines of a readable length, broken after commas and brackets only."""
    lines = [""]
    for piece in name.replace(",", ",\0").replace("[", "[\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(piece) > MOST_CHARACTERS:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def dress(axes: Axes, frame: pd.DataFrame, title: str) -> None:
    """Title, grid and spines; what was measured without a model is titled as a property of the inputs (GEN-058)."""
    kind = str(frame.attrs.get("client_kind") or "")
    lines = [title[0].upper() + title[1:]]
    if kind.startswith("stand-in"):
        lines.append(f"A property of the inputs, not of a model ({kind})")
    elif kind == "offline":
        lines.append("A property of the inputs: no model was asked")
    axes.set_title("\n".join(lines), loc="left", fontsize=11.5)
    axes.grid(visible=True, color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)


def notes(axes: Axes, frame: pd.DataFrame, lines: list[str]) -> None:
    """Small print under the x axis: what the figure leaves out, and what it belongs to."""
    axes.annotate(
        "\n".join([*lines, signature(frame.attrs)]),
        xy=(0, 0),
        xycoords="axes fraction",
        xytext=(0, -40),
        textcoords="offset points",
        va="top",
        fontsize=8,
        color="0.3",
        linespacing=1.35,
        annotation_clip=False,
    )


def stacked(label: str) -> str:
    """The label of a vertical axis, in lines that are no longer than the axis is high."""
    return "\n".join(wrap(label, LABEL_CHARACTERS))


def label_ends(axes: Axes, ends: Sequence[tuple[float, float, str, str]]) -> None:
    """Names at the right ends of lines, given as (x, y, name, colour), moved apart where lines end together."""
    low, high = axes.get_ylim()
    least = LABEL_SHARE * (high - low)
    place = float("-inf")
    for x, y, name, colour in sorted(ends, key=lambda end: end[1]):
        place = max(y, place + least)
        axes.annotate(
            wrapped(name),
            (x, y),
            xytext=(axes.get_xlim()[1], place),
            textcoords="data",
            va="center",
            fontsize=9.5,
            color=colour,
            annotation_clip=False,
            arrowprops={"arrowstyle": "-", "color": colour, "linewidth": 0.6, "alpha": 0.6},
        )


def values_of(frame: pd.DataFrame, name: str) -> list[Any]:
    """A column as plain values, null as None."""
    series = frame[name]
    return series.astype(object).where(series.notna(), None).tolist()


def interval_level(metrics: pd.DataFrame) -> str:
    """The level of a frame's intervals, as it is read aloud."""
    level = metrics.attrs.get("level")
    return f"{100 * float(level):g} %" if level else "percentile"
