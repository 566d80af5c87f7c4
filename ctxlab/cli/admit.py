"""`ctxlab admit`: what admission does to a request of known sizes, and the retention probes; nothing is sent."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from ctxlab.cli.options import Format, FormatOption, OutputOption
from ctxlab.cli.printing import demand_writable, emit, emit_frame, terminal_characters

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

LOST = 1
RETENTION_COLUMNS = (
    ("probe", "probe", "text"),
    ("mode", "mode", "text"),
    ("literal_kept", "literal kept", "text"),
    ("admitted", "admitted", "count"),
    ("omitted", "omitted", "count"),
    ("clipped", "clipped", "count"),
)
MEASUREMENT_COLUMNS = (
    ("fixture", "fixture", "text"),
    ("snippets", "snippets", "count"),
    ("question_bytes", "question bytes", "count"),
    ("mode", "mode", "text"),
    ("request_built", "request built", "text"),
    ("content_bytes", "content", "count"),
    ("estimated_input", "estimated input", "count?"),
    ("admitted", "admitted", "count?"),
    ("omitted", "omitted", "count?"),
    ("clipped", "clipped", "count?"),
    ("p50_ns", "p50 ns", "count?"),
    ("p95_ns", "p95 ns", "count?"),
)


def admit(
    probes: Annotated[
        bool, typer.Option("--probes", help="Whether current facts stay in the request; 1 if one is lost.")
    ] = False,
    no_timing: Annotated[bool, typer.Option("--no-timing", help="Measure sizes alone.")] = False,
    counter: Annotated[str, typer.Option(help="What sizes are counted by.")] = "utf8_bytes_1",
    window_tokens: Annotated[int, typer.Option(help="The target of the request.")] = 16_000,
    output_reserve_tokens: Annotated[int, typer.Option(help="Held back for the answer.")] = 2_000,
    envelope_tokens: Annotated[int, typer.Option(help="Held back for the form of the request.")] = 1_024,
    format_: FormatOption = "table",
    output: OutputOption = None,
) -> int:
    """Measure evidence admission, or run the retention probes; no model is asked."""
    from ctxlab.measurement import measurement_frame
    from ctxlab.tokens import counter_named

    demand_writable(output)
    if probes:
        return _probe(format_, output)
    frame = measurement_frame(
        counter=counter_named(counter),
        window_tokens=window_tokens,
        output_reserve_tokens=output_reserve_tokens,
        envelope_tokens=envelope_tokens,
        timing=not no_timing,
    )
    _print_measurement(frame, format_, output)
    return 0


def _probe(format_: Format, output: Path | None) -> int:
    from ctxlab.retention import kept_words, retention_frame

    frame = retention_frame()
    if format_ == "table":
        modes = ", ".join(f"{mode} {kept_words(frame, mode=mode)}" for mode in ("full", "admit"))
        _print_table(frame, RETENTION_COLUMNS, f"{modes}; boundaries, no estimate of quality", output)
    else:
        emit_frame(frame, format_, output)
    return exit_code(frame)


def exit_code(retention: pd.DataFrame) -> int:
    """1 if a probe has lost its fact in any mode, else 0."""
    from ctxlab.retention import lost

    return LOST if lost(retention) else 0


def _print_measurement(frame: pd.DataFrame, format_: Format, output: Path | None) -> None:
    from ctxlab.measurement import measurement_csv
    from ctxlab.measurement_receipt import NOTE, write_measurement

    if format_ == "json":
        emit_frame(frame, format_, output)
    elif format_ == "table":
        _print_table(frame, MEASUREMENT_COLUMNS, NOTE, output)
    elif output is None:
        emit(measurement_csv(frame), output)
    else:
        write_measurement(measurement_csv(frame), output)


def _print_table(
    frame: pd.DataFrame, columns: tuple[tuple[str, str, str], ...], note: str, output: Path | None
) -> None:
    from ctxlab.display import as_strings, as_text, signature

    text = as_text(as_strings(frame, columns), most_characters=terminal_characters(output))
    emit(f"{text}\n\n{signature(frame.attrs)}\n{note}\n", output)
