"""Frames as text for people and programs: a table of metrics, one JSON object, CSV. Only here numbers are formatted."""

from __future__ import annotations

import json
from collections import Counter
from textwrap import wrap
from typing import TYPE_CHECKING, Any

from ctxlab.frames import attributes
from ctxlab.metrics import is_offline, metrics

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import pandas as pd

    from ctxlab.records import Row, Run

UNKNOWN = "unavailable"
HEADING_CHARACTERS = 9
GAP = "  "
NOTHING = "\N{EN DASH}"
"""Stands where a value does not apply, such as the error of a row that has none."""

METRIC_COLUMNS: tuple[tuple[str, str, str], ...] = (
    ("strategy", "strategy", "text"),
    ("rows", "rows", "count"),
    ("refused", "refused", "count"),
    ("errors", "errors", "count"),
    ("pass_rate", "pass rate", "share"),
    ("context_recall_pooled", "context recall", "share"),
    ("answer_recall_pooled", "answer recall", "share"),
    ("retained", "retained", "count"),
    ("reversed", "reversed", "count"),
    ("invented_identifiers", "invented in answers", "count"),
    ("context_invented_identifiers", "invented in contexts", "count"),
    ("calls", "calls", "count"),
    ("input_tokens", "input tokens", "count"),
    ("output_tokens", "output tokens", "count"),
    ("cost", "cost", "number"),
    ("duration_p50_s", "p50 s", "seconds"),
)
"""Field of `Metrics`, heading, and how its values are shown."""
OF_ANSWERS = frozenset({"retained", "reversed"})
"""Counts that say nothing where nothing was asked, or where there are no facts."""
ALWAYS = frozenset({"non_empty", "facts"})
"""Evaluators that a case is judged by without an expectation; recall tells more than their pass rate."""


def metrics_table(run: Run) -> pd.DataFrame:
    """The metrics of a run that a reader compares first, as text: one row per strategy.

    Returns:
        A frame of strings whose headings are words. Recall is pooled, facts over facts. Null is `unavailable`; a
        column without any value is left out.
    """
    import pandas as pd

    groups = metrics(run)
    silent = _silent(run)
    columns = {
        heading: [shown(getattr(group, name), kind) for group in groups]
        for name, heading, kind in METRIC_COLUMNS
        if name not in silent and any(getattr(group, name) is not None for group in groups)
    }
    table = pd.DataFrame(columns, dtype="string")
    table.attrs.update(attributes(run))
    return table


def _silent(run: Run) -> frozenset[str]:
    """Metrics that would only repeat that a run has no answers, no facts or no expectations."""
    judged = {one.name for row in run.rows for one in row.evaluations}
    silent = frozenset() if judged - ALWAYS else frozenset({"pass_rate"})
    return silent | OF_ANSWERS if is_offline(run) or not any(row.facts for row in run.rows) else silent


def shown(value: Any, kind: str) -> str:
    """One value as people read it.

    Args:
        value: null is `unavailable`.
        kind: `text`, `count`, `share` (3 digits), `rounded` (to a whole number), `seconds` (2, below one second 3), `number`, or `change`, which always has a sign; a
            `?` behind it means that null does not apply here, and is a dash.
    """
    if value is None:
        return NOTHING if kind.endswith("?") else UNKNOWN
    kind = kind.removesuffix("?")
    formats = {"share": ".3f", "number": ".6g", "rounded": ",.0f"}
    if kind == "change":
        return f"{float(value):+,.{_digits(float(value))}f}"
    if kind == "seconds":
        return f"{float(value):,.{2 if value >= 1 else 3}f}"
    if kind in formats:
        return f"{float(value):{formats[kind]}}"
    return f"{value:,}" if kind == "count" else str(value)


def _digits(value: float) -> int:
    """How many decimals a change needs: shares three, tokens none."""
    return 3 if abs(value) < 10 else 1 if abs(value) < 1000 else 0


def as_strings(frame: pd.DataFrame, columns: Sequence[tuple[str, str, str]]) -> pd.DataFrame:
    """The columns of a frame that are named as (column, heading, kind), as people read them."""
    import pandas as pd

    told = {
        heading: [shown(None if pd.isna(value) else value, kind) for value in frame[name]]
        for name, heading, kind in columns
    }
    table = pd.DataFrame(told, dtype="string")
    table.attrs.update(frame.attrs)
    return table


def as_text(table: pd.DataFrame, *, most_characters: int | None = None) -> str:
    """A frame of strings as aligned lines; the first column to the left, the others to the right.

    Headings of several words take several lines, so that the columns stay narrow. A table that is wider than
    `most_characters` is set in several, one under the other, each with the first column.
    """
    lines, widths = _laid_out(table)
    blocks: list[list[int]] = [[]]
    for place in range(1, len(widths)):
        width = sum(widths[i] + len(GAP) for i in (*blocks[-1], place)) + widths[0]
        if blocks[-1] and most_characters is not None and width > most_characters:
            blocks.append([])
        blocks[-1].append(place)
    return "\n\n".join(_block(lines, widths, [0, *block] if widths else []) for block in blocks)


