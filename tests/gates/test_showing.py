"""A verdict as people and build servers read it."""

from dataclasses import replace
from xml.etree import ElementTree

from ctxlab.gates import GateLimits, judge_gates, verdict_junit, verdict_markdown, verdict_text
from tests.factories import make_run
from tests.reporting import answered


def verdict(**limits):
    now = make_run(*(answered(f"c{i}", passed=i > 0, index=i) for i in range(3)))
    then = make_run(*(answered(f"c{i}", passed=i < 2, index=i) for i in range(3)), model_requested="other")
    return judge_gates(now, GateLimits(**limits), baseline=then)


BOTH = {"min_pass_rate": "0.9", "max_pass_rate_drop": "0"}


# covers EVA-075, EVA-078
def test_the_text_has_verdict_table_explanations_notes_and_what_changed():
    lines = verdict_text(verdict(**BOTH)).splitlines()
    assert lines[0] == "failed: 1 of 2 gates"
    assert lines[2].split() == ["gate", "strategy", "passed", "current", "baseline", "threshold"]
    assert lines[3].split() == ["min_pass_rate", "full", "no", "0.666667", "unavailable", "0.9"]
    assert lines[4].split() == ["max_pass_rate_drop", "full", "yes", "0.666667", "0.666667", "0"]
    assert lines[6:] == [
        "min_pass_rate (full): pass rate 0.666667 is below 0.9",
        "max_pass_rate_drop (full): a drop of 0 is at most 0",
        "note: the runs differ in model",
        "",
        "fixed: 1 (c2)",
        "broken: 1 (c0)",
        "unchanged: 1 (c1)",
        "only current: 0",
        "only baseline: 0",
        "other answers with the same verdict: 0",
    ]


# covers EVA-075
def test_a_verdict_without_failure_is_passed():
    assert verdict_text(verdict(max_pass_rate_drop="0")).startswith("passed\n")


# covers EVA-079
def test_junit_has_one_test_case_per_gate():
    suites = ElementTree.fromstring(verdict_junit(verdict(**BOTH)))
    (suite,) = suites
    assert (suite.tag, suite.get("tests"), suite.get("failures"), suite.get("skipped")) == (
        "testsuite",
        "2",
        "1",
        "0",
    )
    cases = suite.findall("testcase")
    assert [(case.get("classname"), case.get("name")) for case in cases] == [
        ("full", "min_pass_rate"), ("full", "max_pass_rate_drop"),
    ]  # fmt: skip
    assert cases[0].find("failure").get("message") == "pass rate 0.666667 is below 0.9"
    assert cases[1].find("failure") is None


# covers EVA-079
def test_junit_holds_any_name_as_text():
    one = verdict(**BOTH)
    named = replace(one.results[0], strategy='a<b>&"\x1b\x00|', explanation="x\x07<y>\n]]>")
    case = ElementTree.fromstring(verdict_junit(replace(one, results=(named,)))).find("testsuite/testcase")
    assert case.get("classname") == 'a<b>&" |'
    assert case.find("failure").get("message") == "x <y> ]]>"


# covers EVA-079, GEN-041
def test_a_gate_that_was_not_evaluated_is_skipped():
    one = verdict(**BOTH)
    skipped = replace(one.results[0], passed=None, state="not_evaluated")
    text = verdict_junit(replace(one, results=(skipped,)))
    suite = ElementTree.fromstring(text)[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert verdict_text(replace(one, results=(skipped,))).startswith("not evaluated\n")


# covers EVA-079, EVA-112
def test_markdown_is_a_table_that_no_name_can_break():
    one = verdict(**BOTH)
    named = replace(one.results[0], strategy="a|b`<script>")
    text = verdict_markdown(replace(one, results=(named, one.results[1])))
    assert text.startswith("# Gates: failed: 1 of 2 gates\n")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert [row.count("|") for row in rows] == [8, 8, 8, 8]
    assert "<script>" not in text
    assert "- broken: 1 (c0)" in text


# covers EVA-078
def test_long_lists_of_cases_are_counted_and_cut():
    run = make_run(*(answered(f"c{i}", index=i) for i in range(70)))
    text = verdict_text(judge_gates(run, GateLimits(max_pass_rate_drop="0"), baseline=run))
    line = next(line for line in text.splitlines() if line.startswith("unchanged"))
    assert line.startswith("unchanged: 70 (c0, c1, ")
    assert line.endswith(", c59 and 10 more)")
