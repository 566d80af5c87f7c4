"""Budget, thresholds and what follows from them: allowance, limits, summary targets, the trigger of compaction.

```text
window = output reserve + protocol reserve + safety reserve + calibration + U
U      = tool definitions + trailing guidance + evidence + M
```
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from typing import Literal, NamedTuple

from ctxlab.errors import BudgetError
from ctxlab.thresholds import Thresholds as Thresholds, share_tokens

MAXIMUM_TOKENS = 2**63 - 1
Source = Literal["default", "override"]
Profile = Literal["compact", "standard"]
CalibrationRule = Literal["additive", "ratio"]


class _Default(int):
    """A number that nobody chose: equal to the same number as an override, and told apart by its type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """Where calibration tokens come from (BUD-086).

    Attributes:
        rule: how they follow from the samples.
        samples: how many samples there were.
        capped: the samples ask for more than the share of the window that calibration may take.
    """

    rule: CalibrationRule
    samples: int
    capped: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """What a model accepts and what is held back of it, in tokens; non-negative integers of at most 2^63 - 1.

    Attributes:
        tool_tokens, guidance_tokens: what every main request of the run carries besides its messages.
        n_tools: how many tools are defined.
        thresholds: the numbers that strategies go by within the budget.
        calibration: how `calibration_tokens` was found; null if they were not learned from samples.
    """

    window_tokens: int = _Default(8192)
    output_reserve_tokens: int = _Default(1000)
    protocol_reserve_tokens: int = _Default(256)
    safety_reserve_tokens: int = _Default(1024)
    calibration_tokens: int = _Default(0)
    tool_tokens: int = _Default(0)
    guidance_tokens: int = _Default(0)
    n_tools: int = 0
    thresholds: Thresholds = field(default_factory=Thresholds)
    calibration: Calibration | None = None

    def __post_init__(self) -> None:
        for name in SIZES:
            value = getattr(self, name)
            if type(value) not in (int, _Default):
                raise BudgetError(f"{name}: expected an integer, found {type(value).__name__}")
            if not 0 <= value <= MAXIMUM_TOKENS:
                raise BudgetError(f"{name}: out of range; allowed is 0 to {MAXIMUM_TOKENS}")

    @property
    def allowance_tokens(self) -> int:
        """U: what the input may use; 0 is valid and refuses every request."""
        held_back = (
            self.output_reserve_tokens
            + self.protocol_reserve_tokens
            + self.safety_reserve_tokens
            + self.calibration_tokens
        )
        return max(0, self.window_tokens - held_back)

    @property
    def sources(self) -> dict[str, Source]:
        """Where each number comes from: `override` if it was given, also when it equals the default."""
        return {
            name: "default" if isinstance(getattr(self, name), _Default) else "override" for name in SIZES
        }

    def message_allowance_tokens(self, *, evidence_tokens: int = 0) -> int:
        """M: what tool definitions, trailing guidance and evidence leave of U for messages; never below 0."""
        return max(0, self.allowance_tokens - self.tool_tokens - self.guidance_tokens - evidence_tokens)

    def fits(self, tokens: int) -> bool:
        """Whether a request of this estimate may be sent: at most U."""
        return tokens <= self.allowance_tokens

    def with_output_at_least(self, tokens: int | None) -> Budget:
        """The budget of a case that asks for this many output tokens; null asks for none (BUD-033)."""
        if tokens is None or tokens <= self.output_reserve_tokens:
            return self
        return replace(self, output_reserve_tokens=tokens)


SIZES = tuple(f.name for f in fields(Budget) if isinstance(f.default, _Default))
"""The fields of a budget that are sizes in tokens."""


UNLIMITED = Budget(
    window_tokens=MAXIMUM_TOKENS, output_reserve_tokens=0, protocol_reserve_tokens=0, safety_reserve_tokens=0
)
"""A budget that refuses nothing: `eval` has no allowance gate (GEN-009)."""


