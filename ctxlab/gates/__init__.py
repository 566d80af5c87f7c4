"""Gates: limits on the metrics of a run, alone or against a baseline, judged with exact arithmetic.

```text
GateLimits + Run (+ baseline Run) -> judge_gates -> Verdict -> gates_frame, text, Markdown, JUnit
```
"""

from __future__ import annotations

from ctxlab.gates.judging import Verdict, judge_gates, not_evaluated, workers_to_measure
from ctxlab.gates.limits import GATES, GateLimits
from ctxlab.gates.showing import (
    gates_frame,
    gates_table,
    results_text,
    transitions_table,
    verdict_junit,
    verdict_markdown,
    verdict_text,
)
from ctxlab.gates.transitions import Transition, transitions, transitions_frame

__all__ = [
    "GATES",
    "GateLimits",
    "Transition",
    "Verdict",
    "gates_frame",
    "gates_table",
    "judge_gates",
    "not_evaluated",
    "results_text",
    "transitions",
    "transitions_frame",
    "transitions_table",
    "verdict_junit",
    "verdict_markdown",
    "verdict_text",
    "workers_to_measure",
]
