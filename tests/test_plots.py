"""Figures: what they say, that nothing in them hides anything else, and the same in words."""

from __future__ import annotations

from itertools import combinations

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.text import Text

from ctxlab import plots
from ctxlab.errors import InputError
from ctxlab.schemas import SCHEMAS
from ctxlab.tabulate import tabulate

FIVE = ("full", "empty", "shorten[target_tokens=512]", "summarize", "summarize[generations=4]")


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def point(strategy, recall, tokens, *, low=None, high=None, **values):
    return {
        "strategy": strategy, "answer_recall": recall, "context_recall": recall, "answer_recall_low": low,
        "answer_recall_high": high, "context_recall_low": low, "context_recall_high": high, "sent_tokens": tokens,
        "rows": 3, "answer_recall_rows": 3, "context_recall_rows": 3, **values,
    }  # fmt: skip


def frame_of(*rows, name="metrics", client_kind="endpoint", **attrs):
    blank = {c.name: (0 if c.required and c.dtype == "i" else None) for c in SCHEMAS[name].columns}
    records = [{**blank, "run_id": "r", **row} for row in rows]
    fixed = {
        "fingerprint": "0123456789abcdef",
        "counter": "utf8_bytes_2",
        "client_kind": client_kind,
        "level": "0.95",
    }
    return tabulate(SCHEMAS[name], records, attrs={"run_id": "r", **fixed, **attrs})


def usual(**attrs):
    return frame_of(
        point(FIVE[0], 1.0, 5400, low=1.0, high=1.0, duration_p50_s=14.2),
        point(FIVE[1], 0.0, 420, low=0.0, high=0.0, duration_p50_s=1.1),
        point(FIVE[2], 0.4, 1500, low=0.2, high=0.6, duration_p50_s=4.1),
        point(FIVE[3], 0.6, 9100, low=0.3, high=0.9, duration_p50_s=45.0),
        point(FIVE[4], 0.4, 14800, low=0.1, high=0.7, duration_p50_s=160.3),
        **attrs,
    )


def one_spot():
    return frame_of(*(point(name, 1.0, 1000, low=0.5, high=1.0, duration_p50_s=2.0) for name in FIVE))


def crowded():
    names = [f"shorten[target_tokens={64 * i},evidence=admit]" for i in range(1, 7)]
    return frame_of(
        *(point(name, 0.5 + i / 100, 5000 + 60 * i, low=0.4, high=0.7) for i, name in enumerate(names))
    )


def in_the_corners():
    return frame_of(
        point("full", 1.0, 1000), point("summarize[generations=4]", 0.0, 1000), point("empty", 0.0, 0)
    )


def labels_of(axes):
    """Labels by their text, without line breaks, in pixels."""
    notes = [text for text in axes.texts if text.get_fontsize() == 9.5]
    # of the text alone: an annotation's own extent holds its leader too
    return {text.get_text().replace("\n", ""): Text.get_window_extent(text) for text in notes}


def words_of(axes):
    return " ".join([axes.get_title(loc="left"), *(text.get_text() for text in axes.texts)])


# covers GEN-057
@pytest.mark.parametrize("make", [usual, one_spot, crowded, in_the_corners])
def test_labels_overlap_neither_each_other_nor_the_edge(make):
    frame = make()
    axes = plots.plot_recall_cost(frame)
    axes.get_figure().draw_without_rendering()
    labels = labels_of(axes)
    assert sorted("".join(labels)) == sorted("".join(frame["strategy"]))
    for one, other in combinations(labels.values(), 2):
        assert not one.overlaps(other)
    inside = axes.get_window_extent()
    for box in labels.values():
        assert inside.x0 <= box.x0
        assert box.x1 <= inside.x1
        assert inside.y0 <= box.y0
        assert box.y1 <= inside.y1


def marks_of(axes):
    return [line for line in axes.lines if line.get_linestyle() == "None"]


# covers GEN-057
def test_there_is_one_mark_per_strategy_with_its_own_shape_colour_and_interval():
    axes = plots.plot_recall_cost(usual())
    marks = marks_of(axes)
    assert [(m.get_xdata()[0], m.get_ydata()[0]) for m in marks] == [
        (5400, 1.0), (420, 0.0), (1500, 0.4), (9100, 0.6), (14800, 0.4),
    ]  # fmt: skip
    assert len({m.get_marker() for m in marks}) == 5
    assert len({m.get_color() for m in marks}) == 5
    bars = [line for line in axes.lines if line.get_linestyle() != "None"]
    assert [tuple(bar.get_ydata()) for bar in bars] == [
        (1.0, 1.0),
        (0.0, 0.0),
        (0.2, 0.6),
        (0.3, 0.9),
        (0.1, 0.7),
    ]


def test_marks_on_one_spot_all_show_and_share_a_label():
    axes = plots.plot_recall_cost(one_spot())
    from_below = sorted(marks_of(axes), key=lambda mark: mark.get_zorder())
    sizes = [mark.get_markersize() for mark in from_below]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 5
    assert list(labels_of(axes)) == ["".join(FIVE)]


