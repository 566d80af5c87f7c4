"""What holds for every strategy, whatever the history, the budget and the helper's replies."""

from __future__ import annotations

import asyncio
import itertools
import re
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import regex
from hypothesis import strategies as st

from ctxlab.budget import Budget
from ctxlab.estimates import message_tokens, request_tokens
from ctxlab.standins import STAND_INS, StandInSession, stand_in
from ctxlab.strategies.admit import Admit
from ctxlab.strategies.base import FittedContext
from ctxlab.strategies.evidence import EVIDENCE
from ctxlab.strategies.extract import Extract
from ctxlab.strategies.full import Empty, Full
from ctxlab.strategies.ledger import restore, source_parts
from ctxlab.strategies.mined import decoded
from ctxlab.strategies.plan import Plan
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.source import look_at
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.summary_source import format_source
from ctxlab.strategies.verify import SENT, violations
from ctxlab.tokens import token_counter

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ctxlab.calls import ChatRequest, Reply
    from ctxlab.dataset import Case
    from ctxlab.strategies.base import Strategy

COUNTER = token_counter(None)
SOURCE = re.compile(r"<source>\n(.*)\n</source>", re.DOTALL)
REPLIES = ("Port 8080 stays open.", "第一条约束：端口必须是 8080。", "a" * 300, "👨‍👩‍👧‍👦" * 40)


@dataclass(slots=True)
class Helper:
    """A stand-in as a helper, in process, that remembers what it was asked."""

    name: str
    replies: tuple[str, ...] = REPLIES
    requests: list[ChatRequest] = field(default_factory=list)
    started: Iterator[int] = field(default_factory=itertools.count)

    async def complete(self, request: ChatRequest) -> Reply:
        self.requests.append(request)
        client = stand_in(self.name, replies=self.replies if self.name == "scripted" else ())
        return await StandInSession(stand_in=client, calls=self.started).complete(client.payload(request))

    def bodies(self, kind: str, *, generation: int = 1) -> list[str]:
        """What stood between the marks of the source in each prompt of a kind."""
        return [
            SOURCE.search(request.messages[0].text)[1]
            for request in self.requests
            if (request.kind, request.generation_index) == (kind, generation)
        ]


RULES = {
    "full": Full(),
    "empty": Empty(),
    "shorten": Shorten(),
    "shorten to 200": Shorten(target_tokens=200),
    "shorten and send": Shorten(target_tokens=60, on_missed_target="send", evidence="none"),
    "extract": Extract(),
    "extract to 200": Extract(target_tokens=200, question_weight=1),
    "extract alone": Extract(target_tokens=90, evidence="none"),
    "plan alone": Plan(evidence="none"),
    "admit": Admit(),
    "shorten and admit": Shorten(evidence="admit"),
    "extract and admit": Extract(evidence="admit"),
}
"""The treatments that ask nobody."""

helper_names = st.sampled_from([name for name in STAND_INS if name != "slow"])  # it is `echo` after a wait


@st.composite
def budgets(draw: st.DrawFn) -> Budget:
    """Any window up to 131,072, with reserves that leave much of it or little or nothing, with guidance or without."""
    window = draw(
        st.one_of(
            st.sampled_from([2048, 4096, 8192, 32_768, 131_072]),
            st.integers(1500, 8192),
            st.integers(0, 2048),
        )
    )
    return Budget(
        window_tokens=window,
        output_reserve_tokens=draw(st.sampled_from([64, 256, 1000])),
        protocol_reserve_tokens=draw(st.sampled_from([0, 16, 256])),
        safety_reserve_tokens=draw(st.sampled_from([0, 0, 16, 1024])),
        guidance_tokens=draw(st.integers(0, 50)),
    )


@st.composite
def summaries(draw: st.DrawFn) -> Summarize:
    """`summarize` with any parameters and any stand-in as its helper."""
    return Summarize(
        client=Helper(draw(helper_names)),
        requested_tokens=draw(st.sampled_from([64, 100, 512, 4000])),
        generations=draw(st.integers(1, 3)),
        interlude=draw(st.sampled_from([None, "We went on.", "word " * 1500])),
        form=draw(st.sampled_from(["prose", "prose", "prose", "slots"])),
        fidelity_guard=draw(st.booleans()),
        evidence=draw(st.sampled_from(EVIDENCE)),
    )


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """`plan` with any stand-in as its helper."""
    return Plan(client=Helper(draw(helper_names)), evidence=draw(st.sampled_from(EVIDENCE)))


def refreshed(strategy: Strategy) -> Strategy:
    """The strategy with a helper that was asked nothing yet, if it has one."""
    helper = getattr(strategy, "client", None)
    return strategy if helper is None else replace(strategy, client=Helper(helper.name))


