"""What snippets are about and which of them are outdated: topics, lineage, times, and the order of admission.

`x` obsoletes `y` if a chain of `superseded_by` leads from `y` to `x`, or if both share a topic and `x` is strictly
newer. Effective times never fall along a chain, so the two never contradict each other, and everything is linear in
snippets and edges, sorting apart.
"""

from __future__ import annotations

import functools
import heapq
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from ctxlab.dataset import parse_time
from ctxlab.errors import InputError

if TYPE_CHECKING:
    from datetime import datetime

    from ctxlab.dataset import Snippet

Label = Literal["superseded", "superseded, successor not retrieved", "older"]
Flag = Literal["lineage_cycle", "lineage_out_of_scope"]
Edges = Sequence[Sequence[int]]
"""For each snippet, by rank, the ranks of its successors."""


class Place(NamedTuple):
    """Where one snippet stands in the order of admission.

    Attributes:
        rank: its place in the retrieval list, from 0.
        topic: number of its topic in the order, from 0.
        tier: how many different effective times of its topic are newer than its own.
        successors: ranks of the direct successors that hold after the cut of cycles.
        time: the effective time, null if unknown.
        label: what it is called when it is admitted, null if nothing obsoletes it.
        flags: what is odd about its lineage.
    """

    rank: int
    topic: int
    tier: int
    successors: Sequence[int]
    time: datetime | None
    label: Label | None
    flags: tuple[Flag, ...]


Arrange = Callable[[Sequence["Snippet"]], Sequence[Place]]
"""From the retrieval list to the order of admission."""


def arrange(snippets: Sequence[Snippet]) -> list[Place]:
    """The snippets in the order in which they are tried: topics by their best rank, in each the head first (ADM-015).

    Raises `InputError` if two snippets have one id.
    """
    first = _first_of_titles(snippets)
    if len(first) == len(snippets) and not any(snippet.superseded_by for snippet in snippets):
        return [_alone(rank, own_time(snippet)) for rank, snippet in enumerate(snippets)]
    named, missing, astray = _named_successors(snippets)
    topics = _topics(snippets, named)
    components = _components(named)
    lineage, cyclic = _without_cycles(named, components)
    times = _effective_times(snippets, lineage, components)
    order: list[Place] = []
    for number, members in enumerate(topics):
        tier, before = -1, None
        for rank in _in_topic(members, lineage, times):
            if tier < 0 or times[rank] != before:
                tier, before = tier + 1, times[rank]
            order.append(
                Place(
                    rank=rank,
                    topic=number,
                    tier=tier,
                    successors=lineage[rank],
                    time=times[rank],
                    label=_label(superseded=bool(lineage[rank]), missing=rank in missing, older=tier > 0),
                    flags=_flags(cyclic=rank in cyclic, astray=rank in astray),
                )
            )
    return order


def in_rank_order(snippets: Sequence[Snippet]) -> list[Place]:
    """The retrieval order as it is, nothing obsolete and nothing blocked: what admission is measured against."""
    return [_alone(rank, None) for rank in range(len(snippets))]


def in_time_order(snippets: Sequence[Snippet]) -> list[Place]:
    """The newest snippet first by its own time, rank at equality, nothing obsolete and nothing blocked."""
    times = [own_time(snippet) for snippet in snippets]
    known = sorted(
        (rank for rank, time in enumerate(times) if time is not None),
        key=lambda rank: (-_seconds(times[rank]), rank),
    )
    return [
        _alone(rank, times[rank]) for rank in (*known, *(r for r, time in enumerate(times) if time is None))
    ]


def _seconds(time: datetime | None) -> float:
    return 0.0 if time is None else time.timestamp()


ORDERS: Mapping[str, Arrange] = {"lineage": arrange, "newest": in_time_order, "rank": in_rank_order}
"""The rules of order by name: that of admission, and what it is measured against."""


def folded_title(title: str) -> str:
    """A title as it is compared: NFKC, case folded, NFKC again, white space collapsed and trimmed (ADM-010)."""
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", title).casefold())
    return " ".join(folded.split())


def own_time(snippet: Snippet) -> datetime | None:
    """When a snippet was said, null if that is unknown; when it was ingested says nothing (ADM-012)."""
    text = snippet.session_start or snippet.evidence_time
    return None if text is None else _time(text)


_time = functools.lru_cache(maxsize=4096)(parse_time)


def _alone(rank: int, time: datetime | None) -> Place:
    """A snippet that is a topic of its own."""
    return Place(rank, rank, 0, (), time, None, ())


def _first_of_titles(snippets: Sequence[Snippet]) -> dict[tuple[str, str, str | int], int]:
    """By scope and title the best rank; a snippet without a title stands under its own rank.

    Raises `InputError` if two snippets have one id.
    """
    if len({snippet.id for snippet in snippets}) < len(snippets):
        raise InputError("snippets: an id stands twice; allowed is each once")
    first: dict[tuple[str, str, str | int], int] = {}
    for rank, snippet in enumerate(snippets):
        scope = snippet.scope
        first.setdefault((scope.workspace, scope.project, folded_title(snippet.title) or rank), rank)
    return first


def _label(*, superseded: bool, missing: bool, older: bool) -> Label | None:
    if superseded:
        return "superseded"
    if missing:
        return "superseded, successor not retrieved"
    return "older" if older else None


