"""What a provider's prefix cache saves of a session, and what a compaction throws away of it.

A cache keeps the beginnings of requests in whole blocks. A request reads the longest beginning that an earlier one has
written, and writes the rest of its own. So a policy that rewrites the history makes requests smaller and cold.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import ROUND_CEILING, Decimal
from typing import TYPE_CHECKING

from ctxlab.errors import InputError
from ctxlab.prices import MILLION

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxlab.messages import Message
    from ctxlab.prices import ModelPrices
    from ctxlab.tokens import Counter


@dataclass(frozen=True, slots=True, kw_only=True)
class CachePolicy:
    """How a cache behaves; the defaults are those of a cache without blocks that never forgets.

    Attributes:
        block_tokens: beginnings are kept in whole blocks of so many tokens.
        least_tokens: shorter beginnings are not kept.
        lifetime_turns: what no request has read or written for more turns than this is forgotten; null never.
        write_lag_turns: so many turns pass before what a request wrote can be read: 0 means by the next one.
    """

    block_tokens: int = 1
    least_tokens: int = 0
    lifetime_turns: int | None = None
    write_lag_turns: int = 0

    def __post_init__(self) -> None:
        for name, least in (("block_tokens", 1), ("least_tokens", 0), ("write_lag_turns", 0)):
            if type(getattr(self, name)) is not int or getattr(self, name) < least:
                raise InputError(f"{name}: expected a whole number of {least} or more")
        if self.lifetime_turns is not None and (
            type(self.lifetime_turns) is not int or self.lifetime_turns < 1
        ):
            raise InputError("lifetime_turns: expected a whole number of 1 or more, or none")

    def whole_blocks(self, tokens: int) -> int:
        """How much of a beginning is kept."""
        kept = tokens // self.block_tokens * self.block_tokens
        return kept if kept >= self.least_tokens else 0


LLAMA_CPP = CachePolicy(lifetime_turns=1)
"""One slot of a llama.cpp server: it knows the request before, token by token."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CacheUse:
    """The input of one request: read from the cache, written into it, and neither (what fills no block)."""

    input_tokens: int
    cached_tokens: int
    written_tokens: int

    def cost(self, prices: ModelPrices) -> Decimal:
        """What the input costs; written tokens at the normal price where writing has none of its own."""
        write = prices.input if prices.cache_write is None else prices.cache_write
        plain = self.input_tokens - self.cached_tokens - self.written_tokens
        total = plain * Decimal(prices.input) + self.cached_tokens * Decimal(prices.cached_input)
        return (total + self.written_tokens * Decimal(write)) / MILLION


@dataclass(slots=True)
class _Entry:
    """What one request wrote: its text, how much of it is kept, and when it was last of use."""

    text: str
    tokens: int
    written_turn: int
    used_turn: int


def simulate_cache(requests: Iterable[str], counter: Counter, policy: CachePolicy) -> tuple[CacheUse, ...]:
    """What each request reads and writes, one request per turn.

    Args:
        requests: rendered as text, see `rendered`; an empty one stands for a turn in which none is sent.
        counter: counts tokens. Counts of beginnings are taken as additive, which is exact between messages.
        policy: the cache.
    """
    entries: list[_Entry] = []
    uses: list[CacheUse] = []
    for turn, text in enumerate(requests):
        entries = [entry for entry in entries if _is_alive(entry, turn, policy)]
        readable = [entry for entry in entries if turn - entry.written_turn > policy.write_lag_turns]
        cached, source = _longest(text, readable, counter, policy)
        if source is not None:
            source.used_turn = turn
        tokens = counter(text) if text else 0
        kept = policy.whole_blocks(tokens)
        uses.append(CacheUse(input_tokens=tokens, cached_tokens=cached, written_tokens=max(0, kept - cached)))
        if kept:
            entries.append(_Entry(text, kept, turn, turn))
    return tuple(uses)


def _is_alive(entry: _Entry, turn: int, policy: CachePolicy) -> bool:
    return policy.lifetime_turns is None or turn - entry.used_turn <= policy.lifetime_turns


