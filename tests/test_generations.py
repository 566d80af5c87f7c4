"""Generations of a summary, shown as strategies of their own, and what each call lost."""

import matplotlib.pyplot as plt
import pytest

import ctxlab
from ctxlab.errors import InputError
from ctxlab.plots import describe_generations, plot_generations
from ctxlab.standins import stand_in
from tests.factories import assistant, make_case, make_dataset, make_fact, user
from tests.parts import room_for_parts

LONG = "The billing worker was restarted twice and nothing else was changed in the meantime. " * 4
CASE = make_case(
    messages=(
        user(f"The incident is INC-4821. {LONG}"),
        assistant(f"We decided for port 8080. {LONG}"),
        user("What is decided?"),
    ),
    facts=(
        make_fact("incident", "INC-4821"),
        make_fact("port", "8080", kind="decision"),
    ),
)
REPLIES = ("INC-4821 and port 8080", "INC-4821", "nothing", "the answer names INC-4821")
"""Three generations, of which the second loses the port and the third the incident; then the answer to the case."""


@pytest.fixture(autouse=True)
def _closed_figures():
    yield
    plt.close("all")


def chain(*replies, generations=3, cases=(CASE,), strategies="full,s=summarize:generations={}", **options):
    """A run in which `full` is answered first, and the summaries are these replies."""
    return ctxlab.run(
        make_dataset(*cases),
        strategies.format(generations),
        client=stand_in("scripted", replies=replies),
        runs_dir=None,
        progress=False,
        **options,
    )


def shown_of(table, *columns):
    return [tuple(row) for row in table[list(columns)].itertuples(index=False)]


def test_each_generation_stands_as_a_strategy_with_what_its_summary_keeps():
    run = ctxlab.by_generation(chain("no answer", *REPLIES))
    assert run.strategies == ("full", "s: generation 1", "s: generation 2", "s: generation 3")
    frame = ctxlab.metrics_frame(run)
    assert list(frame["context_recall"]) == [1.0, 1.0, 0.5, 0.0]
    assert list(frame["calls"]) == [0, 1, 2, 3]
    assert frame["answer_recall"].isna().all()
    kinds = ctxlab.kinds_frame(run)
    lost = kinds[kinds["kind"] == "decision"]
    assert list(lost["context_recall"]) == [1.0, 1.0, 0.0, 0.0]


def test_the_last_generation_is_what_the_strategy_has_sent():
    whole = chain("no answer", *REPLIES)
    last = ctxlab.by_generation(whole).rows[-1]
    assert last.fitted.messages == whole.rows[1].fitted.messages
    assert last.fitted.receipt.result_tokens == whole.rows[1].fitted.receipt.result_tokens
    assert last.fitted.messages[0].content.endswith("\nnothing")


def test_a_shorter_summary_makes_a_smaller_context():
    rows = ctxlab.by_generation(chain("no answer", *REPLIES)).rows
    sizes = [row.fitted.receipt.result_tokens for row in rows[1:]]
    # heading of 38 bytes, then 22, 8 and 7: 30, 23 and 23 tokens at two bytes a token, rounded up
    assert [sizes[0] - sizes[1], sizes[1] - sizes[2]] == [7, 0]


def test_a_refused_summary_stands_as_refused_under_each_generation():
    rows = ctxlab.by_generation(chain("no answer", "INC-4821 and port 8080", "")).rows
    assert [(row.status, row.reason) for row in rows[1:]] == [("refused", "empty_summary")] * 3
    assert all(fact.in_context is None for row in rows[1:] for fact in row.facts)


def test_a_run_without_summaries_has_no_generations():
    with pytest.raises(InputError, match="no row of summarize"):
        ctxlab.by_generation(chain("no answer", strategies="full"))


def test_calls_tell_what_they_were_given_and_what_they_lost():
    table = ctxlab.calls_table(chain("no answer", *REPLIES))
    assert shown_of(table, "generation", "call", "facts given", "kept", "lost") == [
        ("1", "1, whole", "2", "2", "–"),
        ("2", "2, whole", "2", "1", "port"),
        ("3", "3, whole", "1", "0", "incident"),
    ]


def test_parts_and_their_merge_are_told_apart():
    budget = room_for_parts(600)  # a message has 530 tokens
    long = make_case(
        messages=(
            user(f"The incident is INC-4821. {LONG * 3}"),
            assistant(f"We decided for port 8080. {LONG * 3}"),
            user("What is decided?"),
        ),
        facts=CASE.facts,
    )
    replies = ("INC-4821", "a part without a name", "INC-4821", "the answer")
    run = chain(
        "no answer", *replies, cases=[long], budget=budget, strategies="s=summarize:requested_tokens=100"
    )
    table = ctxlab.calls_table(run)
    assert shown_of(table, "call", "facts given", "kept", "lost") == [
        ("1, part", "1", "1", "–"),
        ("2, part", "1", "0", "port"),
        ("3, merge", "1", "1", "–"),
    ]


def test_an_unusable_reply_is_no_loss_of_facts():
    table = ctxlab.calls_table(chain("no answer", ""))
    assert shown_of(table, "facts given", "kept", "lost") == [("2", "0", "no usable reply")]


# covers GEN-057, GEN-058
def test_the_figure_has_a_line_of_generations_and_says_what_it_stands_on():
    frame = ctxlab.metrics_frame(ctxlab.by_generation(chain("no answer", *REPLIES)))
    axes = plot_generations(frame)
    (line,) = [one for one in axes.get_lines() if one.get_marker() == "s"]
    assert list(line.get_xdata()) == [1, 2, 3]
    assert list(line.get_ydata()) == [1.0, 0.5, 0.0]
    words = " ".join(text.get_text() for text in axes.texts)
    assert "n = 1 rows per generation; no intervals: fewer than 2 cases" in words
    assert "client stand-in:scripted" in words
    assert axes.get_title(loc="left").startswith("Context recall by generation of the summary")
    told = describe_generations(frame)
    assert "s, by generation: 1: 1.00, 2: 0.50, 3: 0.00." in told
    assert "full: 1.00." in told


def test_a_frame_of_another_kind_is_refused_with_what_is_missing():
    frame = ctxlab.results_frame(chain("no answer", *REPLIES)).drop(columns=["context_recall"])
    with pytest.raises(InputError, match="missing columns are context_recall, context_recall_low"):
        plot_generations(frame)
