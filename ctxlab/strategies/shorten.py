"""Shortening by rules: project tool results, then digest old turns, then digest the head of the running turn.

Candidates are tried in order of what they lose; the first that fits the target is taken (STR-060 to STR-067).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, Literal

from ctxlab.errors import StrategyError
from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, Treatment
from ctxlab.strategies.digest import digest_progress, digest_turns
from ctxlab.strategies.evidence import EVIDENCE, Evidence
from ctxlab.strategies.project import claims_of, is_projected, mine_within, project, tool_names
from ctxlab.strategies.source import close_books, look_at

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.messages import Message
    from ctxlab.strategies.base import FittedContext, Span
    from ctxlab.strategies.mined import Fact
    from ctxlab.strategies.project import Excerpt
    from ctxlab.strategies.source import Source
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One way to shorten a case: its messages, and which of them stand unchanged or in part."""

    messages: tuple[Message, ...]
    cost_tokens: int
    kept: frozenset[int]
    quoted: tuple[Span, ...]
    projected: dict[int, Excerpt]
    reasons: dict[int, str]

    @property
    def claims(self) -> tuple[Span, ...]:
        """Ledger spans of what stands in digests and in projections."""
        spans = (claims_of(index, short, fate="projected") for index, short in self.projected.items())
        return (*self.quoted, *(span for one in spans for span in one))


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """The source with its tool results projected at one level: equal to it but for those."""

    source: Source
    messages: tuple[Message, ...]
    tokens: tuple[int, ...]
    projected: dict[int, Excerpt]


