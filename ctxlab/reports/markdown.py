"""The report that people read: sections in a fixed order, every number from metrics, every cell escaped (EVA-110 to 114)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ctxlab.display import UNKNOWN
from ctxlab.errors import ERROR_MESSAGES
from ctxlab.frames import joined
from ctxlab.gates.transitions import transitions
from ctxlab.metrics import Metrics, is_offline, kind_metrics, metrics, metrics_of
from ctxlab.paired import compare_strategies
from ctxlab.records import FATES
from ctxlab.sentences import limitations
from ctxlab.tables import provenance_table
from ctxlab.text import escaped, preview

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.metrics import By
    from ctxlab.paired import Comparison
    from ctxlab.records import GateResult, Row, Run

NONE = "None."
ALL = "(all)"
"""Stands in place of a strategy for all rows together."""

NO_INTERVAL = 1
"""Resamples where no interval is told; each costs a draw of all cases."""

Table = list[dict[str, str]]
Groups = list[tuple[str, Metrics]]


def report_markdown(run: Run, *, baseline: Run | None = None) -> str:
    """The report of a run as Markdown; with a baseline, the cases that changed since stand at its end."""
    groups = _groups(run)
    parts = [f"# Evaluation of {escaped(run.dataset.path.rpartition('/')[2])}"]
    for heading, blocks in (
        ("Run configuration", [_table(_configuration(run)), *_limits(run)]),
        ("Aggregate quality", [_table(_quality(groups))]),
        ("Recall by strategy and kind", _recall(run, groups)),
        ("Paired differences", [_table(_differences(run))]),
        ("Latency", [_table(_latency(run, groups))]),
        ("Token usage and cost", [_table(_usage(run, groups))]),
        ("Failed cases", [_table([_failed(run, row) for row in run.rows if _has_failed(row)])]),
        ("Refused cases", [_table([_refused(row) for row in run.rows if row.status == "refused"])]),
        ("Error cases", [_table([_in_error(row) for row in run.rows if row.status == "error"])]),
        ("Regression comparison", _regression(run, baseline)),
    ):
        parts += [f"## {heading}", *([block for block in blocks if block] or [NONE])]
    return "\n\n".join(parts) + "\n"


# Cells


def percent(value: Any, *, sign: str = "") -> str:
    """A share as percent with two decimals."""
    return UNKNOWN if value is None else f"{100 * float(value):{sign}.2f}%"


def seconds(value: Any, *, sign: str = "") -> str:
    """Seconds with six decimals."""
    return UNKNOWN if value is None else f"{float(value):{sign}.6f}"


def number(value: Any, *, sign: str = "") -> str:
    """A whole number as it is, another with six significant digits."""
    if value is None:
        return UNKNOWN
    return f"{value:{sign}d}" if isinstance(value, int) else f"{float(value):{sign}.6g}"


def _table(rows: Sequence[dict[str, str]]) -> str:
    """Rows as a table with a header; the cells are escaped already. Nothing for no rows."""
    if not rows:
        return ""
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


# Sections


def _configuration(run: Run) -> Table:
    rows = provenance_table(run).to_dict(orient="records")
    return [{"setting": escaped(row["what"]), "value": escaped(row["value"])} for row in rows]


def _limits(run: Run) -> list[str]:
    return ["What these numbers do not show:", "\n".join(f"- {escaped(text)}" for text in limitations(run))]


def _groups(run: Run, by: Sequence[By] = ()) -> Groups:
    """Metrics per strategy, and without `by` those of all rows when there are several strategies."""
    found = [(escaped(group.strategy or ALL), group) for group in metrics(run, by, resamples=NO_INTERVAL)]
    if not by and len(run.strategies) > 1:
        found.append((ALL, metrics_of(run.rows, offline=is_offline(run), resamples=NO_INTERVAL)))
    return found


def _quality(groups: Groups) -> Table:
    return [
        {
            "strategy": name,
            "rows": number(group.rows),
            "completed": number(group.completed),
            "passed": number(group.passed),
            "failed": number(group.failed),
            "errors": number(group.errors),
            "refused": number(group.refused),
            "unjudged": number(group.unjudged),
            "not run": number(group.not_run),
            "pass rate": percent(group.pass_rate),
            "error rate": percent(group.error_rate),
            "refused rate": percent(group.refused_rate),
        }
        for name, group in groups
    ]


def _recall(run: Run, groups: Groups) -> list[str]:
    """Recall and fates side by side (EVA-024), then per kind, category and language (EVA-029)."""
    if not any(row.facts for row in run.rows):
        return []
    whole = [
        {
            "strategy": name,
            "context recall": percent(group.context_recall),
            "context recall (pooled)": percent(group.context_recall_pooled),
            "answer recall": percent(group.answer_recall),
            "answer recall (pooled)": percent(group.answer_recall_pooled),
            "evidence recall": percent(group.evidence_recall),
            **_fates(group),
            "invented in answers": number(group.invented_identifiers),
            "invented in contexts": number(group.context_invented_identifiers),
        }
        for name, group in groups
    ]
    kinds = [
        {
            "strategy": escaped(group.strategy),
            "kind": group.kind,
            "facts": number(group.facts),
            "context recall (pooled)": percent(group.context_recall),
            "answer recall (pooled)": percent(group.answer_recall),
            **_fates(group),
        }
        for group in kind_metrics(run)
    ]
    return [_table(whole), _table(kinds), *(_table(_recall_by(run, by)) for by in ("category", "language"))]


def _recall_by(run: Run, by: By) -> Table:
    return [
        {
            "strategy": name,
            by: escaped(group.group[0]),
            "context recall (pooled)": percent(group.context_recall_pooled),
            "answer recall (pooled)": percent(group.answer_recall_pooled),
            **_fates(group),
        }
        for name, group in _groups(run, (by,))
    ]


def _fates(group: Any) -> dict[str, str]:
    return {fate.replace("_", " "): number(getattr(group, fate)) for fate in FATES}


def _differences(run: Run) -> Table:
    if "full" not in run.strategies or len(run.strategies) < 2:
        return []
    return [_difference(one) for one in compare_strategies(run) if one.pairs or one.dropped]


def _difference(one: Comparison) -> dict[str, str]:
    show = {"total_duration_s": seconds, "input_tokens": number, "cost": number}.get(one.metric, percent)
    dropped = ", ".join(f"{count} {reason.replace('_', ' ')}" for reason, count in one.dropped.items())
    return {
        "strategy": escaped(one.strategy),
        "metric": one.metric.replace("_", " "),
        "cases": one.set.replace("_", " "),
        "pairs": number(one.pairs),
        "dropped": dropped or "0",
        "difference from full": show(one.difference, sign="+"),
        "interval": UNKNOWN
        if one.low is None
        else f"{show(one.low, sign='+')} to {show(one.high, sign='+')}",
        "level": percent(one.level),
        "resamples, seed": f"{one.resamples}, {one.seed}",
        "higher, lower, equal": f"{number(one.wins)}, {number(one.losses)}, {number(one.ties)}",
        "p": number(one.p),
        "p (Holm)": number(one.p_holm),
        "test": one.test or UNKNOWN,
    }


def _latency(run: Run, groups: Groups) -> Table:
    streamed = any(call.ttft_s is not None for row in run.rows for call in row.calls)
    mode = "" if streamed else " (buffered mode)"
    return [
        {
            "strategy": name,
            "mean s": seconds(group.duration_mean_s),
            "p50 s": seconds(group.duration_p50_s),
            "p95 s": seconds(group.duration_p95_s),
            "TTFT p50 s": seconds(group.ttft_p50_s) + mode,
            "TTFT p95 s": seconds(group.ttft_p95_s) + mode,
        }
        for name, group in groups
    ]


def _usage(run: Run, groups: Groups) -> Table:
    currency = f" {run.prices.currency}" if run.prices else ""
    return [
        {
            "strategy": name,
            "source tokens (mean)": number(group.source_tokens_mean),
            "result tokens (mean, p95, most)": ", ".join(
                map(number, (group.result_tokens_mean, group.result_tokens_p95, group.result_tokens_max))
            ),
            "sent tokens": number(group.sent_tokens),
            "prompt tokens": number(group.prompt_tokens),
            "completion tokens": number(group.completion_tokens),
            "input tokens, all calls": number(group.input_tokens),
            "output tokens, all calls": number(group.output_tokens),
            "cached tokens": number(group.cached_tokens),
            "calls": number(group.calls),
            "calls with usage": number(group.usage_responses),
            escaped(f"cost{currency}"): number(group.cost),
            "cost, nothing cached": number(group.cost_uncached),
            "rows without cost": number(group.rows_without_cost),
        }
        for name, group in groups
    ]


def _has_failed(row: Row) -> bool:
    return row.status == "completed" and row.passed is False


def _row(row: Row) -> dict[str, str]:
    return {"case": escaped(row.case.id), "strategy": escaped(row.strategy), "repeat": number(row.repeat)}


def _failed(run: Run, row: Row) -> dict[str, str]:
    bad = [one for one in row.evaluations if not one.passed]
    reasons = [one.failure_reason for one in bad if one.failure_reason] if run.previews else []
    answer = preview(row.answer) if run.previews and row.answer is not None else None
    return {
        **_row(row),
        "evaluators": escaped(joined(one.name for one in bad) or UNKNOWN),
        "reason": escaped("; ".join(reasons)) or UNKNOWN,
        "answer": UNKNOWN if answer is None else escaped(answer),
    }


def _refused(row: Row) -> dict[str, str]:
    return {
        **_row(row),
        "reason": escaped(row.reason or UNKNOWN),
        "request": ERROR_MESSAGES["budget_exceeded"],
    }


def _in_error(row: Row) -> dict[str, str]:
    return {
        **_row(row),
        "kind": escaped(row.error_kind or UNKNOWN),
        "stage": row.stage or UNKNOWN,
        "HTTP status": number(row.http_status),
        "message": ERROR_MESSAGES.get(row.error_kind or "", UNKNOWN),
    }


def _regression(run: Run, baseline: Run | None) -> list[str]:
    changed = transitions(run, baseline) if baseline is not None else ()
    return [
        _table([_gate(one) for one in run.gates]),
        _table(
            [
                {
                    "strategy": escaped(one.strategy),
                    "case": escaped(one.case_id),
                    "transition": one.transition,
                }
                for one in changed
                if one.transition != "unchanged"
            ]
        ),
        f"{len(changed)} cases compared with run {escaped(baseline.run_id)}." if baseline is not None else "",
    ]


def _gate(one: GateResult) -> dict[str, str]:
    return {
        "strategy": escaped(one.strategy),
        "gate": one.gate,
        "state": one.state.replace("_", " "),
        "current": number(one.current),
        "baseline": number(one.baseline),
        "threshold": number(one.threshold),
        "explanation": escaped(one.explanation),
    }
