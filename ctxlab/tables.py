"""Tables for readers: one question about a run each, as frames of strings for `show_table`.

Every number is taken from records, metrics or frames; here it is only chosen, named and formatted (GEN-012).
"""

from __future__ import annotations

from collections import Counter
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ctxlab import measures
from ctxlab.budget import MAXIMUM_TOKENS
from ctxlab.display import NOTHING, UNKNOWN, as_strings, metrics_table, shown
from ctxlab.experiments import versions
from ctxlab.frames import attributes, comparisons_frame, results_frame
from ctxlab.messages import Synthetic
from ctxlab.metrics import kind_metrics, metrics
from ctxlab.strategies.ledger import source_parts
from ctxlab.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd

    from ctxlab.dataset import Case
    from ctxlab.paired import Metric
    from ctxlab.records import FactResult, Row, Run

__all__ = [
    "answers_table", "cases_table", "differences_table", "failures_table", "fates_table", "kinds_table",
    "losses_table", "metrics_table", "provenance_table", "times_table",
]  # fmt: skip

MOST_ROWS = 60
"""Rows that a table of rows or facts shows; what is left out is counted in its last line."""


def cases_table(run: Run) -> pd.DataFrame:
    """What is compared: one row per case, with its size."""
    sizes = {row.case_index: measures.source_tokens(row) for row in run.rows}
    cases = [_case(case, sizes.get(i)) for i, case in enumerate(run.dataset)]
    return table_of(run, bounded(cases))


def _case(case: Case, tokens: int | None) -> dict[str, str]:
    users = [m for m in case.messages if m.role == "user" and not isinstance(m, Synthetic)]
    return {
        "case": case.id,
        "category": case.category,
        "language": shown(case.language, "text"),
        "messages": shown(len(case.messages), "count"),
        "turns": shown(len(users), "count"),
        "snippets": shown(len(case.snippets), "count"),
        "facts": shown(len(case.facts), "count"),
        "characters": shown(sum(len(text) for _, text in source_parts(case)), "count"),
        "tokens": shown(tokens, "count"),
    }


FAILURES = (
    ("case_id", "case", "text"),
    ("strategy", "strategy", "text"),
    ("repeat", "repeat", "count"),
    ("status", "status", "text"),
    ("stage", "stage", "text?"),
    ("reason", "reason", "text?"),
    ("error_kind", "error", "text?"),
    ("http_status", "HTTP status", "text?"),
    ("total_duration_s", "seconds", "seconds?"),
)


def failures_table(run: Run) -> pd.DataFrame:
    """The rows that were refused, ended in an error or were not run; none is a good sign."""
    results = results_frame(run)
    bad = results[results["status"].isin(["refused", "error", "not_run"])]
    return _of_results(run, bad, FAILURES)


DIFFERENCES = (
    ("strategy", "strategy", "text"),
    ("metric", "metric", "text"),
    ("set", "set of cases", "text"),
    ("pairs", "pairs", "count"),
    ("dropped", "dropped", "count"),
    ("difference", "difference", "change"),
    ("low", "from", "change"),
    ("high", "to", "change"),
    ("wins", "higher", "count?"),
    ("losses", "lower", "count?"),
    ("ties", "equal", "count?"),
    ("p", "p", "share?"),
    ("p_holm", "p (Holm)", "share?"),
)


def differences_table(run: Run, metrics: Sequence[Metric], *, baseline: str = "full") -> pd.DataFrame:
    """Every strategy against the baseline on the same cases, in these metrics and in both sets of cases.

    `completed` takes cases that both sides completed; `with_refused` counts a refused row as recall 0; `both` stands
    where they say the same. The interval goes from `from` to `to`. A metric that no pair has is left out.
    """
    frame = comparisons_frame(run, baseline)
    kept = frame[frame["metric"].isin(list(metrics)) & (frame["pairs"] > 0)]
    order = {metric: i for i, metric in enumerate(metrics)}
    ranked = kept.sort_values(by="metric", key=lambda column: column.map(order), kind="stable")
    told = as_strings(ranked, DIFFERENCES)
    others = [name for name in told.columns if name != "set of cases"]
    told.loc[told.duplicated(others, keep=False), "set of cases"] = "both"
    return told.drop_duplicates(ignore_index=True)


