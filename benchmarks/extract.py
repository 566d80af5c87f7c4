"""What stays of the facts at equal tokens: with the newest messages, with `shorten`, and with `extract`.

The bundled continuation cases at 512 tokens, and public data at the pinned tokens plus shares of the unpinned source:
tau-bench runs, SWE-agent sessions and QMSum meetings, where they are found under `../shared/data`.
"""

from __future__ import annotations

from pathlib import Path

import ctxlab

ROOT = Path(__file__).parents[1]
PUBLIC = ROOT.parent / "shared/data"
CONTINUATION = {str(ROOT / "data/continuation.jsonl"): ["512"]}
SETS = (
    f"tau_bench:{PUBLIC}/agent-transcripts/tau-bench*.jsonl",
    f"swe_agent:{PUBLIC}/agent-transcripts/swe-agent/*.traj",
    f"qmsum:{PUBLIC}/conversations/qmsum*.jsonl",
)
SHARES = ["10 %", "25 %", "50 %"]
STRATEGIES = (ctxlab.Newest(), ctxlab.Shorten(), ctxlab.Extract(), ctxlab.Extract(question_weight=1))


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per set and share: how many facts there are, and how many stay with each strategy."""
    shares = SHARES[1:2] if quick else SHARES
    asked = CONTINUATION | (dict.fromkeys(SETS, shares) if PUBLIC.exists() else {})
    return [
        dict(row)
        for words, targets in asked.items()
        for row in ctxlab.kept_table(
            ctxlab.compare_at(ctxlab.datasets_from_words([words]), STRATEGIES, targets)
        ).to_dict(orient="records")
    ]