class _Limit(NamedTuple):
    share: tuple[int, int]
    cap_tokens: int

    def of(self, tokens: int) -> int:
        numerator, denominator = self.share
        return min(tokens * numerator // denominator, self.cap_tokens)


# What the user decides is measured against these and flagged, never enforced (BUD-042).
_INSTRUCTIONS = _Limit(share=(3, 5), cap_tokens=24_576)
_GUIDANCE = _Limit(share=(1, 10), cap_tokens=2_048)
_TOOL_SCHEMAS = _Limit(share=(1, 5), cap_tokens=24_576)
_TOOLS_BELOW: tuple[tuple[int, int], ...] = ((8_192, 8), (65_536, 16))
_MOST_TOOLS = 64
_COMPACT_BELOW_TOKENS = 32_768


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Every number that follows from an allowance U, a message allowance M and the thresholds."""

    instruction_tokens: int
    guidance_tokens: int
    tool_schema_tokens: int
    n_tools: int
    profile: Profile
    ahead_trigger_tokens: int
    deterministic_target_tokens: int
    retry_growth_tokens: int
    minimum_gain_tokens: int
    recent_keep_tokens: int
    turn_summary_tokens: int
    history_summary_tokens: int
    evidence_tokens: int


def limits(budget: Budget, *, message_allowance_tokens: int | None = None) -> Limits:
    """The derived numbers of a budget; without a message allowance M is U."""
    rule = budget.thresholds
    allowance = budget.allowance_tokens
    messages = allowance if message_allowance_tokens is None else message_allowance_tokens
    return Limits(
        instruction_tokens=_INSTRUCTIONS.of(allowance),
        guidance_tokens=_GUIDANCE.of(allowance),
        tool_schema_tokens=_TOOL_SCHEMAS.of(allowance),
        n_tools=next((n for below, n in _TOOLS_BELOW if allowance < below), _MOST_TOOLS),
        profile="compact" if allowance < _COMPACT_BELOW_TOKENS else "standard",
        ahead_trigger_tokens=share_tokens(rule.ahead_trigger_share, messages),
        deterministic_target_tokens=share_tokens(rule.deterministic_target_share, messages),
        retry_growth_tokens=max(1, share_tokens(rule.retry_growth_share, messages)),
        minimum_gain_tokens=max(1, share_tokens(rule.minimum_gain_share, messages)),
        recent_keep_tokens=share_tokens(rule.recent_keep_share, messages),
        turn_summary_tokens=min(
            share_tokens(rule.turn_summary_share, messages), rule.turn_summary_cap_tokens
        ),
        history_summary_tokens=min(
            share_tokens(rule.history_summary_share, messages), rule.history_summary_cap_tokens
        ),
        evidence_tokens=share_tokens(rule.evidence_share, allowance),
    )


def size_flags(
    budget: Budget, *, instruction_tokens: int, guidance_tokens: int, tool_schema_tokens: int, n_tools: int
) -> tuple[str, ...]:
    """The flags of a receipt for instructions, guidance and tools that are above their limits."""
    limit = limits(budget)
    sizes = (
        ("large_instructions", instruction_tokens, limit.instruction_tokens),
        ("large_guidance", guidance_tokens, limit.guidance_tokens),
        ("large_tool_schemas", tool_schema_tokens, limit.tool_schema_tokens),
        ("many_tools", n_tools, limit.n_tools),
    )
    return tuple(flag for flag, size, most in sizes if size > most)


def compaction_due(
    *, tokens: int, message_allowance_tokens: int, next_attempt_tokens: int, thresholds: Thresholds
) -> bool:
    """Whether compaction ahead of need runs now (BUD-044); the trigger itself is included."""
    trigger = share_tokens(thresholds.ahead_trigger_share, message_allowance_tokens)
    return message_allowance_tokens > 0 and tokens >= trigger and tokens >= next_attempt_tokens


def next_attempt(*, tokens_left: int, message_allowance_tokens: int, thresholds: Thresholds) -> int:
    """The size from which the next attempt may run, after one that left `tokens_left`."""
    return tokens_left + max(1, share_tokens(thresholds.retry_growth_share, message_allowance_tokens))


def summary_target(*, requested_tokens: int, budget: Budget) -> int | None:
    """How long a summary should be; null when the operation is off (`insufficient_budget`)."""
    thresholds = budget.thresholds
    target = min(
        max(1, min(requested_tokens, thresholds.summary_cap_tokens)),
        budget.output_reserve_tokens,
        share_tokens(thresholds.summary_share, budget.allowance_tokens),
    )
    return None if target < thresholds.summary_floor_tokens else target


def part_target(*, target_tokens: int, thresholds: Thresholds) -> int:
    """How long the summary of one part should be; it has no floor of its own."""
    half = share_tokens(thresholds.part_share, target_tokens)
    return min(target_tokens, max(1, min(half, thresholds.part_cap_tokens)))
