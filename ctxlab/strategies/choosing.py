"""Choosing units by value for what they cost, greedily, the value recomputed after each choice (STR-073, STR-075).

A unit loses value only when one of its identifiers is chosen elsewhere. So a ranking that is made once is enough, and a
heap of those that have lost value since: what comes first is computed anew, and taken if it still comes first.
"""

from __future__ import annotations

import heapq
from bisect import bisect_left, bisect_right, insort
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from ctxlab.strategies.survey import Unit

LINE_TOKENS = 8
"""What a line costs besides its text, in the measure by which units are chosen."""
LABEL_TOKENS = 2
"""What the role and its brackets take at least."""
MOST_CORRECTIONS = 64
"""A unit with more later corrections than this has to wait until they have been chosen for themselves."""

Key = tuple[float, int, int, int]
"""Minus value for cost, minus message, start, place: what is chosen first is smallest."""


def body_of(units: Sequence[Unit], chosen: Iterable[int]) -> str:
    """The chosen units in source order, a line for each run of them on one line, `…` where something was left out."""
    pieces, previous = [], -1
    for place in (*sorted(chosen), len(units)):
        if is_gap(units, previous, place):
            pieces.append("\n…")
        if place < len(units):
            pieces.append(_piece(units[place], goes_on=goes_on(units, previous, place)))
        previous = place
    return "".join(pieces).removeprefix("\n")


def _piece(unit: Unit, *, goes_on: bool) -> str:
    return f"{unit.between}{unit.text}" if goes_on else f"\n[{unit.role}] {unit.text}"


def is_gap(units: Sequence[Unit], before: int, after: int) -> bool:
    """Whether something is left out between two chosen units; -1 and the number of units stand for the ends."""
    return after != before + 1 or (0 < after < len(units) and not units[after].follows)


def goes_on(units: Sequence[Unit], before: int, after: int) -> bool:
    """Whether a unit stands on the line of the one before it."""
    return after == before + 1 and after < len(units) and units[after].between is not None


def corrections_of(units: Sequence[Unit]) -> dict[str, list[int]]:
    """By identifier the places of the units with a rejection cue that hold it, in source order."""
    found: dict[str, list[int]] = {}
    for place, unit in enumerate(units):
        for name in unit.identifiers if "rejection" in unit.cues else ():
            found.setdefault(name, []).append(place)
    return found