def kinds_table(run: Run) -> pd.DataFrame:
    """Pooled recall per kind of fact and strategy: answer recall, or context recall where no model answered."""
    groups = kind_metrics(run)
    answered = any(group.answer_recall is not None for group in groups)
    rows: dict[str, dict[str, str]] = {}
    for group in groups:
        recall = group.answer_recall if answered else group.context_recall
        row = rows.setdefault(group.kind, {"kind": group.kind, "facts": shown(group.facts, "count")})
        row[group.strategy] = shown(recall, "share")
    return table_of(run, list(rows.values()))


def fates_table(run: Run) -> pd.DataFrame:
    """What became of the facts under each strategy, and what was invented beside them.

    A missing fact was `lost before` the question if it is not in the context, else it was `not said`.
    """
    return table_of(run, [_fates(run, group.strategy or "", group) for group in metrics(run)])


def _fates(run: Run, strategy: str, group: Any) -> dict[str, str]:
    facts = [fact for row in run.rows if row.strategy == strategy for fact in row.facts]
    missing = [fact for fact in facts if fact.fate == "missing"]
    counts = {
        "facts": len(facts),
        "in context": _known(fact.in_context for fact in facts),
        "retained": group.retained,
        "lost before": sum(fact.in_context is False for fact in missing),
        "not said": sum(fact.in_context is True for fact in missing),
        "reversed": group.reversed,
        "false claims": group.unsupported_claim,
        "not judged": group.not_judged,
        "invented in answers": group.invented_identifiers,
        "invented in contexts": group.context_invented_identifiers,
    }
    return {"strategy": strategy, **{name: shown(count, "count") for name, count in counts.items()}}


def _known(found: Iterable[bool | None]) -> int | None:
    return measures.add_known(None if one is None else int(one) for one in found)


def losses_table(run: Run) -> pd.DataFrame:
    """Where each fact was lost: one row per case and fact, one column per strategy; ids and kinds only.

    `kept` is in the answer with its status; `not in context` was lost by the strategy, `not in answer` by the
    model, `status not stated` is named without what holds for it; with repeats a cell counts them.
    """
    cells: dict[tuple[int, str], dict[str, list[str]]] = {}
    kinds: dict[tuple[int, str], tuple[str, str]] = {}
    for row in run.rows:
        for fact in row.facts:
            key = row.case_index, fact.fact_id
            kinds[key] = row.case.id, fact.kind
            cells.setdefault(key, {}).setdefault(row.strategy, []).append(_fate(row, fact))
    rows = [
        {
            "case": kinds[key][0],
            "fact": key[1],
            "kind": kinds[key][1],
            **{strategy: _counted(fates.get(strategy, [])) for strategy in run.strategies},
        }
        for key, fates in cells.items()
    ]
    return table_of(run, bounded(rows))


def _fate(row: Row, fact: FactResult) -> str:
    """One word or two for what became of a fact in one row."""
    if row.status in ("refused", "error", "not_run"):
        return row.status.replace("_", " ")
    if fact.fate == "missing":
        if fact.in_answer:
            return "status not stated"
        return "not in answer" if fact.in_context or fact.where == "answer" else "not in context"
    if fact.fate == "not_judged" and fact.in_context is not None:
        return "in context" if fact.in_context else "not in context"
    return {"retained": "kept", "not_judged": "not judged"}.get(fact.fate, fact.fate.replace("_", " "))


def _counted(fates: Sequence[str]) -> str:
    """The fate, or with repeats each fate with its number."""
    found = Counter(fates)
    if len(fates) < 2:
        return "".join(found) or NOTHING
    return ", ".join(f"{number} {fate}" for fate, number in found.items())


def times_table(run: Run) -> pd.DataFrame:
    """How long each strategy took, helper calls and answers apart; the sums leave out what was not measured."""
    return table_of(run, [_times(run, group.strategy or "", group) for group in metrics(run)])


def _times(run: Run, strategy: str, group: Any) -> dict[str, str]:
    rows = [row for row in run.rows if row.strategy == strategy]
    return {
        "strategy": strategy,
        "rows": shown(len(rows), "count"),
        "calls": shown(group.calls, "count"),
        "reused calls": shown(sum(call.reused for row in rows for call in row.last_calls), "count"),
        "total s": shown(_sum(map(measures.total_duration_s, rows)), "seconds"),
        "of it in summaries s": shown(_sum(map(measures.helper_duration_s, rows)), "seconds?"),
        "of it in answers s": shown(_sum(map(measures.duration_s, rows)), "seconds"),
        "p50 s": shown(group.duration_p50_s, "seconds"),
        "p95 s": shown(group.duration_p95_s, "seconds"),
        "p50 to first token s": shown(group.ttft_p50_s, "seconds"),
    }


