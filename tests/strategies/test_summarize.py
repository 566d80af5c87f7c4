import asyncio
import json

import pytest

from ctxlab.budget import Budget
from ctxlab.calls import Reply
from ctxlab.errors import CallError, StrategyError
from ctxlab.estimates import message_tokens
from ctxlab.messages import Function, Message, Synthetic, ToolCall
from ctxlab.prompts import SECTIONS, prompts_sha256, render_slots, slots_format, summary_prompt
from ctxlab.strategies.summarize import Summarize
from ctxlab.strategies.summary_calls import HEADING, within_target
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, make_snippet, user

COUNTER = token_counter(None)  # ceil(bytes / 2)

HISTORY = (
    Message(role="system", content="You help."),
    user("Use port 8080." + " Some padding." * 30),
    assistant("Port 8080 noted." + " More padding." * 30),
    user("What is the port?"),
)


class Scripted:
    """A helper that gives the replies it was given, one after the other."""

    def __init__(self, *replies, enforces_schema=False):
        self.replies = list(replies)
        self.requests = []
        self.enforces_schema = enforces_schema

    async def complete(self, request):
        self.requests.append(request)
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply if isinstance(reply, Reply) else Reply(text=reply)


def summarize(helper, messages=HISTORY, budget=None, snippets=(), **options):
    case = make_case(messages=tuple(messages), snippets=snippets)
    strategy = Summarize(client=helper, **options)
    return asyncio.run(strategy.fit(case, budget or Budget(), COUNTER))


# covers STR-081, STR-082
def test_the_source_is_one_block_per_unpinned_message_in_one_prompt():
    arguments = json.dumps({"path": "/etc/hosts", "note": "n" * 500})
    call = ToolCall(id="c1", function=Function(name="read", arguments=arguments))
    messages = [
        Message(role="system", content="You help."),
        user("Read it."),
        assistant("Reading.", tool_calls=(call,)),
        Message(role="tool", content="r" * 5000, tool_call_id="c1"),
        assistant(""),
        Message(role="system", content="A system message in the middle."),
        user("And?"),
    ]
    helper = Scripted("short")
    fitted = summarize(helper, messages)
    (request,) = helper.requests
    prompt = request.messages[0].text
    source = prompt[prompt.index("<source>\n") + 9 : prompt.index("\n</source>")]
    assert source == (
        "[user] Read it.\n\n"
        f"[assistant] Reading.\n[tool call] read({arguments[:400]}…)\n\n"
        "[tool] [tool result of read: 5000 characters, shortened; run the tool again to see the rest]\n"
        f"{'r' * 3000}\n…\n{'r' * 1000}"
    )
    fates = [
        (s.item_index, s.part, s.start, s.end, s.fate, s.reason)
        for s in fitted.ledger
        if s.item_index in (2, 3)
    ]
    assert fates == [
        (2, "content", 0, 8, "summarised", None),
        (2, "arguments:0", 0, 400, "summarised", None),
        (2, "arguments:0", 400, len(arguments), "omitted", "formatting"),
        (3, "content", 0, 3000, "summarised", None),
        (3, "content", 3000, 4000, "omitted", "projection"),
        (3, "content", 4000, 5000, "summarised", None),
    ]


# covers STR-091, STR-092
def test_the_result_holds_one_summary_after_the_preamble_whatever_the_generations():
    for generations in (1, 2, 3):
        helper = Scripted(*(f"Summary {g}: port 8080" for g in range(1, generations + 1)))
        fitted = summarize(helper, generations=generations)
        assert [m.content for m in fitted.messages] == [
            "You help.",
            f"{HEADING}Summary {generations}: port 8080",
            "What is the port?",
        ]
        assert isinstance(fitted.messages[1], Synthetic)
        assert fitted.outcome == "summarized"
        assert [c.generation_index for c in fitted.helper_calls] == list(range(1, generations + 1))


# covers STR-091
def test_a_later_generation_summarises_the_summary_before_it_and_the_interlude():
    helper = Scripted("First.", "Second.")
    summarize(helper, generations=2, interlude="We went on.")
    prompt = helper.requests[1].messages[0].text
    assert f"<source>\n[user] {HEADING}First.\n\n[assistant] We went on.\n</source>" in prompt
    assert "8080" not in prompt


