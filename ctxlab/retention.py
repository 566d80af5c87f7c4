"""Retention probes: whether the current fact of each stays in the request when the allowance is tight; no model is asked.

A probe is a case whose category names its boundary. The allowance follows from rendered sizes: what takes the one
snippet whole, one unit less, or what takes either of two snippets and not both (ADM-070, ADM-072).
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ctxlab.admission.passes import Admission, admit_snippets
from ctxlab.admission.rendering import EVIDENCE, Entry, render_snippets
from ctxlab.budget import Budget
from ctxlab.estimates import messages_tokens
from ctxlab.facts import judge_facts
from ctxlab.messages import Synthetic
from ctxlab.schemas import SCHEMAS
from ctxlab.tabulate import tabulate
from ctxlab.tokens import UTF8_BYTES_1

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    import pandas as pd

    from ctxlab.dataset import Case, Snippet

COUNTER = UTF8_BYTES_1
PROBES = "probes.jsonl"
Admit = Callable[..., Admission]
"""Anything that is called like `admit_snippets`."""


def load_probes() -> tuple[Case, ...]:
    """The 16 bundled probes: four languages times four boundaries."""
    from ctxlab.loading import load_dataset

    package = Path(__file__).parent
    bundled = package / "data" / PROBES
    return load_dataset(bundled if bundled.is_file() else package.parent / "data" / PROBES).cases


def retention_frame(probes: Iterable[Case] | None = None, *, admit: Admit = admit_snippets) -> pd.DataFrame:
    """Two rows per probe, `full` and `admit`: whether its literal stands in the rendered request (`retention`).

    Args:
        probes: cases whose category is a key of `ALLOWANCES`; null takes the bundled ones.
        admit: the admission that is measured.
    """
    records = (record for probe in probes or load_probes() for record in _records(probe, admit))
    attrs = {"run_id": None, "fingerprint": None, "counter": COUNTER.name, "client_kind": "offline"}
    return tabulate(SCHEMAS["retention"], records, attrs=attrs)


def lost(retention: pd.DataFrame) -> int:
    """How many rows of the frame have lost their literal."""
    return int((~retention["literal_kept"]).sum())


def kept_words(retention: pd.DataFrame, *, mode: str) -> str:
    """How many probes of a mode kept theirs, as `16/16 kept`."""
    kept = retention.loc[retention["mode"] == mode, "literal_kept"]
    return f"{int(kept.sum())}/{len(kept)} kept"


def probe_budget(probe: Case) -> Budget:
    """The budget of a probe: nothing is held back of the window."""
    return Budget(
        window_tokens=ALLOWANCES[probe.category](probe),
        output_reserve_tokens=0,
        protocol_reserve_tokens=0,
        safety_reserve_tokens=0,
    )


def _size(probe: Case, snippets: Sequence[Snippet]) -> int:
    """What the request costs with these snippets whole and without labels."""
    entries = [EVIDENCE.write(Entry(s, number, None, s.text)) for number, s in enumerate(snippets, 1)]
    text = "".join([EVIDENCE.head, *entries, EVIDENCE.notice])
    return _others(probe) + EVIDENCE.framing_tokens(COUNTER) + COUNTER(text)


def _others(probe: Case) -> int:
    return messages_tokens(probe.messages, COUNTER)


def _either(probe: Case) -> int:
    return max(_size(probe, [snippet]) for snippet in probe.snippets)


ALLOWANCES: dict[str, Callable[[Case], int]] = {
    "exact_fit": lambda probe: _size(probe, probe.snippets),
    "ends_before": lambda probe: _size(probe, probe.snippets) - 1,
    "obsolete_first": _either,
    "correction_first": _either,
}
"""The allowance of each boundary."""


def _records(probe: Case, admit: Admit) -> Iterator[dict[str, Any]]:
    snippets = probe.snippets
    yield _record(probe, "full", render_snippets(snippets), admitted=len(snippets))
    found = admit(
        snippets,
        budget=probe_budget(probe),
        counter=COUNTER,
        other_tokens=_others(probe),
        language=probe.language,
    )
    yield _record(
        probe,
        "admit",
        found.text,
        admitted=len(found.receipt.admitted),
        omitted=len(found.receipt.omitted),
        clipped=len(found.receipt.clipped),
        request_built=found.receipt.request_built,
    )


def _record(
    probe: Case,
    mode: str,
    evidence: str | None,
    *,
    admitted: int,
    omitted: int = 0,
    clipped: int = 0,
    request_built: bool = True,
) -> dict[str, Any]:
    return {
        "probe": probe.id,
        "mode": mode,
        "language": probe.language,
        "boundary": probe.category,
        "literal_kept": _holds_fact(probe, evidence),
        "admitted": admitted,
        "omitted": omitted,
        "clipped": clipped,
        "request_built": request_built,
    }


def _holds_fact(probe: Case, evidence: str | None) -> bool:
    """Whether the current fact stands in the request; an older fact under a label is another fact (ADM-074)."""
    if evidence is None:
        return False
    message = Synthetic(role="user", content=evidence, made_by="evidence")
    (fact,) = judge_facts(probe, [*probe.messages[:-1], message, probe.messages[-1]], None)
    return fact.in_context is True
