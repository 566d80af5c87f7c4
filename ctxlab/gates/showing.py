"""A verdict as a frame, as text for people, as Markdown and as JUnit for build servers (EVA-075, EVA-078, EVA-079)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from ctxlab.display import UNKNOWN, as_text
from ctxlab.gates.transitions import CHANGES
from ctxlab.schemas import SCHEMAS
from ctxlab.tabulate import tabulate
from ctxlab.text import escaped, preview

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from fractions import Fraction

    import pandas as pd

    from ctxlab.gates.judging import Verdict
    from ctxlab.gates.transitions import Transition
    from ctxlab.records import GateResult

MOST_IDS = 60
"""Case ids listed per transition; what is left out is counted."""


def gates_frame(verdict: Verdict) -> pd.DataFrame:
    """One row per strategy and gate (`gates`)."""
    schema = SCHEMAS["gates"]
    records = [
        {column.name: getattr(one, column.name) for column in schema.columns} for one in verdict.results
    ]
    attrs = {"run_id": verdict.run_id, "fingerprint": verdict.fingerprint, "counter": verdict.counter}
    return tabulate(schema, records, attrs=attrs)


def verdict_text(verdict: Verdict) -> str:
    """The verdict, a table, one explanation per gate, notes, and what changed since the baseline."""
    lines = [f"note: {note}" for note in verdict.notes]
    if verdict.changes:
        lines += ["", *_changes(verdict.changes)]
    return results_text(verdict.results) + "".join(f"{line}\n" for line in lines)


def results_text(results: Sequence[GateResult]) -> str:
    """The overall verdict, a table, and one explanation per gate."""
    import pandas as pd

    table = pd.DataFrame([_cells(one) for one in results], dtype="string")
    told = [f"{one.gate} ({preview(one.strategy)}): {one.explanation}" for one in results]
    return "\n".join([overall_text(results), "", as_text(table), "", *told]) + "\n"


def verdict_markdown(verdict: Verdict) -> str:
    """The same as Markdown, every cell escaped."""
    rows = [
        {name: escaped(value) for name, value in {**_cells(one), "explanation": one.explanation}.items()}
        for one in verdict.results
    ]
    lines = [list(rows[0]), ["---"] * len(rows[0]), *(list(row.values()) for row in rows)]
    parts = [
        f"# Gates: {overall_text(verdict.results)}",
        "\n".join(f"| {' | '.join(line)} |" for line in lines),
        *(f"Note: {escaped(note)}" for note in verdict.notes),
    ]
    if verdict.changes:
        parts += ["## Cases", "\n".join(f"- {escaped(line)}" for line in _changes(verdict.changes))]
    return "\n\n".join(parts) + "\n"


def verdict_junit(verdict: Verdict) -> str:
    """The gates as a JUnit file: one test case per gate."""
    from xml.etree import ElementTree as Xml

    states = Counter(one.state for one in verdict.results)
    counts = {
        "tests": str(len(verdict.results)),
        "failures": str(states["failed"]),
        "skipped": str(states["not_evaluated"]),
        "errors": "0",
    }
    suites = Xml.Element("testsuites", {"name": "ctxlab gate", **counts})
    suite = Xml.SubElement(suites, "testsuite", {"name": preview(verdict.run_id), **counts})
    for one in verdict.results:
        case = Xml.SubElement(suite, "testcase", {"classname": preview(one.strategy), "name": one.gate})
        if one.state != "passed":
            kind = "failure" if one.state == "failed" else "skipped"
            Xml.SubElement(case, kind, {"message": preview(one.explanation)})
        Xml.SubElement(case, "system-out").text = preview(one.explanation)
    if verdict.notes:
        Xml.SubElement(suite, "system-out").text = "\n".join(map(preview, verdict.notes))
    Xml.indent(suites)
    return Xml.tostring(suites, encoding="unicode", xml_declaration=False) + "\n"


def gates_table(verdict: Verdict) -> pd.DataFrame:
    """The gates for readers: one row each, with its explanation."""
    rows = [{**_cells(one), "explanation": preview(one.explanation)} for one in verdict.results]
    return _strings(verdict, rows)


def transitions_table(verdict: Verdict) -> pd.DataFrame:
    """The cases of both runs for readers: what became of each, and whether its answer is another one."""
    rows = [
        {
            "case": preview(one.case_id),
            "strategy": preview(one.strategy),
            "passed before": _number(one.baseline_share),
            "passed now": _number(one.current_share),
            "transition": one.transition.replace("_", " "),
            "another answer": "yes" if one.answers_differ else "no",
        }
        for one in verdict.changes
    ]
    return _strings(verdict, rows)


def _strings(verdict: Verdict, rows: list[dict[str, str]]) -> pd.DataFrame:
    import pandas as pd

    table = pd.DataFrame(rows, dtype="string")
    table.attrs.update(run_id=verdict.run_id, fingerprint=verdict.fingerprint, counter=verdict.counter)
    return table


def overall_text(results: Sequence[GateResult]) -> str:
    """The overall verdict in a few words."""
    states = Counter(one.state for one in results)
    if states["not_evaluated"]:
        return "not evaluated"
    return f"failed: {states['failed']} of {len(results)} gates" if states["failed"] else "passed"


def _cells(one: GateResult) -> dict[str, str]:
    return {
        "gate": one.gate,
        "strategy": preview(one.strategy),
        "passed": UNKNOWN if one.passed is None else "yes" if one.passed else "no",
        "current": _number(one.current),
        "baseline": _number(one.baseline),
        "threshold": _number(one.threshold),
    }


def _number(value: Fraction | None) -> str:
    """Six significant digits (EVA-075)."""
    return UNKNOWN if value is None else f"{float(value):.6g}"


def _changes(changes: Iterable[Transition]) -> list[str]:
    """Per transition how many cases, and which."""
    found: dict[str, list[str]] = {name: [] for name in CHANGES}
    changed = list(changes)
    several = len({one.strategy for one in changed}) > 1
    for one in changed:
        found[one.transition].append(f"{one.case_id} ({one.strategy})" if several else one.case_id)
    differ = sum(one.transition == "unchanged" and one.answers_differ for one in changed)
    lines = [_listed(name.replace("_", " "), ids) for name, ids in found.items()]
    return [*lines, f"other answers with the same verdict: {differ}"]


def _listed(name: str, ids: list[str]) -> str:
    shown = ", ".join(map(preview, ids[:MOST_IDS]))
    more = f" and {len(ids) - MOST_IDS:,} more" if len(ids) > MOST_IDS else ""
    return f"{name}: {len(ids)}{f' ({shown}{more})' if ids else ''}"
