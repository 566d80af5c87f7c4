"""The helper calls of one summary: one after the other, each within the allowance, each reply within its target."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from ctxlab.calls import ChatRequest
from ctxlab.estimates import message_tokens
from ctxlab.messages import Message
from ctxlab.prompts import render_slots, slots_format
from ctxlab.strategies.base import HelperCall
from ctxlab.strategies.partition import longest
from ctxlab.strategies.writer import ELLIPSIS
from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from ctxlab.prompts import Form
    from ctxlab.strategies.base import Helper, SummaryOutcome
    from ctxlab.tokens import Counter

HEADING = "[Summary of the earlier conversation]\n"


class UnusableError(Exception):
    """No summary comes of it; `outcome` says why (STR-095)."""

    def __init__(self, outcome: SummaryOutcome) -> None:
        super().__init__(outcome)
        self.outcome = outcome


@dataclass(slots=True, kw_only=True)
class Helpers:
    """A helper at work for one row, and the calls that it was asked for.

    Attributes:
        client: what is asked.
        prompt_counter: counts prompts.
        reply_counter: counts what is made of replies.
        allowance_tokens: what a prompt may use.
        form: how replies are written.
        calls: the calls in the order in which they were made, a failed one included.
        flags: what was odd about replies.
    """

    client: Helper
    prompt_counter: Counter
    reply_counter: Counter
    allowance_tokens: int
    form: Form
    calls: list[HelperCall] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)

    def size(self, prompt: str) -> int:
        """Tokens of a request that asks this."""
        return message_tokens(Message(role="user", content=prompt), self.prompt_counter)

    async def ask(
        self,
        prompt: str,
        *,
        given: str,
        kind: Literal["whole", "part", "merge"],
        generation_index: int,
        target_tokens: int,
        heading: str,
    ) -> str:
        """The reply, trimmed, after the heading, as a message within the target; `given` is what the prompt is about.

        Raises:
            UnusableError: the prompt is over the allowance (nothing was sent), or the reply says nothing.
            CallError: the call failed.
        """
        estimate = self.size(prompt)
        if estimate > self.allowance_tokens:
            raise UnusableError("partition_limit")
        self.calls.append(
            HelperCall(
                call_index=len(self.calls),
                kind=kind,
                generation_index=generation_index,
                estimated_tokens=estimate,
                target_tokens=target_tokens,
                given=given,
            )
        )
        enforced = self.form == "slots" and getattr(self.client, "enforces_schema", False)
        reply = await self.client.complete(
            ChatRequest(
                messages=(Message(role="user", content=prompt),),
                response_format=slots_format(target_tokens) if enforced else None,
                stage="helper",
                kind=kind,
                generation_index=generation_index,
                estimated_tokens=estimate,
                target_tokens=target_tokens,
            )
        )
        if reply.finish_reason == "length":
            self.flags.add("helper_truncated")
        written = render_slots(reply.text) if self.form == "slots" else reply.text.strip()
        text, is_cut = within_target(
            written, target_tokens=target_tokens, counter=self.reply_counter, heading=heading
        )
        if not text:
            raise UnusableError("empty_summary")
        if is_cut:
            self.flags.add("summary_cut" if heading else "part_cut")
        self.calls[-1] = replace(self.calls[-1], made=text)
        return text


def within_target(text: str, *, target_tokens: int, counter: Counter, heading: str = "") -> tuple[str, bool]:
    """Heading and text as the content of a message of at most the target, and whether the end was cut off (STR-090).

    Empty when there is no text, or when not even one character of it fits.
    """

    def fits(content: str) -> bool:
        return message_tokens(Message(role="user", content=content), counter) <= target_tokens

    def beginning(length: int) -> str:
        return f"{heading}{text[:length]}{ELLIPSIS}"

    if not text.strip():
        return "", False
    if fits(heading + text):
        return heading + text, False
    most = longest(lambda length: fits(beginning(length)), most=len(text), guess=target_tokens)
    length = safe_cut(text, characters=most)
    while length and not fits(beginning(length)):  # counts can jump at a boundary (STR-151)
        length = safe_cut(text, characters=length - 1)
    return (beginning(length), True) if text[:length].strip() else ("", True)
