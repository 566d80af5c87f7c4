"""Run directories made by hand, and directories changed together with their hashes."""

import json
from dataclasses import replace

from ctxlab.registry.artifacts import MANIFEST, artifacts_of, stored_files, write_index
from ctxlab.registry.manifest import manifest_from_bytes, read_manifest, write_manifest
from tests.test_comparison import RUN_ID, SUMMARIES, dataset, design, interrupted

__all__ = [
    "RUN_ID", "SUMMARIES", "another_id", "dataset", "design", "edited", "fill", "interrupted", "loaded", "reseal",
    "sparse",
]  # fmt: skip


def fill(directory, *left_out):
    """Files of every kind that a run which ended well leaves, but those."""
    for path in ("evaluation.json", "evaluation.md", "frames/results.parquet", "journal.jsonl"):
        if path not in left_out:
            (directory / path).parent.mkdir(parents=True, exist_ok=True)
            (directory / path).write_text(path)


def loaded(directory):
    return json.loads((directory / MANIFEST).read_text(encoding="utf-8"))


def edited(directory, edit):
    """The manifest's bytes after a change of its JSON object."""
    content = loaded(directory)
    edit(content)
    return json.dumps(content).encode()


def reseal(directory):
    """Hash everything anew, as somebody would who changes a file and hides it."""
    manifest = read_manifest(directory)
    write_manifest(replace(manifest, artifacts=artifacts_of(stored_files(directory))), directory)
    write_index(directory)


def another_id(number):
    """A run id, later by `number` seconds than that of the examples."""
    return f"20260102T0304{number:02d}123456Z-0123456789ab-01234567"


def sparse(runs_dir, kept, run_id, **changes):
    """A run that consists of its manifest alone, enough for a list."""
    manifest = replace(manifest_from_bytes((kept / MANIFEST).read_bytes()), run_id=run_id, **changes)
    (runs_dir / run_id).mkdir(parents=True)
    write_manifest(manifest, runs_dir / run_id)
    return runs_dir / run_id
