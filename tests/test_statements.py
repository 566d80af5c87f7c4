"""Statements: sentences and lines with what stands over them. The texts are such as models answer."""

import time

import pytest
from hypothesis import given, settings, strategies as st

from ctxlab.statements import statements


def said(text, **options):
    """Each statement, behind the titles over it."""
    return [(*one.titles, one.text) for one in statements(text, **options)]


# covers EVA-025, ADM-041
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            "## Rejected\n- Redlock\n\n## Open\n- key rotation",
            [
                ("## Rejected",),
                ("## Rejected", "- Redlock"),
                ("## Open",),
                ("## Open", "- key rotation"),
            ],
            id="items under headings",
        ),
        pytest.param(
            "# Completed work\n## Locking\nRedlock is rejected.\n## Keys\nRotated.",
            [
                ("# Completed work",),
                ("## Locking",),
                ("## Locking", "Redlock is rejected."),
                ("## Keys",),
                ("## Keys", "Rotated."),
            ],
            id="the title of the whole text stands over nothing",
        ),
        pytest.param(
            "## Done\n### Storage\n- backfill",
            [("## Done",), ("### Storage",), ("### Storage", "- backfill")],
            id="nor does the only heading above others",
        ),
        pytest.param(
            "The following is done:\n\n- backfill\n- docs\n\nThe load test is pending.",
            [
                ("The following is done:",),
                ("The following is done:", "- backfill"),
                ("The following is done:", "- docs"),
                ("The load test is pending.",),
            ],
            id="a line with a colon opens a list, and a paragraph ends it",
        ),
        pytest.param(
            "Done:\nbackfill\n\nLoad test pending",
            [("Done:",), ("Done:", "backfill"), ("Load test pending",)],
            id="lines without marks",
        ),
        pytest.param(
            "- Redlock\n  - Status: rejected\n- outbox\n  - Status: chosen",
            [
                ("- Redlock",),
                ("- Redlock", "- Status: rejected"),
                ("- outbox",),
                ("- outbox", "- Status: chosen"),
            ],
            id="items below items",
        ),
        pytest.param(
            "1. **Rejected:**\n- Redlock\n2. **Open:**\n- keys",
            [
                ("1. **Rejected:**",),
                ("1. **Rejected:**", "- Redlock"),
                ("2. **Open:**",),
                ("2. **Open:**", "- keys"),
            ],
            id="items of another mark below an item with a colon",
        ),
        pytest.param(
            "- **Redlock**. It was rejected.\n- Outbox. Approved.",
            [
                ("- **Redlock**.",),
                ("- **Redlock**.", "It was rejected."),
                ("- Outbox.",),
                ("- Outbox.", "Approved."),
            ],
            id="sentences of one item",
        ),
        pytest.param(
            "> **Rejected**\n> - Redlock",
            [("**Rejected**",), ("**Rejected**", "- Redlock")],
            id="quoted, under a bold line",
        ),
        pytest.param(
            "```yaml\nredlock:\n  status: rejected\noutbox:\n  status: chosen\n```",
            [
                ("```yaml",),
                ("redlock:",),
                ("redlock:", "status: rejected"),
                ("outbox:",),
                ("outbox:", "status: chosen"),
                ("```",),
            ],
            id="keys of a fenced block",
        ),
        pytest.param(
            '{\n  "redlock": {\n    "status": "rejected"\n  },\n  "outbox": "chosen"\n}',
            [
                ("{",),
                ('"redlock": {',),
                ('"redlock": {', '"status": "rejected"'),
                ("},",),
                ('"outbox": "chosen"',),
                ("}",),
            ],
            id="an object ends where its indentation does",
        ),
        pytest.param(
            "### 2. Redlock (v. 2)\nRejected.\n### 3. Outbox\nApproved.",
            [
                ("### 2. Redlock (v. 2)",),
                ("### 2. Redlock (v. 2)", "Rejected."),
                ("### 3. Outbox",),
                ("### 3. Outbox", "Approved."),
            ],
            id="numbered headings",
        ),
        pytest.param(
            "**1. Redlock**\nRejected.\n\n**2. Outbox**\nApproved.",
            [
                ("**1. Redlock**",),
                ("**1. Redlock**", "Rejected."),
                ("**2. Outbox**",),
                ("**2. Outbox**", "Approved."),
            ],
            id="bold lines",
        ),
        pytest.param(
            "第一句。\n第二句。第三句！",
            [("第一句。",), ("第二句。",), ("第三句！",)],
            id="lines of a script without spaces are prose",
        ),
    ],
)
def test_a_statement_knows_what_stands_over_it(text, expected):
    assert said(text) == expected


# covers EVA-025, ADM-041
@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "This note was written on a Friday. We ran\nthe suite on 3.11, and everything succeeded.",
            ["This note was written on a Friday.", "We ran\nthe suite on 3.11, and everything succeeded."],
        ),
        ("Unit tests not run\nBuild passed", ["Unit tests not run", "Build passed"]),
        (
            "The suite was not run on Monday because of the outage\nBuild passed\nLint passed",
            ["The suite was not run on Monday because of the outage\nBuild passed", "Lint passed"],
        ),  # the second line may go on with the first: it would not have fitted
        (
            "- a long item that goes on\n  in the next line",
            ["- a long item that goes on\n  in the next line"],
        ),
        (
            "这份说明写于周五，有一个提案已处理，我们使用ULID\n主键。其余照旧。",
            ["这份说明写于周五，有一个提案已处理，我们使用ULID\n主键。", "其余照旧。"],
        ),
    ],
)
def test_a_line_that_was_broken_to_fit_goes_on_and_any_other_ends(text, expected):
    assert [one.text for one in statements(text)] == expected


# covers EVA-025
@pytest.mark.parametrize(
    ("text", "fragments"),
    [
        ("Done:\n- backfill\n- key rotation (was pending)", ["- backfill", "- key rotation (was pending)"]),
        ("## Done\n- The backfill waits.\n- keys: open\nSome text", []),
        ("## Done\n| backfill | Ana |", []),
    ],
)
def test_an_item_that_is_no_sentence_is_a_fragment(text, fragments):
    assert [one.text for one in statements(text) if one.is_fragment] == fragments


def test_a_long_text_is_no_title():
    long = "We looked into it. " * 10
    assert said(f"{long.strip()} Then:\n- keys")[-1] == ("Then:", "- keys")
    assert said(f"## {'a' * 160}\nkeys")[-1] == ("keys",)


lines = st.lists(
    st.sampled_from(
        [
            "# A",
            "## Done:",
            "- x",
            "  - y.",
            "1. z",
            "**B**",
            "Text. More",
            "完成。",
            "> q",
            "",
            "| r |",
            "```",
        ]
    ),
    max_size=12,
)


# covers ADM-050
@given(lines, st.sampled_from(["\n", "\r\n", "\r"]))
@settings(max_examples=150)
def test_statements_hold_every_word_once_and_in_order(found, line_break):
    text = line_break.join(found)
    joined = "".join("".join(one.text for one in statements(text)).split())
    assert joined == "".join("".join(line.removeprefix("> ") for line in found).split())


@pytest.mark.parametrize(
    "unit", ["- a\n", "# a\n", "a:\n", "a. ", "a\n", "  - b:\n", "> ", "**a**\n", "字\n"]
)
def test_time_is_proportional_to_the_text(unit):
    start = time.process_time()
    statements(unit * (100_000 // len(unit)))
    assert time.process_time() - start < 5
