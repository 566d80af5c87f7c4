"""What stays of the facts at equal tokens: with `extract`, with `shorten`, and with the newest messages.

The bundled continuation cases at 512 tokens, and public data at the pinned tokens plus a quarter of the unpinned source:
tau-bench runs, SWE-agent sessions and QMSum meetings, where they are found under `../shared/data`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.budget import Budget
from ctxlab.facts import judge_facts
from ctxlab.importers import IMPORTERS
from ctxlab.loading import load_dataset
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.source import look_at
from ctxlab.tokens import counter_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from ctxlab.dataset import Case
    from ctxlab.messages import Message

ROOT = Path(__file__).parents[1]
PUBLIC = ROOT.parent / "shared/data"
CONTINUATION_TOKENS = 512
SHARES = (0.1, 0.25, 0.5)
SETS = {
    "tau_bench": "agent-transcripts/tau-bench*.jsonl",
    "swe_agent": "agent-transcripts/swe-agent/*.traj",
    "qmsum": "conversations/qmsum*.jsonl",
}

COUNTER = counter_named("o200k_base")
BUDGET = Budget(window_tokens=4_000_000)


def newest(case: Case, target_tokens: int) -> Sequence[Message]:
    """The pinned messages and the newest others that fit."""
    source = look_at(case, BUDGET, COUNTER)
    room, kept = target_tokens - source.pinned_tokens, set(source.layout.pinned)
    for index in reversed(range(source.layout.question)):
        if index not in source.layout.pinned:
            room -= source.tokens[index]
            if room < 0:
                break
            kept.add(index)
    return [source.messages[i] for i in sorted(kept)]


TREATMENTS: dict[str, Callable[[Case, int], Sequence[Message]]] = {
    "newest": newest,
    "shorten": lambda case, most: Shorten(target_tokens=most).fit(case, BUDGET, COUNTER).messages,
    "extract": lambda case, most: Extract(target_tokens=most).fit(case, BUDGET, COUNTER).messages,
    "extract, question": lambda case, most: (
        Extract(target_tokens=most, question_weight=1).fit(case, BUDGET, COUNTER).messages
    ),
}


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per set and share: how many facts there are, and how many stay with each treatment."""
    continuation = load_dataset(ROOT / "data/continuation.jsonl").cases
    table = [_row("continuation", None, [(case, CONTINUATION_TOKENS) for case in continuation])]
    for name, pattern in SETS.items():
        cases = [case for path in sorted(PUBLIC.glob(pattern)) for case in IMPORTERS[name](path).cases]
        for share in SHARES[1:2] if quick else SHARES:
            if cases:
                table.append(_row(name, share, [(case, _target(case, share)) for case in cases]))
    return table


def _target(case: Case, share: float) -> int:
    source = look_at(case, BUDGET, COUNTER)
    return source.pinned_tokens + int((sum(source.tokens) - source.pinned_tokens) * share)


def _row(name: str, share: float | None, targets: Iterable[tuple[Case, int]]) -> dict[str, object]:
    kept = dict.fromkeys(TREATMENTS, 0)
    facts = 0
    for case, most in targets:
        facts += len(case.facts)
        for treatment, messages_of in TREATMENTS.items():
            found = judge_facts(case, messages_of(case, most), None)
            kept[treatment] += sum(one.in_context is True for one in found)
    return {"set": name, "share": share, "facts": facts, **kept}
