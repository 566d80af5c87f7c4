"""Frames as text: aligned, and never wider than the terminal shows."""

import pandas as pd
import pytest

from ctxlab.display import as_text, cut_off, shown, signature, troubles
from ctxlab.sentences import failures
from tests.factories import error_row, make_call, make_case, make_fitted, make_row, make_run

TABLE = pd.DataFrame(
    {"strategy": ["full", "empty"], "context recall": ["1.000", "0.000"], "calls": ["3", "12"]},
    dtype="string",
)


def test_the_first_column_is_left_the_others_are_right_and_long_headings_take_lines():
    assert as_text(TABLE).splitlines() == [
        "          context",
        "strategy   recall  calls",
        "full        1.000      3",
        "empty       0.000     12",
    ]


@pytest.mark.parametrize("most", [24, 100, None])
def test_a_table_that_fits_is_one(most):
    assert as_text(TABLE, most_characters=most) == as_text(TABLE)


@pytest.mark.parametrize("most", [23, 18, 5])
def test_a_table_that_does_not_fit_is_set_in_several_each_with_the_first_column(most):
    assert as_text(TABLE, most_characters=most).split("\n\n") == [
        "          context\nstrategy   recall\nfull        1.000\nempty       0.000",
        "strategy  calls\nfull          3\nempty        12",
    ]


def test_an_empty_table_is_an_empty_text():
    assert as_text(pd.DataFrame(dtype="string")) == ""


@pytest.mark.parametrize(
    ("value", "kind", "text"),
    [
        (None, "share", "unavailable"), (None, "share?", "–"), (0.5, "share", "0.500"), (1234.5, "rounded", "1,234"),
        (0.25, "change", "+0.250"), (-1234.5, "change", "-1,234"), (0.1234, "seconds", "0.123"), (12.3, "seconds", "12.30"),
    ],
)  # fmt: skip
def test_a_value_is_shown_as_people_read_it(value, kind, text):
    assert shown(value, kind) == text


# covers GEN-058
@pytest.mark.parametrize(
    ("attrs", "text"),
    [
        ({"fingerprint": "0123456789abcdef", "counter": "o200k_base", "client_kind": "local"},
         "run 0123456789ab · counter o200k_base · client local"),
        ({"counter": "o200k_base", "client_kind": "offline"},
         "counter o200k_base · client offline: no model was asked"),
        ({"client_kind": "stand-in:echo"}, "client stand-in:echo: a property of the inputs, not of a model"),
        ({}, ""),
    ],
)  # fmt: skip
def test_a_table_says_of_run_counter_and_client_what_it_knows(attrs, text):
    assert signature(attrs) == text


def test_what_was_cut_off_is_told_with_the_number_of_rows():
    cut = make_fitted(flags=("helper_truncated", "summary_cut"))
    rows = [
        make_row(strategy="summarize", fitted=cut, calls=(make_call(finish_reason="length"),)),
        make_row(
            make_case("c2"), case_index=1, strategy="summarize", calls=(make_call(finish_reason="stop"),)
        ),
        make_row(strategy="full", calls=(make_call(finish_reason="stop"),)),
    ]
    run = make_run(*rows)
    assert cut_off(run) == [
        "summarize: a summary longer than its target was cut in 1 of 2 rows",
        "summarize: a summary ended at the model's token limit in 1 of 2 rows",
        "summarize: the answer ended at the model's token limit in 1 of 2 rows",
    ]
    assert troubles(run)[-3:] == cut_off(run)
    assert failures(run)[-1] == "summarize: the answer ended at the model's token limit in 1 of 2 rows."


def test_an_error_is_told_with_the_status_of_the_platform():
    refused = error_row(error_kind="platform_http_error", http_status=401)
    down = error_row(make_case("c2"), case_index=1, error_kind="connection_failure", http_status=None)
    assert troubles(make_run(refused, down)) == ["error: 1 platform_http_error 401, 1 connection_failure"]