def _longest(
    text: str, entries: Sequence[_Entry], counter: Counter, policy: CachePolicy
) -> tuple[int, _Entry | None]:
    """The longest beginning that an entry holds, in whole blocks, and the entry; of equals the newest."""
    best, source = 0, None
    for entry in reversed(entries):
        shared = text[: _shared_characters(text, entry.text)]
        tokens = min(policy.whole_blocks(counter(shared)), entry.tokens) if shared else 0
        if tokens > best:
            best, source = tokens, entry
    return best, source


def _shared_characters(first: str, second: str) -> int:
    """How far two texts are the same, found by comparing slices."""
    low, high = 0, min(len(first), len(second))
    while low < high:
        middle = (low + high + 1) // 2
        if first[low:middle] == second[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def rendered(messages: Iterable[Message]) -> str:
    """A request as one text: each message behind its role, as a chat template would write it."""
    return "".join(
        f"<|{m.role}|>\n{m.text}{''.join(c.function.arguments for c in m.tool_calls)}\n" for m in messages
    )


def flattened(messages: Iterable[Message]) -> str:
    """The whole history as one transcript behind a line that tells its length, as some tools send it: nothing is shared."""
    texts = [f"{m.role}: {m.text}" for m in messages]
    return "\n".join([f"Transcript of {len(texts)} messages", *texts])


# When a compaction pays


@dataclass(frozen=True, slots=True, kw_only=True)
class Compaction:
    """A history that is made smaller once, in a session that grows by the same amount each turn.

    Attributes:
        before_tokens, after_tokens: the history without and with the compaction, at the turn in which it is made.
        growth_tokens: what each turn adds to the history.
        helper_input_tokens, helper_output_tokens: what the compaction's own calls take.
    """

    before_tokens: int
    after_tokens: int
    growth_tokens: int = 0
    helper_input_tokens: int = 0
    helper_output_tokens: int = 0


def turns_to_pay(compaction: Compaction, prices: ModelPrices, *, warm: bool) -> int | None:
    """After how many further turns the compaction has cost no more than going on without it; null if never.

    The turn of the compaction sends the shorter history new, where of the longer one all but the growth of the turn
    would have been read from the cache (`warm`), or all of it sent at the normal price. Each further turn saves what the
    shorter history is shorter by.
    """
    normal, cached = Decimal(prices.input), Decimal(prices.cached_input)
    write = normal if prices.cache_write is None else Decimal(prices.cache_write)
    each = cached if warm else normal
    helper = compaction.helper_input_tokens * normal + compaction.helper_output_tokens * Decimal(
        prices.output
    )
    new = write if warm else normal
    known_tokens = compaction.before_tokens - compaction.growth_tokens
    extra = helper + (compaction.after_tokens - compaction.growth_tokens) * new - known_tokens * each
    saved = (compaction.before_tokens - compaction.after_tokens) * each
    if extra <= 0:
        return 0
    return int((extra / saved).to_integral_value(ROUND_CEILING)) if saved > 0 else None


def pays_after(
    without: Sequence[CacheUse],
    compacted: Sequence[CacheUse],
    prices: ModelPrices,
    *,
    helper_input_tokens: int = 0,
    helper_output_tokens: int = 0,
) -> int | None:
    """The first turn at which a simulated session with a compaction has cost no more than one without; null if none.

    Both begin with the turn of the compaction, which is turn 0; `cold` makes either of them one without a cache.
    """
    helper = helper_input_tokens * Decimal(prices.input) + helper_output_tokens * Decimal(prices.output)
    savings = (one.cost(prices) - other.cost(prices) for one, other in zip(without, compacted, strict=True))
    balance = -helper / MILLION
    for turn, saved in enumerate(savings):
        balance += saved
        if balance >= 0:
            return turn
    return None


def cold(uses: Iterable[CacheUse]) -> tuple[CacheUse, ...]:
    """The same requests where nothing is cached."""
    return tuple(CacheUse(input_tokens=one.input_tokens, cached_tokens=0, written_tokens=0) for one in uses)
