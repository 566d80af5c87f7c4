"""Summaries by a model, and summaries of summaries: one call per generation while the source fits one prompt."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, ClassVar

from ctxlab.budget import summary_target
from ctxlab.calls import ChatRequest
from ctxlab.errors import CallError, StrategyError
from ctxlab.estimates import message_tokens
from ctxlab.messages import Message, Synthetic
from ctxlab.prompts import FORMS, Form, render_slots, slots_format, summary_prompt
from ctxlab.strategies.base import NOT_A_PARAMETER, Draft, HelperCall, Treatment
from ctxlab.strategies.project import claims_of, project, tool_names
from ctxlab.strategies.shorten import check_choice
from ctxlab.strategies.source import EVIDENCE, Evidence, close_books, look_at
from ctxlab.strategies.writer import ELLIPSIS, Writer
from ctxlab.text import safe_cut

if TYPE_CHECKING:
    from ctxlab.budget import Budget
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import FittedContext, Helper, Span, SummaryOutcome
    from ctxlab.strategies.source import Source
    from ctxlab.tokens import Counter

HEADING = "[Summary of the earlier conversation]\n"
ARGUMENTS_CHARACTERS = 400
MOST_GENERATIONS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """How one summary ended: its outcome, the message if it is `completed`, and what it took.

    `sent_tokens` adds the estimates of all prompts and may exceed the source (STR-098).
    """

    outcome: SummaryOutcome
    message: Synthetic | None = None
    calls: tuple[HelperCall, ...] = ()
    claims: tuple[Span, ...] = ()
    flags: frozenset[str] = frozenset()
    error: CallError | None = None

    @property
    def sent_tokens(self) -> int:
        """Estimates of all prompts, added up."""
        return sum(call.estimated_tokens for call in self.calls)


@dataclass(frozen=True, slots=True, kw_only=True)
class Summarize(Treatment):
    """Replace the history by a model's summary, then by a summary of that, and so on (STR-080 to STR-099).

    Attributes:
        requested_tokens: how long the summary message may be, before the clamps of the budget.
        generations: 1 to 10; each after the first summarises the summary before it.
        interlude: text put after the summary as an assistant message before the next generation.
        form: `prose`, or `slots`: the sections as fields of a JSON object.
        evidence: what becomes of the case's snippets: `all` or `none`.
        client: what is asked for the summaries.
        helper_counter: counter of the helper's model where it is not the run's.
    """

    kind: ClassVar[str] = "summarize"
    requested_tokens: int = 512
    generations: int = 1
    interlude: str | None = None
    form: Form = "prose"
    evidence: Evidence = "all"
    client: Helper | None = field(default=None, metadata=NOT_A_PARAMETER)
    helper_counter: Counter | None = field(default=None, metadata=NOT_A_PARAMETER)
    label: str | None = field(default=None, metadata=NOT_A_PARAMETER)

    def __post_init__(self) -> None:
        if type(self.requested_tokens) is not int:
            raise StrategyError("requested_tokens: expected a whole number")
        if type(self.generations) is not int or not 1 <= self.generations <= MOST_GENERATIONS:
            raise StrategyError(f"generations: allowed is 1 to {MOST_GENERATIONS}")
        check_choice("form", self.form, FORMS)
        check_choice("evidence", self.evidence, EVIDENCE)

    async def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Ask for the summaries one after the other; refuse or fail with the reason if one is not usable."""
        source = look_at(case, budget, counter, evidence=self.evidence)
        target = summary_target(requested_tokens=self.requested_tokens, budget=budget)
        summary = await self._summarize(source, target)
        messages, reason = self._result(source, summary)
        completed = summary.outcome == "completed"
        draft = Draft(
            messages=messages,
            outcome="failed" if summary.error else "summarized" if messages else "refused",
            reason=reason,
            claims=summary.claims,
            receipt={
                "target_tokens": target,
                "summary_outcome": summary.outcome,
                "parts": 1 if summary.calls else 0,
                "rounds": 0,
                "helper_sent_tokens": summary.sent_tokens,
                "helper_result_tokens": message_tokens(summary.message, counter)
                if completed and summary.message
                else 0,
                "flags": tuple(sorted(summary.flags)),
            },
        )
        kept = source.layout.pinned.union(source.layout.running)
        return close_books(
            source,
            draft,
            strategy=self.name,
            parameters=self.parameters,
            kept=kept,
            reason="formatting",
            helper_calls=summary.calls,
            error=summary.error,
        )

    async def _summarize(self, source: Source, target: int | None) -> Summary:
        body = format_source(source, call_index=0)
        if target is None:
            return Summary(outcome="insufficient_budget")
        if not body.text.strip():
            return Summary(outcome="empty_source")
        summary = Summary(outcome="completed", claims=tuple(body.spans))
        text = body.text
        for generation in range(1, self.generations + 1):
            summary = await self._generation(source, summary, text, target=target, generation=generation)
            if summary.outcome != "completed" or summary.message is None:
                return summary
            text = _blocks(summary.message, self.interlude)
        return summary

    async def _generation(
        self, source: Source, so_far: Summary, text: str, *, target: int, generation: int
    ) -> Summary:
        """One prompt over the whole text and its reply; `so_far` carries the calls of earlier generations."""
        assert self.client is not None  # the command that builds the strategy gives it one
        prompt = summary_prompt(text, target_tokens=target, form=self.form)
        question = Message(role="user", content=prompt)
        estimate = message_tokens(question, self.helper_counter or source.counter)
        if estimate > source.budget.allowance_tokens:
            claims = so_far.claims if so_far.calls else ()
            return replace(so_far, outcome="partition_limit", message=None, claims=claims)
        call = HelperCall(
            call_index=len(so_far.calls),
            kind="whole",
            generation_index=generation,
            estimated_tokens=estimate,
            target_tokens=target,
        )
        after = replace(so_far, calls=(*so_far.calls, call), message=None)
        enforced = self.form == "slots" and getattr(self.client, "enforces_schema", False)
        request = ChatRequest(
            messages=(question,),
            response_format=slots_format(target) if enforced else None,
            stage="helper",
            kind="whole",
            generation_index=generation,
            estimated_tokens=estimate,
            target_tokens=target,
        )
        try:
            reply = await self.client.complete(request)
        except CallError as error:
            return replace(after, outcome="failed", error=error)
        written = render_slots(reply.text) if self.form == "slots" else reply.text.strip()
        message, cut = summary_message(written, target=target, counter=source.counter)
        if message is None:
            return replace(after, outcome="empty_summary")
        flags = after.flags
        if reply.finish_reason == "length":
            flags |= {"helper_truncated"}
        return replace(after, message=message, flags=flags | {"summary_cut"} if cut else flags)

    def _result(self, source: Source, summary: Summary) -> tuple[tuple[Message, ...], str | None]:
        """The fitted messages, or none and the reason (STR-092)."""
        if summary.message is None:
            return (), None if summary.outcome == "completed" else summary.outcome
        layout = source.layout
        kept = sorted(layout.pinned.union(layout.running))
        messages = (
            *source.messages[: layout.preamble],
            summary.message,
            *(source.messages[i] for i in kept if i >= layout.preamble),
        )
        cost = source.cost(messages)
        if cost + source.evidence_tokens >= source.source_tokens:
            return (), "no_gain"
        if cost > source.message_allowance_tokens:
            pinned = source.pinned_tokens > source.message_allowance_tokens
            return (), "pinned_too_large" if pinned else "target_not_reached"
        return messages, None


