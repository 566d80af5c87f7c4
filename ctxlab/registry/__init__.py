"""The registry of experiments: what a finished run directory says of itself, and how runs are found and compared.

```text
<runs dir>/<run id>/manifest.json      what was run, with which outcome (manifest, rules, registration)
<runs dir>/<run id>/checksums.sha256   the hash of every file (artifacts, verifying)
<runs dir>/.aliases/<name>.json        a name for a run, with its former targets (aliases)
<runs dir>/.staging/<run id>/          a run at work, or interrupted (ctxlab.experiments)
```
"""

from __future__ import annotations

from ctxlab.registry.aliases import Alias, Target, read_alias, set_alias
from ctxlab.registry.differences import diff_frame
from ctxlab.registry.entries import resolve
from ctxlab.registry.listing import Filters, runs_frame
from ctxlab.registry.manifest import Manifest, read_manifest
from ctxlab.registry.registration import register
from ctxlab.registry.scanning import scan_runs
from ctxlab.registry.verifying import damage_of, verify_run

__all__ = [
    "Alias",
    "Filters",
    "Manifest",
    "Target",
    "damage_of",
    "diff_frame",
    "read_alias",
    "read_manifest",
    "register",
    "resolve",
    "runs_frame",
    "scan_runs",
    "set_alias",
    "verify_run",
]