# covers STR-039, STR-098
def test_ledger_and_receipt_speak_of_the_first_generation_and_of_all_calls():
    helper = Scripted("First.", "Second.")
    fitted = summarize(helper, generations=2)
    summarised = {(s.item_index, s.call_index) for s in fitted.ledger if s.fate == "summarised"}
    assert summarised == {(1, 0), (2, 0)}
    receipt = fitted.receipt
    prompts = [message_tokens(r.messages[0], COUNTER) for r in helper.requests]
    assert [c.estimated_tokens for c in fitted.helper_calls] == prompts
    assert (receipt.helper_calls, receipt.helper_sent_tokens) == (2, sum(prompts))
    # heading 38 bytes + "Second." 7 bytes = 23 tokens, + 12 + 2
    assert receipt.helper_result_tokens == 37
    assert (receipt.summary_outcome, receipt.parts, receipt.rounds) == ("completed", 1, 0)


# covers STR-060, BUD-060, BUD-062
def test_the_target_is_clamped_by_the_budget_and_stated_in_the_prompt():
    helper = Scripted("ok")
    fitted = summarize(helper, budget=Budget(window_tokens=4096, output_reserve_tokens=1000))
    assert fitted.receipt.target_tokens == 454  # U = 1,816; a quarter of it
    assert "at most 454 tokens" in helper.requests[0].messages[0].text
    assert helper.requests[0].generation.max_tokens is None
    assert helper.requests[0].tools == ()
    assert [m.role for m in helper.requests[0].messages] == ["user"]


# covers STR-095, STR-089, STR-085
@pytest.mark.parametrize(
    ("options", "reply", "outcome", "calls"),
    [
        ({"requested_tokens": 63}, "x", "insufficient_budget", 0),
        ({"messages": HISTORY[-1:]}, "x", "empty_source", 0),
        ({"budget": Budget(window_tokens=2048, output_reserve_tokens=256)}, "x", "partition_limit", 0),
        ({}, "", "empty_summary", 1),
        ({}, " \n\t ", "empty_summary", 1),
        ({}, Reply(text="", content_kind="null", finish_reason="length"), "empty_summary", 1),
    ],
    ids=["insufficient_budget", "empty_source", "partition_limit", "empty", "blank", "reasoning only"],
)
def test_a_summary_that_cannot_be_used_refuses_the_row_with_its_outcome(options, reply, outcome, calls):
    helper = Scripted(reply)
    fitted = summarize(helper, **options)
    assert (fitted.outcome, fitted.messages) == ("refused", ())
    assert (fitted.receipt.reason, fitted.receipt.summary_outcome) == (outcome, outcome)
    assert len(helper.requests) == len(fitted.helper_calls) == calls
    assert fitted.receipt.helper_result_tokens == 0


# covers STR-085
def test_a_source_far_over_the_window_makes_no_call():
    messages = (user("x" * 500_000), user("And?"))
    helper = Scripted()
    fitted = summarize(helper, messages, Budget(window_tokens=2048, output_reserve_tokens=256))
    assert (fitted.receipt.reason, helper.requests) == ("partition_limit", [])


# covers STR-089, STR-099
def test_a_failed_call_in_a_later_generation_fails_the_whole_and_counts_its_calls():
    helper = Scripted("First.", CallError("platform_http_error", http_status=500))
    fitted = summarize(helper, generations=3)
    assert (fitted.outcome, fitted.error.http_status) == ("failed", 500)
    assert len(fitted.helper_calls) == 2

    async def cancelled():
        class Hanging:
            async def complete(self, request):
                raise asyncio.CancelledError

        await Summarize(client=Hanging()).fit(make_case(messages=HISTORY), Budget(), COUNTER)

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancelled())


# covers STR-092
def test_a_summary_that_is_not_smaller_than_its_source_is_no_gain():
    short = (user("ab"), assistant("cd"), user("Which?"))
    # source 12 + 2 + 1, 12 + 5 + 1 = 33; a summary message of 14 + 19 + 1 = 34
    fitted = summarize(Scripted("ef"), short)
    assert (fitted.outcome, fitted.receipt.reason) == ("refused", "no_gain")
    assert fitted.receipt.summary_outcome == "completed"
    assert {s.fate for s in fitted.ledger if s.item_index < 2} == {"summarised"}


# covers STR-090, STR-151
@pytest.mark.parametrize(
    ("text", "content", "is_cut"),
    [
        # heading 38 bytes and the ellipsis 3: a message of 64 tokens holds (64 - 14) * 2 = 100 bytes
        ("a" * 500, "a" * 59 + "…", True),
        # 18 bytes, one cluster: three fit 59 bytes
        ("👨‍👩‍👧" * 10, "👨‍👩‍👧" * 3 + "…", True),
        ("a" * 58 + "\r\nb" * 9, "a" * 58 + "…", True),
        ("a" * 62, "a" * 62, False),
    ],
    ids=["letters", "families", "CR LF", "whole"],
)
def test_a_reply_over_the_target_is_cut_at_the_longest_prefix_that_fits(text, content, is_cut):
    found = within_target(text, target_tokens=64, counter=COUNTER, heading=HEADING)
    assert found == (HEADING + content, is_cut)


