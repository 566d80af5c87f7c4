"""What two passes keep, against the most that any choice could keep: bytes of evidence, and current facts.

A choice is a set of whole snippets that fits and holds no snippet without all that obsolete it. The optimum is found by
branch and bound in the order of admission. A current fact is one that the newest snippet of a topic states.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from ctxlab.admission.lineage import arrange
from ctxlab.admission.passes import admit_snippets
from ctxlab.admission.rendering import EVIDENCE, Entry
from ctxlab.budget import Budget
from ctxlab.dataset import Scope, Snippet
from ctxlab.tokens import UTF8_BYTES_1

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTANCES = 1_000
MOST_SNIPPETS = 20
SHARES = (1.0, 0.99, 0.95, 0.9, 0.8, 0.5, 0.0)
AROUND = 12 + 4 + len(EVIDENCE.head) + len(EVIDENCE.notice)


class Item(NamedTuple):
    """One snippet in the order of admission.

    Attributes:
        cost: bytes of its entry.
        value: what it counts for.
        needs: places in the order of what has to be chosen with it.
    """

    cost: int
    value: int
    needs: frozenset[int]


def rows(*, quick: bool = False) -> list[dict[str, object]]:
    """One row per share of the optimum: how many instances reach at least that of it, and not the one above."""
    chance = random.Random(5)
    number = INSTANCES // 10 if quick else INSTANCES
    pairs = [shares(*instance(chance)) for _ in range(number)]
    counts = [Counter(_bucket(pair[which]) for pair in pairs) for which in (0, 1)]
    return [
        {
            "share_of_optimum": f">= {share}",
            "instances": number,
            "by_bytes": counts[0][share],
            "by_current_facts": counts[1][share],
        }
        for share in SHARES
    ]


def instance(chance: random.Random) -> tuple[tuple[Snippet, ...], int]:
    """Up to 20 snippets in topics with chains, and the room for their entries."""
    number = chance.randint(2, MOST_SNIPPETS)
    listed = tuple(_snippet(chance, place, number) for place in range(number))
    return listed, chance.randint(60, max(61, int(0.8 * sum(len(s.text) for s in listed))))


def _snippet(chance: random.Random, place: int, number: int) -> Snippet:
    other = chance.randrange(number)
    return Snippet(
        id=f"s{place}",
        title=f"Topic {chance.randrange(number // 2 + 1)}",
        text="x" * (chance.randint(20, 200) - 1) + ".",
        scope=Scope(workspace="w", project="p"),
        evidence_time=chance.choice([None, f"2025-01-{chance.randint(1, 28):02}"]),
        superseded_by=(f"s{other}",) if chance.random() < 0.3 and other != place else (),
    )


def shares(listed: Sequence[Snippet], room: int) -> tuple[float, float]:
    """What admission keeps over what could be kept: in bytes of text, and in current facts; 1 where nothing can."""
    budget = Budget(
        window_tokens=room + AROUND,
        output_reserve_tokens=0,
        protocol_reserve_tokens=0,
        safety_reserve_tokens=0,
    )
    receipt = admit_snippets(listed, budget=budget, counter=UTF8_BYTES_1, other_tokens=0).receipt
    kept = [one for one in receipt.decisions if one.decision == "admitted"]
    heads = {place.topic: place.rank for place in reversed(arrange(listed))}
    by_bytes, by_facts = items(listed, facts=False), items(listed, facts=True)
    return (
        _share(sum(one.kept_bytes for one in kept), optimum(by_bytes, room)),
        _share(sum(one.rank in heads.values() for one in kept), optimum(by_facts, room)),
    )


def items(listed: Sequence[Snippet], *, facts: bool) -> list[Item]:
    """The snippets in the order of admission, each counting for its bytes or for a current fact."""
    order = arrange(listed)
    places = {place.rank: i for i, place in enumerate(order)}
    found = []
    for i, place in enumerate(order):
        newer = {j for j, other in enumerate(order) if other.topic == place.topic and other.tier < place.tier}
        entry = EVIDENCE.write(Entry(listed[place.rank], 1, place.label, listed[place.rank].text))
        is_head = i == 0 or order[i - 1].topic != place.topic
        found.append(
            Item(
                cost=UTF8_BYTES_1(entry),
                value=int(is_head) if facts else UTF8_BYTES_1(listed[place.rank].text),
                needs=frozenset(newer | {places[successor] for successor in place.successors}),
            )
        )
    return found


def optimum(listed: Sequence[Item], room: int) -> int:
    """The largest value of a choice within the room."""
    best = 0
    dense = sorted(range(len(listed)), key=lambda i: -listed[i].value / listed[i].cost)

    def bound(start: int, left: int) -> float:
        """The most that the items from here on may add, were they divisible and in need of nothing."""
        total = 0.0
        for i in dense:
            if i >= start:
                part = min(1.0, left / listed[i].cost)
                total, left = total + part * listed[i].value, left - int(part * listed[i].cost)
                if part < 1:
                    break
        return total

    def visit(place: int, left: int, value: int, chosen: frozenset[int]) -> None:
        nonlocal best
        best = max(best, value)
        if place == len(listed) or value + bound(place, left) <= best:
            return
        item = listed[place]
        if item.cost <= left and item.needs <= chosen:
            visit(place + 1, left - item.cost, value + item.value, chosen | {place})
        visit(place + 1, left, value, chosen)

    visit(0, room, 0, frozenset())
    return best


def _share(kept: int, most: int) -> float:
    return kept / most if most else 1.0


def _bucket(share: float) -> float:
    return next(one for one in SHARES if share >= one)
