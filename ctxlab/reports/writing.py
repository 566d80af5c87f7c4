"""Reports as files: the JSON that programs read and the Markdown that people read, beside each other."""

from __future__ import annotations

import json
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.files import replacing
from ctxlab.reports.making import run_report
from ctxlab.reports.markdown import report_markdown

if TYPE_CHECKING:
    from ctxlab.experiments import Source
    from ctxlab.records import Run
    from ctxlab.reports.records import EvaluationReport

JSON_NAME = "evaluation.json"
MARKDOWN_NAME = "evaluation.md"


def write_report(run: Run, directory: str | Path, *, source: Source | None = None) -> tuple[Path, Path]:
    """Write `evaluation.json` and `evaluation.md` of a run into a directory, each by atomic replacement.

    Args:
        run: the run.
        directory: where; it exists.
        source: the checkout that the package ran from; null asks git.

    Returns:
        The two paths.
    """
    json_path, markdown_path = Path(directory) / JSON_NAME, Path(directory) / MARKDOWN_NAME
    for path, content in (
        (json_path, report_bytes(run_report(run, source=source))),
        (markdown_path, report_markdown(run).encode()),
    ):
        with replacing(path) as stream:
            stream.write(content)
    return json_path, markdown_path


def report_bytes(report: EvaluationReport) -> bytes:
    """The file of a report, schema 1.1: UTF-8, two-space indent, sorted keys, one final newline (EVA-098)."""
    content = _fields(report) | {"report_schema_version": "1.1"}
    if content["git"] is None:
        del content["git"]
    text = json.dumps(content, default=_plain, ensure_ascii=False, indent=2, sort_keys=True, allow_nan=False)
    return f"{text}\n".encode()


def _plain(value: Any) -> dict[str, Any]:
    """What is no plain JSON: records of the report, and mappings of their own kind among the parameters."""
    return _fields(value) if is_dataclass(value) else dict(value)


def _fields(record: Any) -> dict[str, Any]:
    return {f.name: getattr(record, f.name) for f in fields(record)}