def _flags(*, cyclic: bool, astray: bool) -> tuple[Flag, ...]:
    found: list[Flag] = []
    if cyclic:
        found.append("lineage_cycle")
    if astray:
        found.append("lineage_out_of_scope")
    return tuple(found)


def _named_successors(snippets: Sequence[Snippet]) -> tuple[list[list[int]], set[int], set[int]]:
    """The successors of each snippet in its scope; who names one not in the list; who names one out of scope."""
    places = {snippet.id: rank for rank, snippet in enumerate(snippets)}
    missing: set[int] = set()
    astray: set[int] = set()
    edges: list[list[int]] = [[] for _ in snippets]
    for rank, snippet in enumerate(snippets):
        for name in snippet.superseded_by:
            successor = places.get(name)
            if successor is None:
                missing.add(rank)
            elif snippets[successor].scope != snippet.scope:
                astray.add(rank)
            elif successor not in edges[rank]:
                edges[rank].append(successor)
    return edges, missing, astray


def _topics(snippets: Sequence[Snippet], edges: Edges) -> list[list[int]]:
    """Ranks by topic, in rank order: the closure of equal titles and of lineage, each within one scope (ADM-010)."""
    parents = list(range(len(snippets)))

    def root(rank: int) -> int:
        while parents[rank] != rank:
            parents[rank] = parents[parents[rank]]
            rank = parents[rank]
        return rank

    first: dict[tuple[str, str, str], int] = {}
    for rank, snippet in enumerate(snippets):
        title = folded_title(snippet.title)
        if title:
            key = (snippet.scope.workspace, snippet.scope.project, title)
            parents[root(rank)] = root(first.setdefault(key, rank))
        for successor in edges[rank]:
            parents[root(rank)] = root(successor)
    topics: dict[int, list[int]] = {}
    for rank in range(len(snippets)):
        topics.setdefault(root(rank), []).append(rank)
    return list(topics.values())


def _components(edges: Edges) -> list[list[int]]:
    """The strongly connected components, successors before what they supersede (Tarjan, without recursion)."""
    found: list[list[int]] = []
    index: dict[int, int] = {}
    low: dict[int, int] = {}
    stack: list[int] = []
    standing: set[int] = set()
    for start in range(len(edges)):
        work = [] if start in index else [(start, iter(edges[start]))]
        while work:
            node, rest = work[-1]
            if node not in index:
                index[node] = low[node] = len(index)
                stack.append(node)
                standing.add(node)
            following = next(rest, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[node])
                if low[node] == index[node]:
                    found.append(_popped(stack, standing, node))
            elif following not in index:
                work.append((following, iter(edges[following])))
            elif following in standing:
                low[node] = min(low[node], index[following])
    return found


def _popped(stack: list[int], standing: set[int], last: int) -> list[int]:
    """Take a finished component off the stack."""
    members: list[int] = []
    while not members or members[-1] != last:
        members.append(stack.pop())
        standing.discard(members[-1])
    return members


def _without_cycles(
    edges: Edges, components: Sequence[Sequence[int]]
) -> tuple[list[tuple[int, ...]], set[int]]:
    """The edges but those inside a cycle, and the members of cycles; a snippet that names itself is one (ADM-018)."""
    component = {rank: number for number, members in enumerate(components) for rank in members}
    cut = [
        tuple(successor for successor in successors if component[successor] != component[rank])
        for rank, successors in enumerate(edges)
    ]
    cyclic = {rank for members in components if len(members) > 1 for rank in members}
    return cut, cyclic | {rank for rank, successors in enumerate(edges) if rank in successors}


def _effective_times(
    snippets: Sequence[Snippet], lineage: Edges, components: Sequence[Sequence[int]]
) -> list[datetime | None]:
    """The newest of a snippet's own time and the times of all that it supersedes (ADM-012)."""
    times = [own_time(snippet) for snippet in snippets]
    for members in reversed(components):
        for rank in members:
            time = times[rank]
            for successor in lineage[rank]:
                if _is_newer(time, times[successor]):
                    times[successor] = time
    return times


def _is_newer(time: datetime | None, other: datetime | None) -> bool:
    return time is not None and (other is None or time > other)


def _in_topic(members: Sequence[int], lineage: Edges, times: Sequence[datetime | None]) -> list[int]:
    """The members of a topic: newest first; of one time, each after its successors, else by rank."""
    if len(members) == 1:
        return [*members]
    by_time: dict[datetime | None, list[int]] = {}
    for rank in members:
        by_time.setdefault(times[rank], []).append(rank)
    known = sorted((time for time in by_time if time is not None), reverse=True)
    groups = [by_time[time] for time in known] + ([by_time[None]] if None in by_time else [])
    return [rank for group in groups for rank in _after_successors(group, lineage)]


def _after_successors(group: Sequence[int], lineage: Edges) -> list[int]:
    """Ranks of one effective time: of those whose successors all stand, always the best rank next."""
    own = set(group)
    waiting = {rank: sum(successor in own for successor in lineage[rank]) for rank in group}
    followers: dict[int, list[int]] = {}
    for rank in group:
        for successor in lineage[rank]:
            if successor in own:
                followers.setdefault(successor, []).append(rank)
    free = [rank for rank in group if not waiting[rank]]
    heapq.heapify(free)
    order = []
    while free:
        order.append(heapq.heappop(free))
        for rank in followers.get(order[-1], ()):
            waiting[rank] -= 1
            if not waiting[rank]:
                heapq.heappush(free, rank)
    return order
