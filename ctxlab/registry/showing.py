"""The registry for readers: runs, one run, and two runs side by side, as lines and tables of text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.display import UNKNOWN, as_strings, as_text, shown
from ctxlab.text import escaped

if TYPE_CHECKING:
    from collections.abc import Iterator

    import pandas as pd

    from ctxlab.registry.manifest import Manifest

RUNS = (
    ("run_id", "run", "text"),
    ("status", "status", "text?"),
    ("decision", "decision", "text?"),
    ("verb", "verb", "text?"),
    ("model", "model", "text?"),
    ("cases", "cases", "count?"),
    ("strategies", "strategies", "text?"),
    ("aliases", "aliases", "text?"),
)
DIFF = (
    ("category", "category", "text"),
    ("field", "field", "text"),
    ("strategy", "strategy", "text"),
    ("left", "left", "text?"),
    ("right", "right", "text?"),
    ("difference", "difference", "number?"),
)
AGGREGATES = (
    ("strategy", "strategy", "text"),
    ("rows", "rows", "count"),
    ("passed", "passed", "count"),
    ("errors", "errors", "count"),
    ("refused", "refused", "count"),
    ("pass_rate", "pass rate", "share"),
    ("context_recall_pooled", "context recall", "share"),
    ("answer_recall_pooled", "answer recall", "share"),
    ("input_tokens", "input tokens", "count"),
    ("output_tokens", "output tokens", "count"),
    ("cost", "cost", "number"),
    ("duration_p50_s", "p50 s", "seconds"),
    ("duration_p95_s", "p95 s", "seconds"),
)
MOST_CELL_CHARACTERS = 60
ALL_ROWS = "all"


def runs_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The `runs` frame as people read it; damaged entries are called so."""
    marked = frame.copy()
    marked["status"] = marked["status"].mask(marked["damaged"], "damaged")
    return as_strings(marked, RUNS)


def diff_table(frame: pd.DataFrame) -> pd.DataFrame:
    """The rows of a `diff` frame that are not equal, long values cut."""
    table = as_strings(frame[~frame["equal"]], DIFF)
    for name in ("field", "left", "right"):
        table[name] = [_cut(value) for value in table[name]]
    return table


def diff_markdown(frame: pd.DataFrame) -> str:
    """A `diff` frame as Markdown: per category the fields that are not equal, and how many are."""
    from ctxlab.registry.differences import CATEGORIES

    lines = ["# Two runs side by side", ""]
    for category in CATEGORIES:
        part = frame[frame["category"] == category]
        lines += [
            f"## {category.capitalize()}",
            "",
            f"{int(part['equal'].sum())} of {len(part)} fields are equal.",
        ]
        lines += ["", *_markdown_rows(diff_table(part)), ""] if not part["equal"].all() else [""]
    return "\n".join(lines).rstrip() + "\n"


def _markdown_rows(table: pd.DataFrame) -> Iterator[str]:
    names = [name for name in table.columns if name != "category"]
    yield "| " + " | ".join(names) + " |"
    yield "|" + "---|" * len(names)
    for values in table[names].itertuples(index=False):
        yield "| " + " | ".join(map(escaped, values)) + " |"


def _cut(text: str) -> str:
    """A long value by its beginning; of a hash 12 digits tell enough."""
    if len(text) == 64 and set(text) <= set("0123456789abcdef"):
        return text[:12]
    return text if len(text) <= MOST_CELL_CHARACTERS else f"{text[: MOST_CELL_CHARACTERS - 1]}…"


def summary_lines(manifest: Manifest) -> Iterator[str]:
    """What a manifest says of a run, one fact per line, then its metrics per strategy."""
    facts = {
        "run": manifest.run_id,
        "status": manifest.status,
        "decision": manifest.decision,
        "failure": manifest.failure or "none",
        "verb": manifest.verb or UNKNOWN,
        "started": manifest.started_at.isoformat(),
        "ended": manifest.ended_at.isoformat(),
        "fingerprint": manifest.fingerprint,
        "input identity": manifest.input_identity or UNKNOWN,
        "dataset": f"{manifest.dataset.name}, {manifest.dataset.cases} cases, {manifest.dataset.sha256}",
        "client": f"{manifest.client.kind}, {manifest.client.mode}",
        "model": f"{shown(manifest.models.requested, 'text')}, observed {shown(manifest.models.observed, 'text')}",
        "counter": (manifest.counter or {}).get("name") or UNKNOWN,
        "commit": manifest.source.commit or UNKNOWN,
        "working tree": {True: "changed", False: "clean", None: UNKNOWN}[manifest.source.dirty],
        "artifacts": str(len(manifest.artifacts)),
        "reproduce": manifest.reproduction.command if manifest.reproduction else UNKNOWN,
        "note": (manifest.reproduction.note if manifest.reproduction else None) or "none",
    }
    width = max(map(len, facts))
    yield from (f"{name.ljust(width)}  {value}" for name, value in facts.items())
    if manifest.aggregates:
        yield ""
        yield as_text(_aggregates(manifest))


def _aggregates(manifest: Manifest) -> pd.DataFrame:
    import pandas as pd

    told = {
        heading: [shown(getattr(one, name), kind) for one in manifest.aggregates]
        for name, heading, kind in AGGREGATES
        if any(getattr(one, name) is not None for one in manifest.aggregates)
    }
    told["strategy"] = [ALL_ROWS if name == "*" else name for name in told["strategy"]]
    return pd.DataFrame(told, dtype="string")
