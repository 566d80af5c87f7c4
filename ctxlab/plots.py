"""Frames to figures: recall against cost and latency, and recall by kind of fact.

A figure sees column names and `frame.attrs` only. It says what its axes measure, which run, counter and client it
belongs to, and which strategies it cannot show; each figure has a function that tells the same in words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ctxlab.errors import InputError
from ctxlab.plot_labels import Spot, label_marks
from ctxlab.schemas import HEADLINE_COLUMNS, headline_columns

if TYPE_CHECKING:
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
MOST_CHARACTERS = 26
"""How long a line of a label gets before it is broken."""
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
    return headline_columns({name: _values(metrics, name) for name in HEADLINE_COLUMNS})


def _values(frame: pd.DataFrame, name: str) -> list[Any]:
    """A column as plain values, null as None."""
    series = frame[name]
    return series.astype(object).where(series.notna(), None).tolist()


def _points(metrics: pd.DataFrame, *, recall: str, x: str) -> list[_Point]:
    columns = {
        name: _values(metrics, name)
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
    axes = _axes() if ax is None else ax
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
    axes.set_ylabel(AXIS_LABELS[recall])
    axes.xaxis.set_major_formatter(lambda value, _: f"{value:,.10g}")
    _dress(axes, metrics, f"{MEASURES[recall]} against {MEASURES[x]}, by strategy")
    hidden = _hidden_notes(points, recall=recall, x=x)
    _notes(axes, metrics, [*_bars_note(metrics, spots), *hidden])
    if not spots:
        axes.text(0.5, 0.5, "nothing to show", transform=axes.transAxes, ha="center", fontsize=12)
    label_marks(axes, spots)
    return axes


def _axes(height: float = 4.8) -> Axes:
    import matplotlib.pyplot as plt
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    # The layout does not see the outer half of the last tick label; the padding makes room for it.
    _, axes = plt.subplots(figsize=(7.4, height), layout=ConstrainedLayoutEngine(w_pad=0.2))
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
        text="\n".join(_wrapped(point.strategy) for point in group),
    )


def _mark(axes: Axes, point: _Point, *, radius_pt: float) -> None:
    """A mark and its interval; what lies under others on its spot is larger and drawn first, so that all show."""
    colour, shape = _look(point.place)
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


def _look(i: int) -> tuple[str, str]:
    """Colour and shape of the strategy at this place."""
    return COLOURS[i % len(COLOURS)], MARKS[i % len(MARKS)]


def _wrapped(name: str) -> str:
    """A strategy's name in lines of a readable length, broken after commas and brackets only."""
    lines = [""]
    for piece in name.replace(",", ",\0").replace("[", "[\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(piece) > MOST_CHARACTERS:
            lines.append("")
        lines[-1] += piece
    return "\n".join(lines)


def _dress(axes: Axes, frame: pd.DataFrame, title: str) -> None:
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


def _notes(axes: Axes, frame: pd.DataFrame, lines: list[str]) -> None:
    """Small print under the x axis: what the figure leaves out, and what it belongs to."""
    attrs = frame.attrs
    signature = (
        f"run {str(attrs.get('fingerprint') or 'unknown')[:12]} \N{MIDDLE DOT} counter "
        f"{attrs.get('counter') or 'unknown'} \N{MIDDLE DOT} client {attrs.get('client_kind') or 'unknown'}"
    )
    axes.annotate(
        "\n".join([*lines, signature]),
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


def _bars_note(metrics: pd.DataFrame, spots: list[Spot]) -> list[str]:
    if any(spot.low is not None for spot in spots):
        return [f"bars: {_level(metrics)} bootstrap interval of the mean over cases"]
    return ["no intervals: fewer than 2 cases"] if spots else []


def _level(metrics: pd.DataFrame) -> str:
    level = metrics.attrs.get("level")
    return f"{100 * float(level):g} %" if level else "percentile"


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
        interval = f"{_level(metrics)} interval {point.low:.2f} to {point.high:.2f}"
    at = f"unknown {MEASURES[x]}" if point.x is None else f"{point.x:,.6g} {UNITS[x]}"
    return f"{point.strategy}: {MEASURES[recall]} {point.recall:.2f} ({interval}, {point.rows} rows) at {at}."


# Recall by kind of fact


def plot_kinds(kinds: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Pooled recall per kind of fact, one mark per strategy, from a `kinds` frame."""
    recall = _kinds_recall(kinds)
    strategies, names = list(kinds["strategy"].unique()), list(kinds["kind"].unique())
    axes = _axes(1.8 + len(names) * (0.2 + 0.13 * len(strategies))) if ax is None else ax
    for place in range(0, len(names), 2):
        axes.axhspan(place - 0.5, place + 0.5, color="0.96", zorder=0)
    for i, strategy in enumerate(strategies):
        rows = kinds[(kinds["strategy"] == strategy) & kinds[recall].notna()]
        # Side by side within a kind, so that equal values do not hide each other.
        shift = 0.7 * ((i + 0.5) / len(strategies) - 0.5)
        places = [names.index(kind) + shift for kind in rows["kind"]]
        _dots(axes, [float(value) for value in rows[recall]], places, i, strategy)
    counts = kinds.groupby("kind")["facts"].max()
    axes.set_yticks(range(len(names)), [f"{name} ({counts[name]})" for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(-0.03, 1.03)
    axes.set_xlabel(AXIS_LABELS[recall])
    _dress(axes, kinds, f"{MEASURES[recall]} by kind of fact and strategy")
    axes.grid(visible=False, axis="y")
    note = "in brackets: facts per strategy; pooled over rows; no mark where nothing was judged"
    _notes(axes, kinds, [note])
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9.5, labelspacing=0.9)
    return axes


def _dots(axes: Axes, x: list[float], y: list[float], i: int, strategy: str) -> None:
    colour, mark = _look(i)
    axes.plot(
        x,
        y,
        marker=mark,
        color=colour,
        linestyle="none",
        markersize=7.5,
        markeredgecolor="white",
        clip_on=False,
        label=_wrapped(strategy),
    )


def describe_kinds(kinds: pd.DataFrame) -> str:
    """The figure of `plot_kinds` in words, one sentence per strategy."""
    recall = _kinds_recall(kinds)
    sentences = [f"Dot plot of {MEASURES[recall]} by kind of fact."]
    for strategy in kinds["strategy"].unique():
        rows = kinds[kinds["strategy"] == strategy]
        values = zip(rows["kind"], _values(rows, recall), strict=True)
        told = ", ".join(f"{kind} {'unknown' if value is None else f'{value:.2f}'}" for kind, value in values)
        sentences.append(f"{strategy}: {told}.")
    return " ".join(sentences)


def _kinds_recall(kinds: pd.DataFrame) -> str:
    missing = [n for n in ("strategy", "kind", "context_recall", "answer_recall") if n not in kinds.columns]
    if missing:
        raise InputError(f"kinds: expected a kinds frame; missing columns are {', '.join(missing)}")
    return "answer_recall" if kinds["answer_recall"].notna().any() else "context_recall"
