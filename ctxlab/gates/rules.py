"""What each gate compares, for one strategy: a number of `metrics` with its limit, both exact.

Nothing is computed here that `metrics` computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab import measures
from ctxlab.errors import InputError
from ctxlab.gates.noise import decide
from ctxlab.metrics import is_offline, metrics_of
from ctxlab.records import GateResult
from ctxlab.statistics import exact

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from fractions import Fraction

    from ctxlab.gates.limits import GateLimits
    from ctxlab.gates.transitions import Transition
    from ctxlab.metrics import Metrics
    from ctxlab.records import Run

REFERENCE = "full"
"""The strategy that the recall of the others is compared with."""
MOST_CLIENT_SHARE = 10
"""A latency gate is refused if the client alone takes more than this part, a tenth, of what is allowed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One strategy of one run: its metrics, and how many durations they stand on."""

    strategy: str
    group: Metrics
    durations: int


def side_of(run: Run, strategy: str) -> Side:
    """One strategy of a run; raises `InputError` if the run has no row of it."""
    rows = [row for row in run.rows if row.strategy == strategy]
    if not rows:
        raise InputError("--baseline: has no row of the strategy that is judged")
    return Side(
        strategy=strategy,
        group=metrics_of(rows, strategy=strategy, offline=is_offline(run), resamples=1),
        durations=sum(measures.total_duration_s(row) is not None for row in rows),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    """What the gates of one strategy are judged by."""

    limits: GateLimits
    current: Side
    baseline: Side | None
    changes: tuple[Transition, ...]
    client_s: Fraction | None

    def judge(self, gate: str, limit: Fraction) -> GateResult:
        """One gate."""
        return _RULES[gate](self, gate, limit)

    def result(
        self,
        gate: str,
        limit: Fraction,
        passed: bool,
        explanation: str,
        current: Fraction | None,
        baseline: Fraction | None = None,
    ) -> GateResult:
        """The result of a gate that was evaluated."""
        return GateResult(
            strategy=self.current.strategy,
            gate=gate,
            passed=passed,
            current=current,
            baseline=baseline,
            threshold=limit,
            state="passed" if passed else "failed",
            explanation=explanation,
        )

    def at_least(self, gate: str, limit: Fraction, value: Fraction | None, what: str) -> GateResult:
        """A value that is at least the limit."""
        if value is None:
            return self.result(gate, limit, False, f"{what} is unavailable", None)
        passed = value >= limit
        return self.result(
            gate, limit, passed, f"{what} {told(value)} is {_bound(passed, 'at least')} {told(limit)}", value
        )

    def at_most(self, gate: str, limit: Fraction, value: Fraction | None, what: str) -> GateResult:
        """A value that is at most the limit."""
        if value is None:
            return self.result(gate, limit, False, f"{what} is unavailable", None)
        passed = value <= limit
        return self.result(
            gate, limit, passed, f"{what} {told(value)} is {_bound(passed, 'at most')} {told(limit)}", value
        )

    def pass_rate(self, gate: str, limit: Fraction) -> GateResult:
        """`min_pass_rate`."""
        return self.at_least(gate, limit, self.current.group.pass_rate, "pass rate")

    def error_rate(self, gate: str, limit: Fraction) -> GateResult:
        """`max_error_rate`."""
        return self.at_most(gate, limit, self.current.group.error_rate, "error rate")

    def recall(self, gate: str, limit: Fraction) -> GateResult:
        """`min_recall`."""
        kind = self.limits.recall
        return self.at_least(gate, limit, _recall(self.current.group, kind), f"{kind} recall")

    def pass_rate_drop(self, gate: str, limit: Fraction) -> GateResult:
        """`max_pass_rate_drop`: the rates compared, or the paired test."""
        now = self.current.group.pass_rate
        then = self.baseline.group.pass_rate if self.baseline else None
        if now is None or then is None:
            return self.result(gate, limit, False, "a pass rate is unavailable", now, then)
        if self.limits.paired:
            passed, explanation = self.paired(limit)
        else:
            passed = then - now <= limit
            explanation = f"a drop of {told(then - now)} is {_bound(passed, 'at most')} {told(limit)}"
        return self.result(gate, limit, passed, explanation, now, then)

    def paired(self, limit: Fraction) -> tuple[bool, str]:
        """The exact paired test's decision on the drop, in words."""
        found = decide(self.changes, most_drop=limit, level=self.limits.level)
        if found is None:
            return False, "no case was judged in both runs"
        counts = f"of {found.pairs} cases {found.broken} broke and {found.fixed} were fixed"
        if found.too_few_changed:
            return True, f"passed: {counts}, too few for a drop of more than {told(limit)}"
        counts += f"; p {told(found.p)} for a drop of {told(limit)}, level {told(self.limits.level)}"
        if found.decision != "inconclusive":
            return found.decision == "passed", f"{found.decision} by the exact paired test: {counts}"
        more = (
            f"about {found.more_cases:,} more cases would settle it at these shares"
            if found.more_cases is not None
            else "no dataset would settle it at these shares"
        )
        allowed = self.limits.allow_inconclusive
        return allowed, f"inconclusive{' (allowed)' if allowed else ''}: {counts}; {more}"

    def latency(self, gate: str, limit: Fraction) -> GateResult:
        """`max_p95_latency_seconds`."""
        now = _p95(self.current)
        if why := self.unfit(limit, self.current):
            return self.result(gate, limit, False, why, now)
        return self.at_most(gate, limit, now, "p95 latency in s")

    def latency_increase(self, gate: str, limit: Fraction) -> GateResult:
        """`max_p95_latency_increase_percent`."""
        other = self.baseline
        now, then = _p95(self.current), _p95(other) if other else None
        if other is None or now is None or then is None or then <= 0:
            return self.result(gate, limit, False, "a p95 latency above 0 is unavailable", now, then)
        if why := self.unfit(then * (1 + limit / 100), self.current, other):
            return self.result(gate, limit, False, why, now, then)
        percent = (now - then) / then * 100
        passed = percent <= limit
        explanation = f"an increase of {told(percent)} % is {_bound(passed, 'at most')} {told(limit)} %"
        return self.result(gate, limit, passed, explanation, now, then)

    def unfit(self, allowed_s: Fraction, *sides: Side) -> str | None:
        """Why the latencies of these sides cannot be judged: too few, or too much of them is the client's own."""
        fewest = min(side.durations for side in sides)
        if fewest < self.limits.min_samples:
            return f"{fewest} samples are fewer than {self.limits.min_samples}"
        if self.client_s is not None and self.client_s * MOST_CLIENT_SHARE > allowed_s:
            return (
                f"client_bound: against a server that answers at once the client takes {told(self.client_s)} s "
                f"(p95), more than a tenth of the {told(allowed_s)} s allowed"
            )
        return None


