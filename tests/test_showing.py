"""What a notebook shows, as HTML and as plain text, and what it tells of a run."""

from __future__ import annotations

import pandas as pd
import pytest

from ctxlab.showing import RUN_TYPE, RunSummary, run_summary, show_run, show_table, show_text
from tests.factories import error_row, facts_found, make_call, make_case, make_row, make_run, refused_row


def small_run():
    case = make_case("c1")
    facts = facts_found(2, in_context=2, in_answer=1)
    return make_run(
        make_row(case, answer="x", calls=(make_call(),), facts=facts),
        refused_row(case, strategy="shorten"),
        error_row(case, strategy="empty"),
        client_kind="stand-in:echo",
    )


# covers EXP-054
def test_a_run_tells_its_counts_and_its_table():
    run = small_run()
    shown = show_run(run)
    told = shown.data[RUN_TYPE]
    assert RunSummary(**told) == run_summary(run)
    assert (told["rows"], told["errors"], told["refused"], told["not_run"]) == (3, 1, 1, 0)
    assert told["run_id"] == run.run_id
    assert [line.split()[0] for line in told["table"].splitlines()[-4:-1]] == ["full", "shorten", "empty"]
    assert told["table"].splitlines()[-1].startswith("client stand-in:echo; a property of the inputs")


# covers GEN-059
def test_the_plain_form_of_a_run_holds_no_text_of_it():
    case = make_case("c1", messages=make_case().messages)
    run = make_run(make_row(case, answer="MARKER", calls=(make_call(),)))
    assert "What now?" not in repr(run)
    assert "MARKER" not in repr(run)
    assert "What now?" not in repr(show_run(run))


def test_a_table_reads_the_same_as_plain_text():
    table = pd.DataFrame({"name": ["a", "bb"], "n": ["1", "20"]}, dtype="string")
    table.attrs.update(fingerprint="0123456789abcdef", counter="c", client_kind="endpoint")
    assert repr(show_table(table, title="T")).splitlines() == [
        "T",
        "name   n",
        "a      1",
        "bb    20",
        "run 0123456789ab \N{MIDDLE DOT} counter c \N{MIDDLE DOT} client endpoint",
    ]


def test_an_empty_table_says_none():
    shown = show_table(pd.DataFrame({"a": [], "b": []}, dtype="string"), title="T")
    assert "<td colspan='2'>none</td>" in shown.data["text/html"]
    assert "none" in repr(shown)


@pytest.mark.parametrize(
    ("values", "look"),
    [
        (["1,200", "unavailable"], "class='n'"),
        (["-0.5", "+1", "\N{EN DASH}"], "class='n'"),
        (["kept", "not in context"], "class='s'"),
        (["a" * 17, "b"], ""),
        (["a" * 60], "class='t'"),
        (["2 kept, 1 not in answer"], ""),
    ],
)
def test_a_column_looks_like_what_is_in_it(values, look):
    table = pd.DataFrame({"first": ["x"] * len(values), "second": values}, dtype="string")
    html = show_table(table, title="T").data["text/html"]
    assert f"<th scope='col'{' ' + look if look else ''}>second</th>" in html
    assert html.count(f"<td{' ' + look if look else ''}>") == len(values)


def test_sentences_are_led_in_by_what_stands_before_the_colon():
    shown = show_text(["full: 3 < 4", "No colon."])
    assert shown.data["text/html"] == "<ul>\n<li><b>full</b>: 3 &lt; 4</li>\n<li>No colon.</li>\n</ul>"
    assert repr(shown) == "full: 3 < 4\nNo colon."
    assert show_text(["One."]).data["text/html"] == "<p>One.</p>"