def _sum(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


ANSWERS = (
    ("case_id", "case", "text"),
    ("strategy", "strategy", "text"),
    ("repeat", "repeat", "count"),
    ("status", "status", "text"),
    ("answer_recall", "answer recall", "share?"),
    ("invented_identifiers", "invented", "count?"),
    ("finish_reason", "finish reason", "text?"),
    ("preview", "beginning of the answer", "text?"),
)


def answers_table(run: Run) -> pd.DataFrame:
    """The beginning of each answer, one line of at most 240 characters."""
    return _of_results(run, results_frame(run), ANSWERS)


def provenance_table(run: Run) -> pd.DataFrame:
    """Where the numbers come from: one row per setting that shapes them."""
    facts = {**_identity(run), **_settings(run), **{f"client: {k}": v for k, v in run.client_facts.items()}}
    rows = [
        {"what": name, "value": UNKNOWN if value is None else str(value)} for name, value in facts.items()
    ]
    return table_of(run, rows)


def _identity(run: Run) -> dict[str, object]:
    return {
        "run": run.run_id,
        "fingerprint": run.fingerprint,
        "complete": "no: it was interrupted" if run.incomplete else "yes",
        "dataset": PurePath(run.dataset.path).name,
        "dataset SHA-256": run.dataset.sha256,
        "cases": len(run.dataset),
        "warnings": "; ".join(run.warnings) or "none",
        "client": run.client_kind,
        "model": run.model_requested,
        "models observed": ", ".join(sorted(_observed(run))) or None,
        "counter": run.counter,
        **versions(),
        "commit": run.identity.get("commit"),
    }


def _observed(run: Run) -> set[str]:
    calls = (call for row in run.rows for call in row.calls)
    return {call.model_observed for call in calls if call.model_observed is not None}


def _settings(run: Run) -> dict[str, object]:
    """The settings of the identity that a reader asks for first."""
    identity: Mapping[str, Any] = run.identity
    temperature, max_tokens, seed = identity.get("generation") or (None, None, None)
    prompts, evaluators = identity.get("prompts") or [None], identity.get("evaluators")
    return {
        "strategies": ", ".join(run.strategies),
        "repeats": run.repeats,
        **{name.replace("_", " "): _size(value) for name, value in (identity.get("budget") or {}).items()},
        "thresholds": _changed(identity.get("thresholds") or {}),
        "temperature": "as the case or the client sets it" if temperature is None else temperature,
        "max tokens": "as the case or the client sets it" if max_tokens is None else max_tokens,
        "seed": "none" if seed is None else seed,
        "workers": identity.get("concurrency"),
        "attempts per call": identity.get("attempts"),
        "version of prompts": prompts[0],
        "version of evaluators": evaluators,
    }


def _size(tokens: int) -> object:
    """A size of the budget; a window as large as can be is that of `eval`, which has no allowance gate."""
    return "no limit" if tokens == MAXIMUM_TOKENS else tokens


def _changed(thresholds: Mapping[str, Any]) -> str:
    """The thresholds that differ from their defaults."""
    defaults = Thresholds().canonical()
    changed = [f"{name}={value}" for name, value in thresholds.items() if value != defaults.get(name)]
    return ", ".join(changed) or "all at their defaults"


# Making tables


def table_of(run: Run, rows: Sequence[Mapping[str, str]]) -> pd.DataFrame:
    """Rows of strings by heading; a column that says nothing in any row is left out."""
    import pandas as pd

    table = pd.DataFrame([dict(row) for row in rows], dtype="string")
    silent = [name for name in table.columns if len(table) and table[name].isin([UNKNOWN, NOTHING]).all()]
    table = table.drop(columns=silent)
    table.attrs.update(attributes(run))
    return table


def _of_results(run: Run, rows: pd.DataFrame, columns: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """Rows of the `results` frame; the number of the repeat only if there are several."""
    told = [column for column in columns if column[0] != "repeat" or run.repeats > 1]
    strings = as_strings(rows, told)
    if strings.empty:
        return strings
    records = strings.to_dict(orient="records")
    return table_of(run, bounded([{str(k): str(v) for k, v in record.items()} for record in records]))


def bounded(rows: Sequence[dict[str, str]]) -> list[dict[str, str]]:
    """The first rows, and a last one that counts the others."""
    if len(rows) <= MOST_ROWS:
        return list(rows)
    first, *others = rows[0]
    further = {first: f"and {len(rows) - MOST_ROWS:,} more", **dict.fromkeys(others, NOTHING)}
    return [*rows[:MOST_ROWS], further]
