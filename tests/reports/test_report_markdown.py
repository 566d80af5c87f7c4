"""The Markdown report: its sections, its numbers, and that no cell can break out."""

import re

from ctxlab.reports import report_markdown, write_report
from ctxlab.thresholds import Thresholds
from tests.factories import error_row, facts_found, make_call, make_case, make_run, refused_row
from tests.reporting import NO_SOURCE, answered, mixed_run, two_strategies, verdict

SECTIONS = [
    "Run configuration", "Aggregate quality", "Recall by strategy and kind", "Paired differences", "Latency",
    "Token usage and cost", "Failed cases", "Refused cases", "Error cases", "Regression comparison",
]  # fmt: skip


def sections(text):
    parts = re.split(r"(?m)^## (.*)$", text)
    return dict(zip(parts[1::2], (part.strip() for part in parts[2::2]), strict=True))


def table(section):
    """The first table of a section as one dict per row."""
    lines = [line for line in section.split("\n\n")[0].splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.strip("|").split("|")] for line in lines)
    return [dict(zip(head, row, strict=True)) for row in rows]


# covers EVA-110
def test_the_sections_stand_in_their_order():
    assert re.findall(r"(?m)^## (.*)$", report_markdown(mixed_run())) == SECTIONS


# covers EVA-110
def test_an_empty_section_says_none():
    found = sections(report_markdown(make_run(answered("c1"))))
    empty = [name for name, text in found.items() if text == "None."]
    assert empty == [
        "Recall by strategy and kind", "Paired differences", "Failed cases", "Refused cases", "Error cases",
        "Regression comparison",
    ]  # fmt: skip


# covers EVA-111
def test_rates_are_percent_seconds_have_six_decimals_and_null_is_unavailable():
    found = sections(report_markdown(mixed_run()))
    quality = table(found["Aggregate quality"])
    assert [(row["strategy"], row["pass rate"], row["error rate"]) for row in quality] == [
        ("full", "25.00%", "25.00%")
    ]
    latency = table(found["Latency"])[0]
    assert (latency["mean s"], latency["p50 s"], latency["p95 s"]) == ("2.000000", "2.000000", "3.000000")
    usage = table(found["Token usage and cost"])[0]
    assert (usage["prompt tokens"], usage["cached tokens"], usage["cost"]) == (
        "10",
        "unavailable",
        "unavailable",
    )


# covers EVA-111
def test_the_time_to_the_first_token_is_unavailable_in_buffered_mode():
    buffered = table(sections(report_markdown(mixed_run()))["Latency"])[0]
    assert buffered["TTFT p50 s"] == "unavailable (buffered mode)"
    streamed = make_run(answered("c1", calls=(make_call(ttft_s=0.25),)))
    assert table(sections(report_markdown(streamed))["Latency"])[0]["TTFT p50 s"] == "0.250000"


# covers EVA-110, EVA-024, EVA-029
def test_recall_and_fates_stand_side_by_side_per_strategy_kind_category_and_language():
    text = sections(report_markdown(two_strategies()))["Recall by strategy and kind"]
    rows = table(text)
    assert [
        (row["strategy"], row["answer recall (pooled)"], row["retained"], row["missing"]) for row in rows
    ] == [("full", "75.00%", "3", "1"), ("short", "25.00%", "1", "3"), ("(all)", "50.00%", "4", "4")]
    by_kind, by_category, by_language = text.split("\n\n")[1:]
    assert "| short | identifier | 4 |" in by_kind
    assert "| short | general |" in by_category
    assert "| short | und |" in by_language


# covers EVA-110, EVA-060
def test_paired_differences_stand_with_their_pairs_and_what_was_dropped():
    run = two_strategies()
    rows = table(sections(report_markdown(run))["Paired differences"])
    answer = next(r for r in rows if (r["metric"], r["cases"]) == ("answer recall", "completed"))
    assert (answer["strategy"], answer["pairs"], answer["dropped"]) == ("short", "2", "0")
    assert answer["difference from full"] == "-50.00%"
    assert answer["interval"] == "-50.00% to -50.00%"
    assert (answer["higher, lower, equal"], answer["p"], answer["test"]) == ("0, 2, 0", "0.5", "sign")


