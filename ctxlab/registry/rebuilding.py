"""The record of a run made again from its frames, as far as numbers go: what stored metrics are compared with.

Frames hold no text, so cases are stubs and contexts are empty; measures, metrics and comparisons see no difference.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import TYPE_CHECKING, Any

from ctxlab.calls import Usage
from ctxlab.dataset import Case, Dataset, Expected
from ctxlab.errors import IntegrityError
from ctxlab.messages import Message
from ctxlab.records import Call, FactResult, Row, Run
from ctxlab.registry.artifacts import demand_inside, open_plain, shown
from ctxlab.strategies.base import FittedContext, Receipt

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    import pandas as pd

    from ctxlab.registry.manifest import Manifest

NEEDED = ("results", "facts", "fits", "calls")
Key = tuple[str, str, int]
Records = dict[Key, list[dict[str, Any]]]
_STUB = Message(role="user", content="")


def read_frame(directory: Path, name: str) -> pd.DataFrame:
    """One frame of a run.

    Raises:
        IntegrityError: it is missing, a link, or cannot be read.
    """
    import polars as pl

    from ctxlab.tabulate import read_parquet

    path = f"frames/{name}.parquet"
    demand_inside(path)
    with open_plain(directory / path):
        pass
    try:
        return read_parquet(directory / path)
    except (pl.exceptions.PolarsError, OSError, KeyError, ValueError):
        raise IntegrityError(f"{shown(path)}: cannot be read as a frame") from None


def is_rebuildable(manifest: Manifest) -> bool:
    """Whether a run kept the frames that its record is made from; one that failed inside may not have."""
    kept = {artifact.path for artifact in manifest.artifacts}
    return all(f"frames/{name}.parquet" in kept for name in NEEDED)


def rebuilt_run(directory: Path, manifest: Manifest) -> Run:
    """The run of a directory, from its frames `results`, `facts`, `fits` and `calls`.

    Raises:
        IntegrityError: a frame is missing or does not go with the others.
    """
    results = read_frame(directory, "results")
    facts, fits, calls = (records_by_row(read_frame(directory, name)) for name in NEEDED[1:])
    rows, records = [], records_of(results)
    judged = judged_cases(records, facts)
    for record in records:
        key = (record["case_id"], record["strategy"], record["repeat"])
        case = _case(record, judged=judged[record["case_id"]] is not False)
        try:
            rows.append(_row(record, case, facts.get(key, []), fits.get(key, []), calls.get(key, [])))
        except (TypeError, KeyError, ValueError):
            raise IntegrityError("frames: a row does not go with its calls, facts or receipt") from None
    cases = {row.case_index: row.case for row in rows}
    return Run(
        run_id=manifest.run_id,
        fingerprint=manifest.fingerprint,
        input_identity=manifest.input_identity or "",
        identity=manifest.whole_identity or {},
        dataset=Dataset(
            path=manifest.dataset.name,
            sha256=manifest.dataset.sha256,
            cases=tuple(cases[index] for index in sorted(cases)),
        ),
        strategies=tuple(dict.fromkeys(row.strategy for row in rows)),
        repeats=max((row.repeat for row in rows), default=0) + 1,
        rows=tuple(rows),
        counter=str(results.attrs.get("counter")),
        client_kind=manifest.client.kind,
        model_requested=manifest.models.requested,
        prices=manifest.prices,
    )


def records_of(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """The rows of a frame, null as None."""
    import pandas as pd

    columns = {str(name): series.astype(object).tolist() for name, series in frame.items()}
    return [
        {name: None if pd.isna(values[place]) else values[place] for name, values in columns.items()}
        for place in range(len(frame))
    ]


def records_by_row(frame: pd.DataFrame) -> Records:
    """The rows of a frame by case, strategy and repeat."""
    found: Records = {}
    for record in records_of(frame):
        found.setdefault((record["case_id"], record["strategy"], record["repeat"]), []).append(record)
    return found


def _row(
    record: Mapping[str, Any],
    case: Case,
    facts: list[dict[str, Any]],
    fits: list[dict[str, Any]],
    calls: list[dict[str, Any]],
) -> Row:
    kept = (
        "case_index", "strategy", "strategy_kind", "repeat", "client_kind", "status", "started_at", "reason",
        "error_kind", "stage", "http_status", "request_tokens", "content_kind", "passed",
        "invented_identifiers", "context_invented_identifiers", "cost", "cost_uncached",
    )  # fmt: skip
    values: dict[str, Any] = {name: record.get(name) for name in kept}
    return Row(
        case=case,
        fitted=_fitted(record, fits[0]) if fits else None,
        calls=_calls(record, calls),
        facts=tuple(_of(FactResult, fact) for fact in facts),
        **values,
    )


def judged_cases(results: Iterable[Mapping[str, Any]], facts: Records) -> dict[str, bool | None]:
    """Whether an answer to each case is judged; null where no completed row and no fact tells."""
    found: dict[str, bool | None] = {}
    for record in results:
        case_id = record["case_id"]
        key = (case_id, record["strategy"], record["repeat"])
        if any(fact["where"] != "context" for fact in facts.get(key, [])):
            found[case_id] = True
        elif record["status"] == "completed":
            found[case_id] = record["passed"] is not None
        else:
            found.setdefault(case_id, None)
    return found


def _case(record: Mapping[str, Any], *, judged: bool) -> Case:
    """A stub: whether an answer is judged is all that is left of what was expected."""
    return Case(
        id=record["case_id"],
        schema_version="1.1",
        category=record["category"],
        language=record["language"],
        messages=(_STUB,),
        expected=Expected() if judged else None,
        facts=(),
    )


def _fitted(record: Mapping[str, Any], fit: Mapping[str, Any]) -> FittedContext:
    known = {field.name for field in fields(Receipt)} & set(fit)
    receipt = Receipt(
        **{name: fit[name] for name in known if name not in ("flags", "strategy")},
        strategy=record["strategy"],
        parameters={},
        outcome=record["outcome"],
        reason=record["reason"],
        flags=tuple((fit["flags"] or "").split(";")) if fit["flags"] else (),
    )
    sent = () if record["outcome"] in ("refused", "not_applicable", "failed") else (_STUB,)
    return FittedContext(messages=sent, outcome=record["outcome"], receipt=receipt, ledger=())


def _calls(record: Mapping[str, Any], calls: list[dict[str, Any]]) -> tuple[Call, ...]:
    """The calls of a row. Which failed ones never reached the platform is no column; the row's sum tells."""
    made = {index: [_call(one) for one in calls if one["call_index"] == index] for index in _indices(calls)}
    unsure = [index for index, attempts in made.items() if not any(map(_surely_reached, attempts))]
    sums = {sum(made[i][-1].estimated_tokens for i in made if i not in unsure): frozenset(unsure)}
    for index in unsure:
        more = made[index][-1].estimated_tokens
        sums = {**{total + more: left - {index} for total, left in sums.items()}, **sums}
    if record["sent_tokens"] is not None and record["sent_tokens"] not in sums:
        raise ValueError("sent_tokens")
    lost = sums.get(record["sent_tokens"], frozenset())
    return tuple(
        replace(call, reached=index not in lost) for index, attempts in made.items() for call in attempts
    )


def _indices(calls: list[dict[str, Any]]) -> list[int]:
    return list(dict.fromkeys(call["call_index"] for call in calls))


def _surely_reached(call: Call) -> bool:
    return call.outcome == "completed" or call.http_status is not None


def _call(call: Mapping[str, Any]) -> Call:
    usage = Usage(**{field.name: call[field.name] for field in fields(Usage) if field.name in call})
    names = {field.name for field in fields(Call)} & set(call)
    return Call(
        **{name: call[name] for name in names},
        kind=call["call_kind"],
        generation_index=call["generation"],
        usage=usage,
    )


def _of(kind: Any, record: Mapping[str, Any]) -> Any:
    return kind(**{field.name: record[field.name] for field in fields(kind)})
