"""Frames to figures.

A figure sees column names and `frame.attrs` only. It says what its axes measure, which run, counter and client it
belongs to, and which strategies it cannot show; each figure has a function that tells the same in words.
"""

from __future__ import annotations

from ctxlab.plots.generations import describe_generations, plot_generations
from ctxlab.plots.kept import describe_kept, plot_kept
from ctxlab.plots.kinds import describe_kinds, plot_kinds
from ctxlab.plots.recall import (
    describe_recall_cost,
    describe_recall_latency,
    plot_recall_cost,
    plot_recall_latency,
)

__all__ = [
    "describe_generations",
    "describe_kept",
    "describe_kinds",
    "describe_recall_cost",
    "describe_recall_latency",
    "plot_generations",
    "plot_kept",
    "plot_kinds",
    "plot_recall_cost",
    "plot_recall_latency",
]