# covers EVA-110
def test_failed_refused_and_erroneous_cases_are_listed():
    run = make_run(
        answered("bad", passed=False, answer="no", evaluations=(
            verdict(), verdict("contains_all", passed=False, failure_reason="missing: X-1"),
        )),
        refused_row(make_case("big"), case_index=1),
        error_row(make_case("down"), case_index=2, error_kind="platform_http_error", http_status=503),
    )  # fmt: skip
    found = sections(report_markdown(run))
    assert table(found["Failed cases"]) == [
        {"case": "bad", "strategy": "full", "repeat": "0", "evaluators": "contains_all",
         "reason": "missing: X-1", "answer": "no"},
    ]  # fmt: skip
    assert table(found["Refused cases"])[0]["reason"] == "pinned_too_large"
    assert table(found["Error cases"]) == [
        {"case": "down", "strategy": "full", "repeat": "0", "kind": "platform_http_error", "stage": "main",
         "HTTP status": "503", "message": "The platform answered with an HTTP error."},
    ]  # fmt: skip


# covers EVA-112
def test_an_answer_cannot_break_its_cell_or_run_in_a_browser():
    nasty = "a | b `code` <script>alert(1)</script> [x](javascript:alert(1)) ![i](http://e) \\| \n\n# H \x1b[31m &lt;"
    text = report_markdown(make_run(answered("c1", passed=False, answer=nasty, strategy="s|<b>")))
    row = table(sections(text)["Failed cases"])[0]
    assert set(row) == {"case", "strategy", "repeat", "evaluators", "reason", "answer"}
    assert not re.search(r"[`<>\[\]\\\x00-\x1f]", row["answer"])
    assert "&#60;script&#62;" in row["answer"]
    assert "&#38;lt;" in row["answer"]
    assert "a &#124; b" in row["answer"]
    assert "<script" not in text
    assert "\x1b" not in text


# covers EVA-122
def test_without_previews_failed_cases_show_neither_answer_nor_reason():
    row = answered(
        "c1", passed=False, answer="secret", evaluations=(verdict(passed=False, failure_reason="secret"),)
    )
    text = report_markdown(make_run(row, previews=False))
    assert "secret" not in text
    assert table(sections(text)["Failed cases"])[0]["answer"] == "unavailable"


# covers EVA-114, GEN-081, GEN-082
def test_a_report_says_where_its_numbers_come_from_and_what_they_do_not_show():
    thresholds = Thresholds(max_calls=7).canonical()
    identity = {"budget": {"window_tokens": 4096}, "thresholds": thresholds}
    run = mixed_run(identity=identity, client_kind="stand-in:head")
    settings = {
        row["setting"]: row["value"] for row in table(sections(report_markdown(run))["Run configuration"])
    }
    assert settings["counter"] == "utf8_bytes_2"
    assert settings["client"] == "stand-in:head"
    assert settings["window tokens"] == "4096"
    assert settings["thresholds"] == "max_calls=7"
    assert settings["dataset SHA-256"] == "0" * 64
    assert settings["fingerprint"] == run.fingerprint
    assert re.fullmatch(r"\d+\.\d+\.\d+\S*", settings["ctxlab"])
    text = sections(report_markdown(run))["Run configuration"]
    assert "say nothing about any model" in text
    assert "words alone do not establish meaning" in text
    assert "estimates (utf8_bytes_2)" in text


# covers EVA-110, EVA-078
def test_an_attached_baseline_shows_which_cases_changed():
    now = make_run(answered("c1", passed=False), answered("c2", index=1), answered("c3", index=2))
    then = make_run(answered("c1"), answered("c2", passed=False, index=1), answered("c3", index=2))
    text = sections(report_markdown(now, baseline=then))["Regression comparison"]
    assert [(row["case"], row["transition"]) for row in table(text)] == [("c1", "broken"), ("c2", "fixed")]
    assert "3 cases compared with run" in text


# covers EVA-110
def test_both_files_stand_beside_each_other(tmp_path):
    run = make_run(answered("c1", facts=facts_found(2, in_context=1, in_answer=1)))
    paths = write_report(run, tmp_path, source=NO_SOURCE)
    assert [path.name for path in paths] == ["evaluation.json", "evaluation.md"]
    assert paths[1].read_text(encoding="utf-8") == report_markdown(run)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["evaluation.json", "evaluation.md"]
