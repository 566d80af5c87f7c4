"""Checkpoints: summaries that stand for the beginning of a session, each of which can be taken away again.

```text
[preamble] [ everything up to the index ] [ recent turns ] [question, running turn]
[preamble] [checkpoint] [system messages] [ recent turns ] [question, running turn]
```
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctxlab.budget import limits
from ctxlab.estimates import messages_tokens
from ctxlab.messages import Synthetic, lay_out
from ctxlab.strategies.condense import condense

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxlab.messages import Message
    from ctxlab.strategies.condense import Condensed
    from ctxlab.strategies.source import Source
    from ctxlab.strategies.summarize import Summarize

MOST_CHECKPOINTS = 32
"""How many checkpoints a session may have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpoint:
    """A summary of the messages that begin a session.

    Attributes:
        replaced: the messages up to the index; the checkpoint applies where a session begins with them.
        message: what stands for those of them that are no system messages.
    """

    replaced: tuple[Message, ...]
    message: Synthetic

    def applies(self, messages: Sequence[Message]) -> bool:
        """Whether the messages go on from what this stands for."""
        return len(messages) > len(self.replaced) and tuple(messages[: len(self.replaced)]) == self.replaced

    def shorten(self, messages: Sequence[Message]) -> tuple[Message, ...]:
        """The messages with the checkpoint in place: after the preamble, system messages word for word."""
        preamble = lay_out(self.replaced).preamble
        systems = [m for m in self.replaced[preamble:] if m.role == "system"]
        return (
            *messages[:preamble],
            self.message,
            *systems,
            *messages[len(self.replaced) :],
        )


def deepest(messages: Sequence[Message], checkpoints: Iterable[Checkpoint]) -> Checkpoint | None:
    """Of the checkpoints that apply the one that stands for most messages; null if none does."""
    applying = (checkpoint for checkpoint in checkpoints if checkpoint.applies(messages))
    return max(applying, key=lambda checkpoint: len(checkpoint.replaced), default=None)


def view(messages: Sequence[Message], checkpoints: Iterable[Checkpoint]) -> tuple[Message, ...]:
    """The session as it is sent; without its checkpoints it is the session itself (STR-121)."""
    found = deepest(messages, checkpoints)
    return tuple(messages) if found is None else found.shorten(messages)


def checkpoint_index(source: Source) -> int:
    """Up to which message the next checkpoint of a view would reach: before the recent turns (STR-122).

    The running turn stays in any case, and as many turns before it as the threshold says, as far as they fit the share of
    M together.
    """
    layout, thresholds = source.layout, source.budget.thresholds
    room = limits(source.budget, message_allowance_tokens=source.message_allowance_tokens).recent_keep_tokens
    index = layout.question
    for start, _ in reversed(layout.turns[max(0, len(layout.turns) + 1 - thresholds.recent_keep_turns) :]):
        if sum(source.tokens[start:]) > room:
            break
        index = start
    return index


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """A checkpoint that was tried.

    Attributes:
        checkpoint: null if it was rejected.
        condensed: the summary and its calls, which count in any case.
    """

    checkpoint: Checkpoint | None
    condensed: Condensed


def checkpoint_source(source: Source) -> tuple[int, ...]:
    """Indices of a view that the next checkpoint would summarise; empty if there is nothing new among them (STR-124)."""
    layout, messages = source.layout, source.messages
    if messages[layout.question].role != "user" or isinstance(messages[layout.question], Synthetic):
        return ()
    indices = [i for i in range(layout.preamble, checkpoint_index(source)) if i not in layout.pinned]
    is_new = any(not isinstance(messages[i], Synthetic) for i in indices)
    return tuple(indices) if is_new else ()


async def try_checkpoint(
    source: Source,
    indices: Sequence[int],
    session: Sequence[Message],
    *,
    summarize: Summarize,
) -> Attempt:
    """Summarise messages of a view and accept the result if the request shrinks enough (STR-123, STR-125).

    Args:
        source: the view that would be sent without the attempt.
        indices: what is summarised, from `checkpoint_source`.
        session: the messages that the view is one of.
        summarize: who is asked, and how.
    """
    limit = limits(source.budget, message_allowance_tokens=source.message_allowance_tokens)
    condensed = await condense(
        source,
        indices,
        requested_tokens=limit.history_summary_tokens,
        summarize=summarize,
    )
    if condensed.message is None:
        return Attempt(checkpoint=None, condensed=condensed)
    kept = source.layout.end - checkpoint_index(source)
    checkpoint = Checkpoint(
        replaced=tuple(session[: len(session) - kept]),
        message=Synthetic(role="user", content=condensed.message.content, made_by="checkpoint"),
    )
    gain = sum(source.tokens) - messages_tokens(checkpoint.shorten(session), source.counter)
    accepted = gain >= limit.minimum_gain_tokens and gain > 0
    return Attempt(checkpoint=checkpoint if accepted else None, condensed=condensed)
