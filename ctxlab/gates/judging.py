"""Gates judged on the record of a run, with exact arithmetic: all of them, in table order, also after a failure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from ctxlab.errors import InputError
from ctxlab.gates.limits import LATENCY_GATES, option
from ctxlab.gates.rules import REFERENCE, Bench, judge_recall_drop, side_of
from ctxlab.gates.transitions import transitions
from ctxlab.metrics import is_offline
from ctxlab.records import GateResult
from ctxlab.statistics import exact

if TYPE_CHECKING:
    from collections.abc import Sequence
    from fractions import Fraction

    from ctxlab.gates.limits import GateLimits
    from ctxlab.gates.transitions import Transition
    from ctxlab.records import Row, Run


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What the gates of a run came to.

    Attributes:
        results: one per strategy and gate, in table order.
        notes: what a reader has to know beside it, one line each: other settings, another dataset.
        changes: the cases of both runs, if there is a baseline.
    """

    run_id: str
    fingerprint: str
    counter: str
    results: tuple[GateResult, ...]
    notes: tuple[str, ...] = ()
    changes: tuple[Transition, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether every gate passed."""
        return all(one.passed is True for one in self.results)


def judge_gates(
    current: Run,
    limits: GateLimits,
    *,
    baseline: Run | None = None,
    strategy: str | None = None,
    category: str | None = None,
    tag: str | None = None,
    allow_different_dataset: bool = False,
    client_s: float | None = None,
) -> Verdict:
    """Judge a run, alone or against a baseline.

    Args:
        current: the run.
        limits: what it has to keep to.
        baseline: the run to compare with.
        strategy: which strategy is judged; needed if there are several and another gate than `max_recall_drop`.
        category: judge only the rows of cases of this category.
        tag: judge only the rows of cases with this tag.
        allow_different_dataset: compare although dataset hash or case ids differ, and say so.
        client_s: seconds that the client alone takes (`client_latency`); null leaves latency gates unquestioned.

    Raises:
        InputError: the runs cannot be compared, or the strategy, category or tag is in none of the rows.
    """
    _demand_baseline(limits, baseline)
    notes = _parts(current, baseline)
    if baseline is not None:
        notes += _notes(current, baseline, allowed=allow_different_dataset)
    now = _selected(current, category=category, tag=tag)
    then = None if baseline is None else _selected(baseline, category=category, tag=tag)
    changes = () if then is None else transitions(now, then)
    results: list[GateResult] = []
    plain = {name: limit for name, limit in limits.limits.items() if name != "max_recall_drop"}
    if plain:
        judged = side_of(now, _strategy_of(now, strategy))
        compared = None if then is None else side_of(then, judged.strategy)
        bench = Bench(
            limits=limits,
            current=judged,
            baseline=compared,
            changes=tuple(one for one in changes if one.strategy == judged.strategy),
            client_s=None if client_s is None else exact(client_s),
        )
        results += [bench.judge(name, limit) for name, limit in plain.items()]
    if limits.max_recall_drop is not None:
        results += _recall_drops(now, limits, limits.max_recall_drop, strategy)
    return Verdict(
        run_id=current.run_id,
        fingerprint=current.fingerprint,
        counter=current.counter,
        results=tuple(results),
        notes=notes,
        changes=changes,
    )


def workers_to_measure(run: Run, limits: GateLimits) -> int | None:
    """At how many workers the client alone has to be measured; null if no gate asks, or no client stood in between."""
    if not LATENCY_GATES & set(limits.limits) or run.client_kind.startswith("stand-in") or is_offline(run):
        return None
    workers: Any = run.identity.get("concurrency")
    return int(workers or 1)


def not_evaluated(run: Run, limits: GateLimits, *, strategy: str) -> tuple[GateResult, ...]:
    """The gates of a run that was interrupted or had an operational error: none is evaluated (GEN-041)."""
    why = "the run was interrupted" if run.incomplete else "a row ended in an operational error"
    return tuple(
        GateResult(
            strategy=strategy,
            gate=name,
            passed=None,
            current=None,
            baseline=None,
            threshold=limit,
            state="not_evaluated",
            explanation=why,
        )
        for name, limit in limits.limits.items()
    )


# What is judged


def _strategy_of(run: Run, wanted: str | None) -> str:
    """The strategy that is judged (EVA-074)."""
    if wanted is None and len(run.strategies) > 1:
        raise InputError(f"--strategy: is needed; the report has {len(run.strategies)} strategies")
    if wanted is not None and wanted not in run.strategies:
        raise InputError("--strategy: is not in the report")
    return wanted or run.strategies[0]


def _selected(run: Run, *, category: str | None, tag: str | None) -> Run:
    """The run with the rows that are judged."""
    rows: Sequence[Row] = run.rows
    if category is not None:
        rows = [row for row in rows if row.case.category == category]
    if tag is not None:
        rows = [row for row in rows if tag in row.case.metadata.tags]
    if not rows:
        raise InputError(f"{'--tag' if tag is not None else '--category'}: no row is left to judge")
    return replace(run, rows=tuple(rows))


def _demand_baseline(limits: GateLimits, baseline: Run | None) -> None:
    if baseline is None and limits.need_baseline:
        raise InputError(f"{option(limits.need_baseline[0])}: needs --baseline")


def _notes(current: Run, baseline: Run, *, allowed: bool) -> tuple[str, ...]:
    """What differs between two runs; another dataset is refused unless it is allowed (EVA-077)."""
    differs = []
    if current.dataset.sha256 != baseline.dataset.sha256:
        differs.append("contents of the dataset")
    if {row.case.id for row in current.rows} != {row.case.id for row in baseline.rows}:
        differs.append("case ids")
    if differs and not allowed:
        raise InputError(
            f"--baseline: {' and '.join(differs)} are not those of the current report; "
            "--allow-different-dataset compares all the same"
        )
    notes = [f"compared although {' and '.join(differs)} are not the same"] if differs else []
    settings = [name for name, one, other in _settings(current, baseline) if one != other]
    return (*notes, *([f"the runs differ in {', '.join(settings)}"] if settings else []))


def _parts(current: Run, baseline: Run | None) -> tuple[str, ...]:
    """Which of the runs are parts only."""
    named = (("current run", current), ("baseline", baseline))
    return tuple(f"the {name} was interrupted" for name, run in named if run is not None and run.incomplete)


def _settings(current: Run, baseline: Run) -> list[tuple[str, Any, Any]]:
    names = ("budget", "thresholds", "concurrency")
    return [
        ("model", current.model_requested, baseline.model_requested),
        ("counter", current.counter, baseline.counter),
        *((name, current.identity.get(name), baseline.identity.get(name)) for name in names),
    ]


def _recall_drops(run: Run, limits: GateLimits, limit: Fraction, strategy: str | None) -> list[GateResult]:
    """`max_recall_drop` for the strategy that is named; with `full` or none, for every other strategy."""
    if REFERENCE not in run.strategies:
        raise InputError(f"{option('max_recall_drop')}: the report has no strategy {REFERENCE}")
    others = [name for name in run.strategies if name != REFERENCE]
    if strategy not in (None, REFERENCE):
        others = [_strategy_of(run, strategy)]
    if not others:
        raise InputError(f"{option('max_recall_drop')}: needs a strategy besides {REFERENCE}")
    reference = side_of(run, REFERENCE)
    return [judge_recall_drop(side_of(run, name), reference, limits, limit) for name in others]
