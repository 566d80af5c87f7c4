"""Reports of runs: `evaluation.json` to be read by programs and gates, `evaluation.md` to be read by people.

```text
Run -> run_report -> EvaluationReport -> report_bytes -> evaluation.json -> read_report -> restored_run -> gates
Run -> report_markdown -> evaluation.md
```
"""

from __future__ import annotations

from ctxlab.reports.making import run_report
from ctxlab.reports.markdown import report_markdown
from ctxlab.reports.reading import read_report
from ctxlab.reports.records import EvaluationReport
from ctxlab.reports.restoring import demand_recomputed, restored_run
from ctxlab.reports.tagging import with_cases_of
from ctxlab.reports.writing import JSON_NAME, MARKDOWN_NAME, report_bytes, write_report

__all__ = [
    "JSON_NAME",
    "MARKDOWN_NAME",
    "EvaluationReport",
    "demand_recomputed",
    "read_report",
    "report_bytes",
    "report_markdown",
    "restored_run",
    "run_report",
    "with_cases_of",
    "write_report",
]
