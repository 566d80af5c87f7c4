"""Admission of 10,000 snippets with lineages, its account included, against 1,000 of them: nearly linear."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

from benchmarks.pairs import paired
from benchmarks.texts import prose
from ctxlab.admission.passes import admit_snippets
from ctxlab.budget import Budget
from ctxlab.dataset import Scope, Snippet
from ctxlab.tokens import UTF8_BYTES_1

if TYPE_CHECKING:
    from ctxlab.admission.receipt import AdmissionReceipt

SMALL, LARGE = 1_000, 10_000
AT_MOST = 12.0
ROOM_SHARE = 0.4
"""How much of all text the request has room for."""


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row: seconds for both, and their ratio."""
    small, large = (SMALL // 10, LARGE // 10) if quick else (SMALL, LARGE)
    few, many = snippets(small), snippets(large)
    timed = paired(lambda: admitted(many), lambda: admitted(few))
    receipt = admitted(many)
    return [
        {
            "snippets": large,
            "admitted": len(receipt.admitted),
            "omitted": len(receipt.omitted),
            "admit_s": timed.work_s,
            f"admit_{small}_s": timed.against_s,
            "ratio": timed.ratio,
            "at_most": AT_MOST,
        }
    ]


def admitted(listed: tuple[Snippet, ...]) -> AdmissionReceipt:
    """The account of admitting what there is room for."""
    room = int(ROOM_SHARE * sum(len(snippet.text) for snippet in listed))
    budget = Budget(
        window_tokens=room, output_reserve_tokens=0, protocol_reserve_tokens=0, safety_reserve_tokens=0
    )
    return admit_snippets(listed, budget=budget, counter=UTF8_BYTES_1, other_tokens=0).receipt


def snippets(number: int) -> tuple[Snippet, ...]:
    """So many snippets, five to a topic, a third of them superseded by a later one near them; the same every time."""
    chance = random.Random(number)
    return tuple(_snippet(chance, place, number) for place in range(number))


def _snippet(chance: random.Random, place: int, number: int) -> Snippet:
    later = min(number - 1, place + chance.randint(1, 20))
    day = chance.randint(1, 28)
    return Snippet(
        id=f"s{place}",
        title=f"Topic {chance.randrange(number // 5 + 1)}",
        text=prose(chance, chance.randint(100, 600)).rstrip(),
        scope=Scope(workspace="w", project=f"p{place % 3}"),
        evidence_time=chance.choice([None, f"2025-0{chance.randint(1, 9)}-{day:02}"]),
        superseded_by=(f"s{later}",) if chance.random() < 1 / 3 and later != place else (),
        language="en",
    )