def format_source(source: Source, *, call_index: int) -> Writer:
    """Every unpinned message before the question as one block each, long results projected (STR-081)."""
    writer = Writer(fate="summarised", call_index=call_index)
    thresholds = source.budget.thresholds
    names = tool_names(source.messages)
    for index in source.layout.history:
        message = source.messages[index]
        if index in source.layout.pinned or not (message.text or message.tool_calls):
            continue
        writer.write("\n\n" if writer.pieces else "")
        if message.text:
            writer.write(f"[{message.role}] ")
            short = project(
                message,
                name=names.get(index, "tool"),
                level=thresholds.projection_levels[0],
                thresholds=thresholds,
            )
            if short is None:
                writer.quote(index, "content", message.text, 0, len(message.text))
            else:
                writer.write(short[1].text)
                writer.spans += claims_of(index, short[1], fate="summarised", call_index=call_index)
        for number, call in enumerate(message.tool_calls):
            arguments = call.function.arguments
            cut = safe_cut(arguments, characters=ARGUMENTS_CHARACTERS)
            lead = "\n" if number or message.text else ""
            writer.write(f"{lead}[tool call] {call.function.name}(")
            writer.quote(index, f"arguments:{number}", arguments, 0, cut)
            writer.write(")" if cut == len(arguments) else f"{ELLIPSIS})")
    return writer


def _blocks(summary: Synthetic, interlude: str | None) -> str:
    """A summary message, and the interlude if there is one, in the form of `format_source`."""
    blocks = [f"[user] {summary.text}"]
    if interlude is not None:
        blocks.append(f"[assistant] {interlude}")
    return "\n\n".join(blocks)


def summary_message(text: str, *, target: int, counter: Counter) -> tuple[Synthetic | None, bool]:
    """The summary as a message of at most the target, and whether its end was cut off (STR-090).

    Null when there is no text, or when not even one character fits.
    """
    whole = Synthetic(role="user", content=HEADING + text, made_by="summary")
    if not text.strip():
        return None, False
    if message_tokens(whole, counter) <= target:
        return whole, False
    low, high = 0, len(text)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if _fits(text, middle, target, counter) else (low, middle - 1)
    length = safe_cut(text, characters=low)
    while length and not _fits(text, length, target, counter):
        length = safe_cut(text, characters=length - 1)
    return (_cut_message(text, length), True) if text[:length].strip() else (None, True)


def _cut_message(text: str, length: int) -> Synthetic:
    return Synthetic(role="user", content=f"{HEADING}{text[:length]}{ELLIPSIS}", made_by="summary")


def _fits(text: str, length: int, target: int, counter: Counter) -> bool:
    return message_tokens(_cut_message(text, length), counter) <= target