@dataclass(frozen=True, slots=True, kw_only=True)
class Shorten(Treatment):
    """Make the message list fit by rules alone; it makes no call.

    Attributes:
        target_tokens: bound of the whole message list, pinned messages included and evidence excluded; without
            one it is M.
        evidence: what becomes of the case's snippets: `all`, `admit` or `none`.
        on_missed_target: `refuse` a result over the target, or `send` it with a flag if it is within M.
    """

    kind: ClassVar[str] = "shorten"
    target_tokens: int | None = None
    evidence: Evidence = "all"
    on_missed_target: Literal["refuse", "send"] = "refuse"
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        check_target(self.target_tokens)
        check_choice("evidence", self.evidence, EVIDENCE)
        check_choice("on_missed_target", self.on_missed_target, ("refuse", "send"))

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Return the first candidate that fits, the source itself if it does, or a refusal."""
        source = look_at(case, budget, counter, evidence=self.evidence)
        limit = source.message_allowance_tokens
        if self.target_tokens is not None:
            limit = min(limit, self.target_tokens)
        if sum(source.tokens) <= limit:
            return self._close(source, limit, source.messages, "unchanged", kept=range(len(source.messages)))
        found, fits = first_that_fits(source, limit)
        within = found.cost_tokens <= source.message_allowance_tokens
        flagged = not fits and within and self.on_missed_target == "send" and self.target_tokens is not None
        if fits or flagged:
            flags = ("target_missed",) if flagged else ()
            return self._close(
                source,
                limit,
                found.messages,
                "shortened",
                kept=found.kept,
                claims=found.claims,
                reasons=found.reasons,
                flags=flags,
            )
        return self._close(source, limit, (), "refused", reason=_refusal(source, limit))

    def _close(
        self,
        source: Source,
        limit: int,
        messages: tuple[Message, ...],
        outcome: Literal["unchanged", "shortened", "refused"],
        *,
        kept: Sequence[int] | frozenset[int] = (),
        claims: tuple[Span, ...] = (),
        reasons: dict[int, str] | None = None,
        reason: str | None = None,
        flags: tuple[str, ...] = (),
    ) -> FittedContext:
        receipt = {"target_tokens": limit, "flags": flags}
        draft = Draft(messages=messages, outcome=outcome, reason=reason, claims=claims, receipt=receipt)
        return close_books(
            source,
            draft,
            strategy=self.name,
            parameters=self.parameters,
            kept=kept,
            reasons=reasons,
            reason="digest",
        )


def check_target(target_tokens: int | None) -> None:
    """Refuse a target that is not null and not a positive integer."""
    if target_tokens is not None and (type(target_tokens) is not int or target_tokens < 1):
        raise StrategyError("target_tokens: expected a whole number of 1 or more")


def check_choice(name: str, value: object, allowed: Sequence[str]) -> None:
    """Refuse a value that is not one of the allowed words."""
    if value not in allowed:
        raise StrategyError(f"{name}: allowed is {', '.join(allowed)}")


def first_that_fits(source: Source, limit: int) -> tuple[Candidate, bool]:
    """The first candidate within the limit and true, or the last one tried and false."""
    tried: Candidate | None = None
    for candidate in _candidates(source, limit):
        tried = candidate
        if candidate.cost_tokens <= limit:
            return candidate, True
    assert tried is not None  # there is always a level of projection
    return tried, False


def _candidates(source: Source, limit: int) -> Iterator[Candidate]:
    thresholds = source.budget.thresholds
    names = tool_names(source.messages)
    facts: dict[int, tuple[Fact, ...]] = {}
    turns = len(source.layout.turns)
    for level in thresholds.projection_levels:
        view = _view(source, names, facts, level=level, limit=limit)
        if view is not None:
            yield _assemble(view)
    view = view or _view(source, _standing(source, names), facts, level=level, limit=None)
    assert view is not None  # without a limit there is one
    for kept_turns in range(thresholds.recent_keep_turns, 0, -1):
        if kept_turns <= turns:
            old = turns - (kept_turns - 1)
            yield _assemble(view, old_turns=old, characters=thresholds.digest_characters)
    yield from _shorten_running(view, limit)


def _standing(source: Source, names: dict[int, str]) -> dict[int, str]:
    """Of the tool results those that stage 2 leaves standing at first: pinned ones and those of the newest turns."""
    layout = source.layout
    kept = layout.turns[-source.budget.thresholds.recent_keep_turns :]
    start = kept[0][0] if kept else layout.question
    return {i: name for i, name in names.items() if i >= start or i in layout.pinned}


def _shorten_running(view: View, limit: int) -> Iterator[Candidate]:
    """Stage 3: cut the running turn at the smallest place that fits, then shorten the digests (STR-065)."""
    source, thresholds = view.source, view.source.budget.thresholds
    old, full = len(source.layout.turns), thresholds.digest_characters
    cuts = _permitted_cuts(source)
    if cuts:
        low, high = 0, len(cuts) - 1
        while low < high:
            middle = (low + high) // 2
            candidate = _assemble(view, old_turns=old, characters=full, cut=cuts[middle])
            low, high = (low, middle) if candidate.cost_tokens <= limit else (middle + 1, high)
        yield _assemble(view, old_turns=old, characters=full, cut=cuts[low])
    for characters in thresholds.progress_retry_characters:
        yield _assemble(view, old_turns=old, characters=characters, cut=cuts[-1] if cuts else None)


def _permitted_cuts(source: Source) -> list[int]:
    """Indices at which the kept tail of the running turn may begin: never before a result, never in the newest group."""
    layout = source.layout
    group = layout.newest_group
    last = group[0] if group else layout.end - 1
    return [i for i in range(layout.question + 2, last + 1) if source.messages[i].role != "tool"]


def _view(
    source: Source,
    names: dict[int, str],
    facts: dict[int, tuple[Fact, ...]],
    *,
    level: tuple[int, int],
    limit: int | None,
) -> View | None:
    """The source at one level, or null as soon as it is over the limit; `facts` keeps what is mined for other levels."""
    messages, tokens = list(source.messages), list(source.tokens)
    long = [i for i in names if is_projected(messages[i], room_characters=sum(level))]
    cost = sum(tokens) - sum(tokens[i] for i in long)
    thresholds = source.budget.thresholds
    projected: dict[int, Excerpt] = {}
    for index in long:
        if limit is not None and cost > limit:
            return None
        if index not in facts:
            facts[index] = mine_within(messages[index].text, thresholds)
        short = project(
            messages[index], name=names[index], level=level, thresholds=thresholds, facts=facts[index]
        )
        if short is not None:
            messages[index], projected[index] = short
            tokens[index] = source.cost([messages[index]])
        cost += tokens[index]
    return View(source=source, messages=tuple(messages), tokens=tuple(tokens), projected=projected)


def _assemble(view: View, *, old_turns: int = 0, characters: int = 0, cut: int | None = None) -> Candidate:
    """The view with its oldest turns in one digest, and the running turn up to `cut` in another."""
    source, layout = view.source, view.source.layout
    thresholds = source.budget.thresholds
    turns = layout.turns[:old_turns]
    dropped = set(range(layout.preamble, turns[-1][1]) if turns else ()) - layout.pinned
    ended = range(layout.question + 1, layout.question + 1 if cut is None else cut)
    head = [i for i in ended if i not in layout.pinned]
    standing = [i for i in range(layout.end) if i not in dropped and i not in head]
    inserted: dict[int, Message] = {}
    quoted: list[Span] = []
    if dropped:
        inserted[layout.preamble], spans = digest_turns(
            source.messages, turns, characters=characters, thresholds=thresholds
        )
        quoted += spans
    if head:
        inserted[ended.stop], spans = digest_progress(
            source.messages, head, characters=characters, thresholds=thresholds
        )
        quoted += spans
    return Candidate(
        messages=_weave(view.messages, standing, inserted),
        cost_tokens=sum(view.tokens[i] for i in standing) + source.cost(inserted.values()),
        kept=frozenset(i for i in standing if i not in view.projected),
        quoted=tuple(quoted),
        projected={i: view.projected[i] for i in standing if i in view.projected},
        reasons=dict.fromkeys((span.item_index for span in quoted), "digest_limit"),
    )


def _weave(
    messages: Sequence[Message], standing: Sequence[int], inserted: dict[int, Message]
) -> tuple[Message, ...]:
    """The standing messages in order, each inserted one before the first of them at or after its index."""
    woven: list[Message] = []
    pending = sorted(inserted)
    for index in standing:
        while pending and pending[0] <= index:
            woven.append(inserted[pending.pop(0)])
        woven.append(messages[index])
    return tuple(woven + [inserted[place] for place in pending])


def _refusal(source: Source, limit: int) -> str:
    """Why nothing fits: the pinned messages alone, their results projected as far as allowed, or the rest."""
    names = {i: name for i, name in tool_names(source.messages).items() if i in source.layout.pinned}
    view = _view(source, names, {}, level=source.budget.thresholds.projection_levels[-1], limit=None)
    assert view is not None  # without a limit there is one
    pinned = sum(view.tokens[i] for i in source.layout.pinned)
    return "pinned_too_large" if pinned > limit else "target_not_reached"
