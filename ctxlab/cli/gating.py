"""From words to gates: the limits that `gate`, and every verb with attached gates, are told (EVA section 5)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated

import typer

from ctxlab.cli.printing import emit
from ctxlab.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from ctxlab.cli.options import Format
    from ctxlab.declarations import AttachedGates
    from ctxlab.records import Run


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitWords:
    """The limits of gates as decimal text, in the order in which gates run."""

    min_pass_rate: Annotated[
        str | None, typer.Option(metavar="R", help="Gate: the pass rate is at least R.")
    ] = None
    max_pass_rate_drop: Annotated[
        str | None, typer.Option(metavar="D", help="Gate: the pass rate is at most D below the baseline's.")
    ] = None
    max_error_rate: Annotated[
        str | None, typer.Option(metavar="R", help="Gate: the error rate is at most R.")
    ] = None
    max_p95_latency_seconds: Annotated[
        str | None, typer.Option(metavar="S", help="Gate: the p95 latency is at most S.")
    ] = None
    max_p95_latency_increase_percent: Annotated[
        str | None,
        typer.Option(metavar="P", help="Gate: the p95 latency is at most P % above the baseline's."),
    ] = None
    min_recall: Annotated[
        str | None, typer.Option(metavar="R", help="Gate: the answer recall is at least R.")
    ] = None
    max_recall_drop: Annotated[
        str | None, typer.Option(metavar="D", help="Gate: the recall is at most D below that of full.")
    ] = None

    @property
    def given(self) -> dict[str, str]:
        """The limits that were given."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}


def attached_of(words: LimitWords, baseline: str | None) -> AttachedGates | None:
    """The gates attached to a run; null if none is given."""
    from ctxlab.declarations import AttachedGates
    from ctxlab.gates import GateLimits

    if not words.given:
        if baseline is not None:
            raise InputError("--baseline: is compared with only by gates, and none is given")
        return None
    GateLimits(**words.given)  # type: ignore[arg-type]  # says in the words of the command line what is wrong
    return AttachedGates(given=words.given, baseline=baseline)


def print_gated_run(run: Run, format_: Format, output: Path | None) -> int:
    """Print a run and, in the table, its attached gates; return the exit code (GEN-040, GEN-041)."""
    from ctxlab.cli.running import print_run
    from ctxlab.gates import results_text

    code = print_run(run, format_, output)
    if run.gates and format_ == "table" and output is None:
        emit(f"\n{results_text(run.gates)}", output)
    if code == 0 and any(gate.passed is False for gate in run.gates):
        return 1
    return code