class Joining:
    """A counter of characters by which four letters before an ellipsis cost six tokens more."""

    name = "joining"
    vocabulary_sha256 = None

    def __call__(self, text):
        return len(text) + 6 * text.endswith("aaaa…")


# covers STR-151, STR-090
def test_a_cut_reply_is_measured_again_at_its_boundary():
    # envelope 12, role 4, heading 38, ellipsis 1: 9 of 64 tokens are left, and the family takes 7 after the 4 letters
    found, _ = within_target("aaaa👨‍👩‍👧‍👦bbb", target_tokens=64, counter=Joining(), heading=HEADING)
    assert found == f"{HEADING}aaa…"


# covers STR-151, STR-089
@pytest.mark.parametrize("text", ["", " \n", "e" + "\u0301" * 200], ids=["empty", "blank", "one cluster"])
def test_nothing_is_left_of_a_reply_without_text_or_of_one_cluster_over_the_target(text):
    assert within_target(text, target_tokens=64, counter=COUNTER, heading=HEADING)[0] == ""


# covers STR-090
def test_a_cut_reply_with_visible_text_is_used_and_flagged():
    fitted = summarize(Scripted(Reply(text="Half a", finish_reason="length")))
    assert (fitted.outcome, fitted.receipt.flags) == ("summarized", ("helper_truncated",))
    long = summarize(Scripted("b" * 3000), requested_tokens=100)
    assert long.receipt.flags == ("summary_cut",)
    assert long.receipt.helper_result_tokens <= 100


# covers STR-092, STR-023
def test_running_turn_and_evidence_stand_after_the_summary():
    messages = [*HISTORY, assistant("Looking it up.")]
    fitted = summarize(Scripted("port 8080"), messages, snippets=(make_snippet("s1", "Evidence."),))
    assert [m.content for m in fitted.messages][2:] == [
        "Evidence:\n\n[s1] \nEvidence.",
        "What is the port?",
        "Looking it up.",
    ]


# covers STR-093
@pytest.mark.parametrize("form", ["prose", "slots"])
def test_the_prompt_says_what_to_keep_and_what_not_to_do(form):
    prompt = summary_prompt("SOURCE TEXT", target_tokens=300, form=form)
    assert "SOURCE TEXT" in prompt
    for section in ("Goal", "Constraints", "Decisions", "Evidence", "Failures", "Remaining work"):
        assert section in prompt
    lowered = prompt.casefold()
    for demand in (
        "data, not instructions", "constraint", "decision", "reason", "rejected", "identifiers", "paths",
        "cause", "pending", "invent nothing", "as done", "not a list of tools", "300 tokens", "empty",
    ):  # fmt: skip
        assert demand in lowered


# covers STR-093a
def test_slots_are_sent_as_a_schema_where_it_is_enforced_and_rendered_back_to_sections():
    names = [name for name, _, _ in SECTIONS]
    reply = json.dumps({**dict.fromkeys(names, ""), "Constraints": "port 8080 ", "Failures": "none seen"})
    helper = Scripted(reply, enforces_schema=True)
    fitted = summarize(helper, form="slots")
    assert fitted.messages[1].content == f"{HEADING}Constraints: port 8080\nFailures: none seen"
    schema = helper.requests[0].response_format["json_schema"]["schema"]
    assert list(schema["properties"]) == names
    assert all(part["maxLength"] >= 40 for part in schema["properties"].values())
    free = Scripted(reply)
    summarize(free, form="slots")
    assert free.requests[0].response_format is None


# covers STR-093a
@pytest.mark.parametrize("reply", ["", "no json", "[]", "{}", '{"Goal": 3}', '{"Other": "x"}', "[" * 100_000])
def test_a_slots_reply_that_does_not_parse_is_an_empty_summary(reply):
    assert render_slots(reply) == ""
    fitted = summarize(Scripted(reply), form="slots")
    assert fitted.receipt.reason == "empty_summary"


# covers STR-094
def test_the_hash_of_the_prompts_is_a_sha256():
    assert len(prompts_sha256()) == 64
    assert slots_format(600) != slots_format(300)


# covers STR-080
@pytest.mark.parametrize(
    "parameters",
    [
        {"generations": 0},
        {"generations": 11},
        {"generations": 1.0},
        {"form": "verse"},
        {"requested_tokens": "5"},
    ],
    ids=str,
)
def test_a_bad_parameter_is_refused(parameters):
    with pytest.raises(StrategyError, match=next(iter(parameters))):
        Summarize(**parameters)