# covers GEN-057
@pytest.mark.parametrize(
    ("changes", "x_label", "y_label", "title"),
    [
        ({}, "sent tokens", "answer recall", "Answer recall against sent tokens, by strategy"),
        ({"cost": 0.5}, "cost", "answer recall", "Answer recall against cost, by strategy"),
        ({"answer_recall": None}, "sent tokens", "context recall", "Context recall against sent tokens"),
        (
            {"answer_recall": None, "sent_tokens": 0, "result_tokens_mean": 70.5},
            "tokens of a request",
            "context",
            "Con",
        ),
    ],
)
def test_axes_and_title_say_what_is_measured(changes, x_label, y_label, title):
    frame = frame_of({**point("full", 1.0, 900), **changes}, {**point("empty", 0.0, 90), **changes})
    axes = plots.plot_recall_cost(frame)
    assert axes.get_xlabel().startswith(x_label)
    assert axes.get_ylabel().startswith(y_label)
    assert axes.get_title(loc="left").startswith(title)


# covers GEN-057
def test_latency_is_the_median_in_seconds():
    axes = plots.plot_recall_latency(usual())
    assert axes.get_xlabel() == "latency (s; median of a row, helper calls included)"
    assert marks_of(axes)[0].get_xdata()[0] == 14.2


# covers GEN-058
def test_a_figure_names_run_counter_and_client():
    words = words_of(plots.plot_recall_cost(usual()))
    assert "run 0123456789ab · counter utf8_bytes_2 · client endpoint" in words
    assert "95 % bootstrap interval" in words


# covers GEN-058, RUN-101
@pytest.mark.parametrize("client_kind", ["stand-in:extractive", "offline"])
@pytest.mark.parametrize("plot", [plots.plot_recall_cost, plots.plot_recall_latency])
def test_what_no_model_said_is_titled_as_a_property_of_the_inputs(plot, client_kind):
    assert "A property of the inputs" in plot(usual(client_kind=client_kind)).get_title(loc="left")
    assert "property" not in plot(usual()).get_title(loc="left")


# covers GEN-059
def test_a_strategy_that_cannot_be_shown_is_named_with_its_failures():
    frame = frame_of(
        point("full", 1.0, 900),
        {"strategy": "summarize", "rows": 3, "refused": 2, "errors": 1},
    )
    words = words_of(plots.plot_recall_cost(frame))
    assert "not shown: summarize (no answer recall; 2 refused, 1 in error of 3 rows)" in words
    assert "n = 3 rows per strategy; no intervals: fewer than 2 cases" in words
    told = plots.describe_recall_cost(frame)
    assert "summarize: no answer recall, 2 refused, 1 in error of 3 rows." in told


def test_a_frame_of_failures_says_that_there_is_nothing_to_show():
    frame = frame_of({"strategy": "full", "rows": 2, "refused": 2})
    assert "nothing to show" in words_of(plots.plot_recall_cost(frame))
    assert "nothing to show" in words_of(plots.plot_recall_latency(frame))


# covers GEN-055
def test_the_alternative_text_tells_every_number_of_the_figure():
    told = plots.describe_recall_cost(
        frame_of(point("full", 1.0, 5400, low=0.5, high=1.0), point("empty", 0.125, 420))
    )
    assert told == (
        "Scatter plot of answer recall against sent tokens for 2 strategies. "
        "full: answer recall 1.00 (95 % interval 0.50 to 1.00, 3 rows) at 5,400 sent tokens. "
        "empty: answer recall 0.12 (no interval, 3 rows) at 420 sent tokens."
    )
    assert "at unknown latency" in plots.describe_recall_latency(frame_of(point("full", 1.0, 5400)))


# covers FRM-007
def test_a_figure_goes_where_it_is_told_and_changes_no_frame():
    frame = usual()
    before = frame.copy(deep=True)
    figure, axes = plt.subplots()
    assert plots.plot_recall_cost(frame, ax=axes) is axes
    pd.testing.assert_frame_equal(frame, before)
    assert figure.axes == [axes]


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            frame_of(point("full", 1.0, 1), point("full", 0.5, 2) | {"run_id": "other"}),
            "one row per strategy",
        ),
        (pd.DataFrame({"strategy": ["full"]}), "missing columns are context_recall, answer_recall"),
    ],
)
def test_a_frame_of_another_shape_is_refused(frame, message):
    with pytest.raises(InputError, match=message):
        plots.plot_recall_cost(frame)


# Kinds


def kinds(**recall):
    rows = [
        {"strategy": strategy, "kind": kind, "facts": 4, "answer_recall": value}
        for strategy, values in recall.items()
        for kind, value in zip(("path", "status"), values, strict=True)
    ]
    return frame_of(*rows, name="kinds")


def test_recall_by_kind_has_a_mark_where_something_was_judged():
    axes = plots.plot_kinds(kinds(full=(1.0, 0.5), empty=(0.0, None)))
    full, empty = marks_of(axes)
    assert list(full.get_xdata()) == [1.0, 0.5]
    assert list(empty.get_xdata()) == [0.0]
    assert full.get_marker() != empty.get_marker()
    assert [tick.get_text() for tick in axes.get_yticklabels()] == ["path (4)", "status (4)"]
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["full", "empty"]


def test_equal_recalls_of_one_kind_do_not_hide_each_other():
    axes = plots.plot_kinds(kinds(full=(1.0, 1.0), empty=(1.0, 1.0)))
    assert len({mark.get_ydata()[0] for mark in marks_of(axes)}) == 2


def test_kinds_in_words():
    assert plots.describe_kinds(kinds(full=(1.0, 0.5), empty=(0.0, None))) == (
        "Dot plot of answer recall by kind of fact. full: path 1.00, status 0.50. empty: path 0.00, status unknown."
    )
