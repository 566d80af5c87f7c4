"""Helpers that reply by the number of the call, and budgets that leave a prompt this much room."""

import asyncio
import re

from ctxlab.budget import Budget, Thresholds
from ctxlab.calls import Reply
from ctxlab.prompts import merge_prompt, part_prompt
from ctxlab.strategies.summarize import Summarize
from ctxlab.tokens import token_counter
from tests.factories import make_case, user

COUNTER = token_counter(None)  # ceil(bytes / 2)
SOURCE = re.compile(r"<source>\n(.*)\n</source>", re.DOTALL)
TARGET = 100
PART_TARGET = 50


class Asked:
    """A helper that replies with what a function makes of the number of the call, from 1."""

    def __init__(self, reply):
        self.reply = reply
        self.requests = []

    async def complete(self, request):
        self.requests.append(request)
        reply = self.reply(len(self.requests))
        if isinstance(reply, BaseException):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(text=reply)

    @property
    def kinds(self):
        return [request.kind for request in self.requests]

    @property
    def bodies(self):
        return [SOURCE.search(request.messages[0].text)[1] for request in self.requests]


def prompt_tokens(prompt):
    return 12 + 2 + COUNTER(prompt)


def room_for_parts(room_tokens, **thresholds):
    """A budget in which the body of a part may have this many tokens."""
    widest = thresholds.get("max_calls", 64)
    around = prompt_tokens(part_prompt("", number=widest, of=widest, target_tokens=TARGET, form="prose"))
    return exact(around + room_tokens, **thresholds)


def room_for_merges(room_tokens, **thresholds):
    """A budget in which the body of a merge may have this many tokens."""
    around = prompt_tokens(merge_prompt("", target_tokens=TARGET, form="prose"))
    return exact(around + room_tokens, **thresholds)


def exact(allowance_tokens, **thresholds):
    return Budget(
        window_tokens=allowance_tokens + TARGET,
        output_reserve_tokens=TARGET,
        protocol_reserve_tokens=0,
        safety_reserve_tokens=0,
        thresholds=Thresholds(**thresholds),
    )


def message(tokens, letter="a"):
    """A user message whose block, the empty line behind it included, has this many tokens."""
    return user(letter * (2 * tokens - len("[user] ") - len("\n\n")))


def summarize(helper, messages, budget, **options):
    case = make_case(messages=(*messages, user("And?")))
    strategy = Summarize(client=helper, requested_tokens=TARGET, **options)
    return asyncio.run(strategy.fit(case, budget, COUNTER))


def seen_by(fitted):
    """The calls that saw something of each message but the last."""
    return [
        [s.call_index for s in fitted.ledger if s.item_index == i and s.fate == "summarised"]
        for i in range(max(s.item_index for s in fitted.ledger))
    ]


THREE = [message(200, letter) for letter in "abc"]