@dataclass(slots=True, kw_only=True)
class Chooser:
    """What has been chosen, what room is left, and what may be chosen next.

    Attributes:
        worth: the value of each unit but for its identifiers.
        tokens: the tokens of each unit's text.
        corrections: by identifier the units with a rejection cue that hold it, in source order.
        identifier_worth, most_identifiers: the value of an identifier that is new, and of how many in one unit.
        size, room: what lines are measured by, so that sizes add up, and what the body may measure.
        choices: what was chosen, in order; what belongs together stands together.
    """

    units: Sequence[Unit]
    worth: Sequence[float]
    tokens: Sequence[int]
    identifier_worth: float
    most_identifiers: int
    corrections: Mapping[str, Sequence[int]]
    size: Callable[[str], int]
    room: int
    choices: list[list[int]] = field(default_factory=list)
    _spared: int = field(init=False)
    _chosen: list[int] = field(init=False, default_factory=list)
    _taken: set[int] = field(init=False, default_factory=set)
    _said: set[str] = field(init=False, default_factory=set)
    _texts: set[str] = field(init=False, default_factory=set)
    _again: list[Key] = field(init=False, default_factory=list)
    _waiting: dict[str, set[int]] = field(init=False, default_factory=dict)

    def __post_init__(self) -> None:
        self._spared = self.size("\n…\n[assistant] ")  # at most so much goes when a unit closes a gap

    def run(self, ranking: Sequence[Key]) -> list[int]:
        """Choose among the ranked units until nothing more fits; the places of all chosen ones in source order."""
        while ranking:
            before = len(self._chosen)
            self._pass(ranking)
            # A unit beside a chosen one costs less than before, so what did not fit is tried again.
            ranking = self.ranking(self._left()) if len(self._chosen) > before else ()
        return self._chosen

    def _left(self) -> list[int]:
        return [
            place for place in range(len(self.units)) if place not in self._taken and self._may_fit(place)
        ]

    def _may_fit(self, place: int) -> bool:
        """Whether a unit may fit; no is sure, and found without measuring anything."""
        beside_chosen = place - 1 in self._taken or place + 1 in self._taken
        return self.tokens[place] <= self.room + (self._spared if beside_chosen else -LABEL_TOKENS)

    def ranking(self, candidates: Iterable[int]) -> list[Key]:
        """The candidates by what they are worth now, the best first."""
        return sorted(self._key(place, [place]) for place in candidates)

    def undo(self) -> list[int]:
        """Take back the last choice; the places that are left, in source order."""
        self._taken.difference_update(self.choices.pop())
        self._chosen = sorted(self._taken)
        return self._chosen

    def _pass(self, ranking: Sequence[Key]) -> None:
        """Choose among the ranked units what fits."""
        ranked = iter(ranking)
        upcoming = next(ranked, None)
        while upcoming or self._again:
            if upcoming is None or (self._again and self._again[0] < upcoming):
                key = heapq.heappop(self._again)
            else:
                key, upcoming = upcoming, next(ranked, None)
            place = key[-1]
            if place in self._taken or not self._may_fit(place) or self.units[place].text in self._texts:
                continue
            together = self._with_corrections(place)
            if together is None:
                continue
            current = self._key(place, together)
            if current > key and any(other and other < current for other in (upcoming, *self._again[:1])):
                heapq.heappush(self._again, current)
            else:
                self._take(together)

    def _key(self, place: int, together: Sequence[int]) -> Key:
        said: set[str] = set()
        value, cost = 0.0, 0
        for one in together:
            new = self.units[one].identifiers - self._said - said
            value += self.worth[one] + self.identifier_worth * min(self.most_identifiers, len(new))
            cost += LINE_TOKENS + self.tokens[one]
            said |= new
        unit = self.units[place]
        return -value / cost, -unit.message, unit.start, place

    def _with_corrections(self, place: int) -> list[int] | None:
        """A unit with all that later withdraws or corrects it and is not chosen yet; null while that is too much."""
        together, known = [place], {place}
        cost = self.tokens[place]
        for one in together:
            for name in self.units[one].identifiers:
                later = self.corrections.get(name, ())
                for other in islice(later, bisect_right(later, one), None):
                    if other not in known and other not in self._taken:
                        known.add(other)
                        together.append(other)
                        cost += self.tokens[other] - self._spared
                        if len(together) > MOST_CORRECTIONS or cost > self.room + self._spared:
                            self._wait(place)
                            return None
        if len(together) > 1:
            self._wait(place)
        return together

    def _wait(self, place: int) -> None:
        """Let a unit be tried again when something that corrects it has been chosen."""
        for name in self.units[place].identifiers:
            self._waiting.setdefault(name, set()).add(place)

    def _take(self, together: Sequence[int]) -> None:
        """Choose units that belong together, if they fit."""
        chosen, needed = list(self._chosen), 0
        for place in together:
            needed += self._growth(chosen, place)
            insort(chosen, place)
        if needed > self.room:
            return
        self._chosen, self.room = chosen, self.room - needed
        self.choices.append(list(together))
        self._taken.update(together)
        for place in together:
            self._said |= self.units[place].identifiers
            self._texts.add(self.units[place].text)
        for place in together:
            self._call(place)

    def _growth(self, chosen: Sequence[int], place: int) -> int:
        """By how much the body grows if a unit is added to the chosen ones."""
        here = bisect_left(chosen, place)
        before = chosen[here - 1] if here else -1
        after = chosen[here] if here < len(chosen) else len(self.units)
        gaps = is_gap(self.units, before, place) + is_gap(self.units, place, after)
        gaps -= is_gap(self.units, before, after) if chosen else 0
        grown = self._size_of(place, goes_on=goes_on(self.units, before, place)) + gaps * self.size("…\n")
        if goes_on(self.units, place, after):
            grown += self._size_of(after, goes_on=True) - self._size_of(after, goes_on=False)
        return grown

    def _size_of(self, place: int, *, goes_on: bool) -> int:
        """A unit's size where it stands; the line break is counted behind it, where vocabularies join it to marks."""
        piece = _piece(self.units[place], goes_on=goes_on)
        return self.size(piece if goes_on else f"{piece[1:]}\n")

    def _call(self, chosen: int) -> None:
        """Put back what waited for a correction that has been chosen: it costs less now."""
        if "rejection" not in self.units[chosen].cues:
            return
        for name in self.units[chosen].identifiers:
            waiting = self._waiting.get(name, set())
            for place in [place for place in waiting if place < chosen]:
                waiting.discard(place)
                if place not in self._taken:
                    heapq.heappush(self._again, self._key(place, [place]))