def fit(strategy: Strategy, case: Case, budget: Budget) -> FittedContext:
    """Fit a case, in a loop of its own if it takes one."""
    fitted = strategy.fit(case, budget, COUNTER)
    return fitted if isinstance(fitted, FittedContext) else asyncio.run(fitted)


def faults(case: Case, strategy: Strategy, budget: Budget, fitted: FittedContext) -> Iterator[str]:
    """What does not hold of a fitted context, one line each, the statement first."""
    yield from violations(case, fitted, budget, COUNTER)
    if contexts_over(fitted, budget):
        yield f"STR-002: a request over the {budget.allowance_tokens} tokens that are allowed"
    if bool(fitted.messages) != (fitted.outcome in SENT):
        yield f"STR-002: messages and outcome {fitted.outcome} do not agree"
    if unaccounted_characters(case, fitted) or restore(fitted.ledger, case) != dict(source_parts(case)):
        yield "STR-036, STR-038: the ledger does not restore the source"
    helper = getattr(strategy, "client", None)
    if isinstance(helper, Helper):
        yield from _prompt_faults(helper, budget, fitted)
        yield from _summarised_faults(case, helper, fitted)
    if isinstance(strategy, Summarize):
        yield from _part_faults(case, helper, budget, fitted)


def unaccounted_characters(case: Case, fitted: FittedContext) -> int:
    """By how many characters the spans of the ledger miss the length of the source."""
    spans = sum(span.end - span.start for span in fitted.ledger)
    return abs(spans - sum(len(text) for _, text in source_parts(case)))


def contexts_over(fitted: FittedContext, budget: Budget) -> int:
    """Whether what is sent is over the allowance, as a number."""
    tokens = request_tokens(fitted.messages, COUNTER) + budget.guidance_tokens
    return int(bool(fitted.messages) and tokens > budget.allowance_tokens)


def prompts_over(helper: Helper, budget: Budget) -> int:
    """How many helper prompts are over the allowance."""
    sizes = (request_tokens(request.messages, COUNTER) for request in helper.requests)
    return sum(size > budget.allowance_tokens for size in sizes)


def _prompt_faults(helper: Helper, budget: Budget, fitted: FittedContext) -> Iterator[str]:
    if prompts_over(helper, budget):
        yield "GEN-009: a helper prompt over the allowance"
    estimates = [request_tokens(request.messages, COUNTER) for request in helper.requests]
    if [call.estimated_tokens for call in fitted.helper_calls] != estimates:
        yield "STR-030: the calls of the receipt are not those that were made"
    if sum(estimates) != (fitted.receipt.helper_sent_tokens or 0):
        yield "STR-098: sent tokens are not the sum of the prompts"
    if any(request.tools or len(request.messages) != 1 for request in helper.requests):
        yield "BUD-062: a helper call is more than one user message"


def _summarised_faults(case: Case, helper: Helper, fitted: FittedContext) -> Iterator[str]:
    prompts = [request.messages[0].text for request in helper.requests]
    texts = dict(source_parts(case))
    for span in fitted.ledger:
        if span.fate == "summarised":
            text = texts[(span.item, span.item_index, span.part)][span.start : span.end]
            meant = decoded(text)
            if text not in prompts[span.call_index] and not (meant and meant in prompts[span.call_index]):
                yield "STR-037: a summarised span is not in its prompt"


def _part_faults(case: Case, helper: Helper, budget: Budget, fitted: FittedContext) -> Iterator[str]:
    source = format_source(look_at(case, budget, COUNTER)).text
    parts = helper.bodies("part")
    if parts and fitted.receipt.summary_outcome not in ("failed", "empty_summary"):
        if "".join(parts) != source:
            yield "STR-084: the bodies of the parts do not give the source back"
        if len(parts) != fitted.receipt.parts or len(parts) > budget.thresholds.max_calls - 1:
            yield f"STR-085: {len(parts)} parts"
    if helper.bodies("whole") not in ([], [source]):
        yield "STR-082: a source that fits one prompt is not in one prompt"
    ends = set(itertools.accumulate(map(len, parts)))
    if ends and not ends <= _boundaries(source):
        yield "STR-150: a cut inside a grapheme cluster"
    message = next((m for m in fitted.messages if getattr(m, "made_by", None) == "summary"), None)
    if message is not None and message_tokens(message, COUNTER) > fitted.receipt.target_tokens:
        yield "STR-090: a summary over its target"


def _boundaries(text: str) -> set[int]:
    return {match.end() for match in regex.finditer(r"\X", text)}