def _laid_out(table: pd.DataFrame) -> tuple[list[list[str]], list[int]]:
    """Headings and rows as cells, and how wide each column is."""
    headings = [wrap(str(name), HEADING_CHARACTERS, break_long_words=False) for name in table.columns]
    height = max(map(len, headings), default=0)
    padded = [[""] * (height - len(heading)) + heading for heading in headings]
    lines = [list(line) for line in zip(*padded, strict=True)]
    lines += [[str(value) for value in row] for row in table.itertuples(index=False)]
    return lines, [max(len(line[i]) for line in lines) for i in range(len(headings))]


def _block(lines: Sequence[Sequence[str]], widths: Sequence[int], places: Sequence[int]) -> str:
    """Some columns of a table, without the lines of the heading that only the others need."""
    cut = [[line[i] for i in places] for line in lines]
    first = next((number for number, line in enumerate(cut) if any(line)), 0)
    return "\n".join(_aligned(line, [widths[i] for i in places]) for line in cut[first:])


def _aligned(line: Sequence[str], widths: Sequence[int]) -> str:
    cells = [
        text.ljust(width) if i == 0 else text.rjust(width)
        for i, (text, width) in enumerate(zip(line, widths, strict=True))
    ]
    return GAP.join(cells).rstrip()


def as_json(frame: pd.DataFrame) -> str:
    """A frame as one JSON object with its name, version, run and counter (GEN-034)."""
    import pandas as pd

    attrs = frame.attrs
    rows = [
        {name: _plain(value) if not pd.isna(value) else None for name, value in row.items()}
        for row in frame.to_dict(orient="records")
    ]
    head = {
        "frame": attrs.get("frame"),
        "version": attrs.get("version"),
        "run_id": attrs.get("run_id"),
        "fingerprint": attrs.get("fingerprint"),
        "counter": attrs.get("counter"),
    }
    return json.dumps({**head, "rows": rows}, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """A cell as JSON holds it: times as ISO 8601 in UTC."""
    if hasattr(value, "isoformat"):
        return value.isoformat()
    return value.item() if hasattr(value, "item") else value


def as_csv(frame: pd.DataFrame) -> str:
    """A frame as CSV: comma, point, LF, nothing for null."""
    return str(frame.to_csv(index=False, lineterminator="\n"))


CUT = {
    "summary_cut": "a summary longer than its target was cut",
    "part_cut": "a part's summary longer than its target was cut",
    "helper_truncated": "a summary ended at the model's token limit",
    "target_missed": "a result over its target was sent",
    "answer": "the answer ended at the model's token limit",
}
"""What was cut off where, by the receipt's flag; a fact behind a cut is lost by it and not by the strategy or the model."""


def cut_off(run: Run) -> list[str]:
    """Where texts were cut off at a limit, one line per strategy and kind with the number of rows."""
    found: Counter[tuple[str, str]] = Counter()
    rows: Counter[str] = Counter(row.strategy for row in run.rows)
    for row in run.rows:
        flags = set(row.fitted.receipt.flags) if row.fitted is not None else set()
        if row.main_call is not None and row.main_call.finish_reason == "length":
            flags.add("answer")
        found.update((row.strategy, flag) for flag in CUT if flag in flags)
    return [
        f"{strategy}: {CUT[flag]} in {n:,} of {rows[strategy]:,} rows"
        for (strategy, flag), n in found.items()
    ]


def error_of(row: Row) -> str | None:
    """The kind of a row's error, with the status where the platform answered with one."""
    return row.error_kind if row.http_status is None else f"{row.error_kind} {row.http_status}"


def troubles(run: Run) -> list[str]:
    """One line each for the rows that were refused, in error or not run, with their reasons and numbers, and for cuts."""
    found: dict[str, Counter[str]] = {"refused": Counter(), "error": Counter(), "not_run": Counter()}
    for row in run.rows:
        if row.status in found:
            why = error_of(row) if row.status == "error" else row.reason
            found[row.status][why or "interrupted"] += 1
    lines = [
        f"{status.replace('_', ' ')}: " + ", ".join(f"{number} {why}" for why, number in reasons.items())
        for status, reasons in found.items()
        if reasons
    ]
    return [*lines, *cut_off(run)]


def caption(run: Run) -> str:
    """What stands under every table of a run: where its numbers come from (GEN-058)."""
    made = "sent to nobody" if run.client_kind == "offline" else run.client_kind
    kind = "a property of the inputs, not of a model; " if run.client_kind.startswith("stand-in") else ""
    where = f"; kept in {run.directory}" if run.directory else ", not kept"
    return f"client {made}; {kind}counter {run.counter}; run {run.run_id}{where}"


def signature(attrs: Mapping[Any, Any]) -> str:
    """What stands under a table by its attributes: run, counter and client, as far as it has them.

    Stand-ins and offline numbers are called what they are.
    """
    client = str(attrs.get("client_kind") or "")
    measured = {"offline": ": no model was asked"}.get(client, "")
    if client.startswith("stand-in"):
        measured = ": a property of the inputs, not of a model"
    told = {
        "run": str(attrs.get("fingerprint") or "")[:12],
        "counter": str(attrs.get("counter") or ""),
        "client": client and client + measured,
    }
    return " \N{MIDDLE DOT} ".join(f"{name} {value}" for name, value in told.items() if value)
