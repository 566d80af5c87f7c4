"""Recall by kind of fact, one mark per strategy."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.plots.drawing import AXIS_LABELS, MEASURES, dress, look, new_axes, notes, values_of, wrapped

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def plot_kinds(kinds: pd.DataFrame, ax: Axes | None = None) -> Axes:
    """Pooled recall per kind of fact, one mark per strategy, from a `kinds` frame."""
    recall = _kinds_recall(kinds)
    strategies, names = list(kinds["strategy"].unique()), list(kinds["kind"].unique())
    axes = new_axes(1.8 + len(names) * (0.2 + 0.13 * len(strategies))) if ax is None else ax
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
    axes.set_xlabel(AXIS_LABELS[recall].replace("mean over cases", "pooled over rows"))
    dress(axes, kinds, f"{MEASURES[recall]} by kind of fact and strategy")
    axes.grid(visible=False, axis="y")
    note = "in brackets: facts per strategy; no mark where nothing was judged"
    notes(axes, kinds, [note])
    axes.legend(loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False, fontsize=9.5, labelspacing=0.9)
    return axes


def _dots(axes: Axes, x: list[float], y: list[float], i: int, strategy: str) -> None:
    colour, mark = look(i)
    axes.plot(
        x,
        y,
        marker=mark,
        color=colour,
        linestyle="none",
        markersize=7.5,
        markeredgecolor="white",
        clip_on=False,
        label=wrapped(strategy),
    )


def describe_kinds(kinds: pd.DataFrame) -> str:
    """The figure of `plot_kinds` in words, one sentence per strategy."""
    recall = _kinds_recall(kinds)
    sentences = [f"Dot plot of {MEASURES[recall]} by kind of fact."]
    for strategy in kinds["strategy"].unique():
        rows = kinds[kinds["strategy"] == strategy]
        values = zip(rows["kind"], values_of(rows, recall), strict=True)
        told = ", ".join(f"{kind} {'unknown' if value is None else f'{value:.2f}'}" for kind, value in values)
        sentences.append(f"{strategy}: {told}.")
    return " ".join(sentences)


def _kinds_recall(kinds: pd.DataFrame) -> str:
    missing = [n for n in ("strategy", "kind", "context_recall", "answer_recall") if n not in kinds.columns]
    if missing:
        raise InputError(f"kinds: expected a kinds frame; missing columns are {', '.join(missing)}")
    return "answer_recall" if kinds["answer_recall"].notna().any() else "context_recall"
