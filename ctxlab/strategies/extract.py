"""Extracting by rules: the sentences and lines of the history that are worth most for what they cost (STR-070 to 075).

Nothing is rewritten and nothing is projected: a unit stands word for word in one synthetic message, or not at all.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, ClassVar

from ctxlab.errors import StrategyError
from ctxlab.estimates import message_tokens
from ctxlab.messages import Message, Synthetic
from ctxlab.strategies.base import NOT_A_PARAMETER, PYTHON_ONLY, Draft, Span, Treatment, parameter_names
from ctxlab.strategies.choosing import LINE_TOKENS, Chooser, Key, body_of, corrections_of
from ctxlab.strategies.evidence import EVIDENCE, Evidence
from ctxlab.strategies.relevance import relevance
from ctxlab.strategies.shorten import check_choice, check_target
from ctxlab.strategies.source import close_books, look_at
from ctxlab.strategies.survey import Survey, Unit, survey
from ctxlab.tokens import bytes_per_token, counted_once, utf8_bytes

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import FittedContext, Outcome
    from ctxlab.strategies.source import Source
    from ctxlab.tokens import Counter

HEADING = "[Extract of the earlier conversation, word for word]\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What adds to a unit's value (STR-072); each class of cues counts once.

    Attributes:
        identifier: each distinct identifier that is not chosen yet, for at most `most_identifiers` of them.
        constraint, rejection, pending, decision, failure, status, reason: a cue of the class.
        number: a digit anywhere; `user`: the user's role.
        position: 0 for the oldest unit to this for the newest.
    """

    identifier: float = 3
    most_identifiers: int = 3
    constraint: float = 4
    rejection: float = 4
    pending: float = 4
    decision: float = 3
    failure: float = 3
    status: float = 3
    reason: float = 2
    number: float = 1
    user: float = 1
    position: float = 1

    def __str__(self) -> str:
        """The weights that differ from the defaults, as the name of a strategy shows them."""
        changed = {f.name: getattr(self, f.name) for f in fields(self) if getattr(self, f.name) != f.default}
        return "/".join(f"{name}:{value:g}" for name, value in changed.items())

    def worth(self, units: Sequence[Unit]) -> list[float]:
        """The value of each unit but for its identifiers."""
        last = max(1, len(units) - 1)
        return [
            sum(getattr(self, cue) for cue in sorted(unit.cues))
            + self.number * unit.has_number
            + self.user * (unit.role == "user")
            + self.position * (place / last if len(units) > 1 else 1)
            for place, unit in enumerate(units)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract(Treatment):
    """Keep what is worth most of the history, word for word; it makes no call.

    Attributes:
        target_tokens: bound of the whole message list, pinned messages included and evidence excluded; without one
            it is M.
        weights: what a unit's value is made of.
        evidence: what becomes of the case's snippets: `all`, `admit` or `none`.
        question_weight: what the BM25 overlap of a unit's passage with the question adds to its value for each token
            that it costs, if no other passage has more; 0 is blind to the question.
    """

    kind: ClassVar[str] = "extract"
    reads_thresholds: ClassVar[bool] = False
    target_tokens: int | None = None
    weights: Weights = field(default=Weights(), metadata=PYTHON_ONLY)
    evidence: Evidence = "all"
    question_weight: float = 0
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        check_target(self.target_tokens)
        check_choice("evidence", self.evidence, EVIDENCE)
        weight = self.question_weight
        if type(weight) not in (int, float) or not 0 <= weight < float("inf"):
            raise StrategyError("question_weight: expected a number of 0 or more")
        object.__setattr__(self, "question_weight", int(weight) if weight == int(weight) else weight)

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Return the pinned messages with an extract of the rest, the source itself if it fits, or a refusal."""
        source = look_at(case, budget, counted_once(counter), evidence=self.evidence)
        limit = source.message_allowance_tokens
        if self.target_tokens is not None:
            limit = min(limit, self.target_tokens)
        if sum(source.tokens) <= limit:
            return self._close(source, limit, source.messages, "unchanged", kept=range(len(source.messages)))
        kept = sorted(source.layout.pinned.union(source.layout.running))
        standing = sum(source.tokens[i] for i in kept)
        if standing > limit:
            reason = "pinned_too_large" if source.pinned_tokens > limit else "target_not_reached"
            return self._close(source, limit, (), "refused", reason=reason)
        surveyed = survey(case.messages[: source.layout.question], case.language)
        chosen, message = self._extract(source, surveyed, room_tokens=limit - standing)
        messages = (
            *source.messages[: source.layout.preamble],
            *message,
            *(source.messages[i] for i in kept if i >= source.layout.preamble),
        )
        claims = tuple(_claim(surveyed.units[place]) for place in chosen)
        return self._close(source, limit, messages, "extracted", kept=kept, claims=claims)

    def _extract(
        self, source: Source, surveyed: Survey, *, room_tokens: int
    ) -> tuple[list[int], tuple[Message, ...]]:
        """The places of the chosen units, and the message that holds them, if there is any."""
        units = surveyed.units
        size, room = _measure(source.counter, room_tokens - message_tokens(_message(""), source.counter))
        chooser, ranking = self._chooser(source, surveyed, size)
        chooser.room = room - size(HEADING) + size("…\n") - size("…")  # no line break ends the text
        chosen = chooser.run(ranking)
        text = HEADING + body_of(units, chosen)
        while (spare := room - size(text)) > chooser.room:
            chooser.room = spare  # sizes did not add up, and left room for more
            if len(chosen) == len(chosen := chooser.run(chooser.ranking(range(len(units))))):
                break
            text = HEADING + body_of(units, chosen)
        while chosen and size(text) > room:
            chosen = chooser.undo()
            text = HEADING + body_of(units, chosen)
        return chosen, (_message(text),) if chosen else ()

    def _chooser(
        self, source: Source, surveyed: Survey, size: Callable[[str], int]
    ) -> tuple[Chooser, list[Key]]:
        """A chooser without room yet, and the ranking that it begins with; both cost nothing for a second target."""
        units, counter = surveyed.units, source.counter
        question = source.messages[source.layout.question].text if self.question_weight else ""
        setting = (counter.name, self.weights, self.question_weight, question)
        tokens = surveyed.once(counter.name, lambda: [counter(unit.text) for unit in units])
        scores = surveyed.once(
            ("about", question), lambda: relevance([unit.text for unit in units], question)
        )
        chooser = Chooser(
            units=units,
            worth=surveyed.once(("worth", *setting), lambda: self._worth(units, tokens, scores)),
            tokens=tokens,
            identifier_worth=self.weights.identifier,
            most_identifiers=self.weights.most_identifiers,
            corrections=surveyed.once("corrections", lambda: corrections_of(units)),
            size=size,
            room=0,
        )
        return chooser, surveyed.once(("ranking", *setting), lambda: chooser.ranking(range(len(units))))

    def _worth(self, units: Sequence[Unit], tokens: Sequence[int], scores: Sequence[float]) -> list[float]:
        """The value of each unit but for its identifiers; relevance counts by cost, so that it ranks whole passages."""
        weight = self.question_weight
        return [
            own + weight * score * (LINE_TOKENS + cost)
            for own, score, cost in zip(self.weights.worth(units), scores, tokens, strict=True)
        ]

    def _close(
        self,
        source: Source,
        limit: int,
        messages: tuple[Message, ...],
        outcome: Outcome,
        *,
        kept: Sequence[int] = (),
        claims: tuple[Span, ...] = (),
        reason: str | None = None,
    ) -> FittedContext:
        draft = Draft(
            messages=messages, outcome=outcome, reason=reason, claims=claims, receipt={"target_tokens": limit}
        )
        return close_books(
            source, draft, strategy=self.name, parameters=self.parameters, kept=kept, reason="not_selected"
        )

    @property
    def parameters(self) -> dict[str, object]:
        """Parameter values by name, in field order; the weights by theirs."""
        values = {name: getattr(self, name) for name in parameter_names(type(self))}
        return values | {"weights": asdict(self.weights)}


def _measure(counter: Counter, room_tokens: int) -> tuple[Counter | Callable[[str], int], int]:
    """What text is measured by so that sizes add up, and the room in it: bytes where tokens are bytes rounded up."""
    ratio = bytes_per_token(counter)
    return (counter, room_tokens) if ratio is None else (utf8_bytes, int(room_tokens * ratio))


def _message(text: str) -> Synthetic:
    return Synthetic(role="user", content=text, made_by="extract")


def _claim(unit: Unit) -> Span:
    return Span(
        item="message",
        item_index=unit.message,
        part="content",
        start=unit.start,
        end=unit.end,
        fate="digested",
    )