_RULES: Mapping[str, Callable[[Bench, str, Fraction], GateResult]] = {
    "min_pass_rate": Bench.pass_rate,
    "max_pass_rate_drop": Bench.pass_rate_drop,
    "max_error_rate": Bench.error_rate,
    "max_p95_latency_seconds": Bench.latency,
    "max_p95_latency_increase_percent": Bench.latency_increase,
    "min_recall": Bench.recall,
}


def judge_recall_drop(side: Side, reference: Side, limits: GateLimits, limit: Fraction) -> GateResult:
    """`max_recall_drop` of one strategy against `full` in the same run."""
    bench = Bench(limits=limits, current=side, baseline=reference, changes=(), client_s=None)
    now, then = _recall(side.group, limits.recall), _recall(reference.group, limits.recall)
    if now is None or then is None:
        why = f"{limits.recall} recall is unavailable"
        return bench.result("max_recall_drop", limit, False, why, now, then)
    passed = then - now <= limit
    explanation = f"{limits.recall} recall {told(then - now)} below {REFERENCE} is {_bound(passed, 'at most')} {told(limit)}"
    return bench.result("max_recall_drop", limit, passed, explanation, now, then)


def _recall(group: Metrics, kind: str) -> Fraction | None:
    """Facts over facts, exactly (EVA-072)."""
    return group.answer_recall_pooled if kind == "answer" else group.context_recall_pooled


def _p95(side: Side) -> Fraction | None:
    value = side.group.duration_p95_s
    return None if value is None else exact(value)


def _bound(passed: bool, bound: str) -> str:
    return bound if passed else {"at least": "below", "at most": "above"}[bound]


def told(value: float | Fraction) -> str:
    """A number with six significant digits (EVA-075)."""
    return f"{float(value):.6g}"
