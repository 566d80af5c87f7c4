"""Every strategy on random histories, with every stand-in as helper; and histories made to be hard."""

from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings

from ctxlab.budget import Budget
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.plan import Plan
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.verify import violations
from tests.factories import assistant, make_case, user
from tests.histories import cases
from tests.invariants import COUNTER, RULES, Helper, budgets, faults, fit, plans, refreshed, summaries

ANY_TIME = settings(deadline=None, suppress_health_check=list(HealthCheck))


def check_all(case, budget, summary, plan):
    before = repr(case)
    for name, strategy in {**RULES, "summarize": summary, "plan": plan}.items():
        found = list(faults(case, strategy, budget, fit(strategy, case, budget)))
        assert (name, found) == (name, [])
    assert repr(case) == before


# covers STR-001, STR-002, STR-003, STR-004, STR-005, STR-006, STR-012, STR-034, STR-036, STR-037, STR-038
# covers STR-083, STR-084, STR-090, STR-150, GEN-009, BUD-062
@pytest.mark.properties
@given(case=cases(), budget=budgets(), summary=summaries(), plan=plans())
@settings(ANY_TIME, max_examples=200)
def test_no_strategy_breaks_its_contract_on_any_history(case, budget, summary, plan):
    check_all(case, budget, summary, plan)


# covers STR-036
@pytest.mark.properties
@pytest.mark.slow
@pytest.mark.timeout(3600)
@given(case=cases(), budget=budgets(), summary=summaries(), plan=plans())
@settings(ANY_TIME, max_examples=10_000, database=None)
def test_no_strategy_breaks_its_contract_on_10_000_histories(case, budget, summary, plan):
    check_all(case, budget, summary, plan)


# covers STR-008, STR-011
@pytest.mark.properties
@given(case=cases(), budget=budgets(), summary=summaries(), plan=plans())
@settings(ANY_TIME, max_examples=50)
def test_the_same_input_gives_the_same_result(case, budget, summary, plan):
    for strategy in (*RULES.values(), summary, plan):
        first, second = (fit(refreshed(strategy), case, budget) for _ in range(2))
        assert (first.error is None) == (second.error is None)
        assert replace(first, error=None) == replace(second, error=None)


# covers STR-007
@pytest.mark.properties
@given(case=cases())
@settings(ANY_TIME, max_examples=50)
def test_a_source_that_fits_is_returned_as_it_is(case):
    case = replace(case, snippets=())
    for strategy in (Shorten(), Extract(), Plan()):
        fitted = fit(strategy, case, Budget(window_tokens=1_000_000))
        assert (fitted.messages, fitted.outcome) == (case.messages, "unchanged")


LINES = "".join(
    f"Line {n:03} keeps setting KEY-{n:03} at {n} ms.\n" for n in range(240)
)  # 39 or 40 characters
SMALL = Budget(
    window_tokens=2560, output_reserve_tokens=256, protocol_reserve_tokens=0, safety_reserve_tokens=0
)

WHOLE = ["whole"]
PARTS = "parts and merges"


# covers RUN-100, STR-095, STR-089, STR-090, STR-098
@pytest.mark.parametrize(
    ("budget", "kinds"), [(Budget(window_tokens=32_768), WHOLE), (SMALL, PARTS)], ids=["whole", "parts"]
)
@pytest.mark.parametrize(
    ("name", "outcome", "flags"),
    [
        ("echo", "completed", {"summary_cut"}),
        ("head", "completed", {"summary_cut"}),
        ("extractive", "completed", set()),
        ("drop", "completed", set()),
        ("empty", "empty_summary", set()),
        ("error", "failed", set()),
        ("slow", "completed", {"summary_cut"}),
        ("truncated", "completed", {"helper_truncated"}),
        ("grow", "completed", {"summary_cut"}),
        ("scripted", "completed", set()),
    ],
)
def test_a_stand_in_of_every_kind_ends_in_its_outcome(name, outcome, flags, budget, kinds):
    helper = Helper(name)
    case = make_case(messages=(user(LINES[:4000]), assistant(LINES[4000:]), user("What now?")))
    fitted = fit(Summarize(client=helper), case, budget)
    receipt = fitted.receipt
    assert receipt.summary_outcome == outcome
    assert fitted.outcome == {"completed": "summarized", "failed": "failed"}.get(outcome, "refused")
    assert receipt.reason == (None if outcome == "completed" else outcome)
    assert flags <= set(receipt.flags)
    asked = [request.kind for request in helper.requests]
    if outcome != "completed":
        assert asked == (WHOLE if kinds == WHOLE else ["part"])
        assert (receipt.helper_result_tokens, fitted.messages) == (0, ())
    else:
        assert asked == WHOLE if kinds == WHOLE else asked.count("part") == receipt.parts > 1
        assert asked[-1] == ("whole" if kinds == WHOLE else "merge")
        assert 0 < receipt.helper_result_tokens <= receipt.target_tokens
    assert list(faults(case, Summarize(client=helper), budget, fitted)) == []


FAMILY = "👨‍👩‍👧‍👦"


# covers STR-083, STR-084, STR-085, STR-150, STR-151
@pytest.mark.timeout(10)
@pytest.mark.parametrize(
    ("messages", "window", "outcome", "parts"),
    [
        ([user("x" * 10_000_000)], 131_072, "completed", 40),
        ([user("x" * 10_000_000)], 8192, "partition_limit", 0),
        ([user("word. " * 1_600_000)], 131_072, "completed", None),
        (
            [user(f"m{n}") if n % 2 else assistant(f"m{n}") for n in range(100_000)],
            131_072,
            "completed",
            None,
        ),
        ([user(f"{FAMILY}🇰🇷🇯🇵" * 100_000)], 131_072, "completed", None),
        ([user("e" + "\u0301" * 2_000_000)], 131_072, "partition_limit", 0),
        ([user("line\r\n" * 1_000_000)], 131_072, "completed", None),
        ([user("\r\n" * 400_000 + "x")], 8192, "partition_limit", 0),
        ([user("(a. " * 1_000_000)], 131_072, "completed", None),
    ],
    ids=[
        "10 MB in one line",
        "10 MB in one line, small window",
        "10 MB of short sentences",
        "100,000 messages",
        "families and flags",
        "one cluster",
        "CR LF",
        "nothing but CR LF",
        "open brackets",
    ],
)
def test_hostile_sources_end_in_time(messages, window, outcome, parts):
    helper = Helper("head")
    case = make_case(messages=(*messages, user("And?")))
    budget = Budget(window_tokens=window)
    fitted = fit(Summarize(client=helper), case, budget)
    assert fitted.receipt.summary_outcome == outcome
    assert violations(case, fitted, budget, COUNTER) == []
    bodies = helper.bodies("part")
    assert len(bodies) == fitted.receipt.parts
    assert parts is None or len(bodies) == parts
    assert not any(body.startswith("\u200d") or body.endswith(("\u200d", "\r")) for body in bodies)
    if bodies:
        assert sum(map(len, bodies)) > sum(len(message.text) for message in messages)
