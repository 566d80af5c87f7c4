import asyncio
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import pytest

from ctxlab.budget import Budget
from ctxlab.caller import Caller
from ctxlab.calls import ChatRequest, Generation, Reply, Usage
from ctxlab.client import chat_payload
from ctxlab.dataset import Pattern
from ctxlab.errors import CallError
from ctxlab.journal import Entry, Slot
from ctxlab.messages import Message
from ctxlab.records import Row
from ctxlab.retries import RetryPolicy
from ctxlab.runner import Plan, run_rows
from ctxlab.strategies.base import FittedContext
from ctxlab.strategies.full import Empty, Full
from ctxlab.strategies.parse import with_helper
from ctxlab.strategies.shorten import Shorten
from ctxlab.strategies.summarize import Summarize
from ctxlab.tokens import token_counter
from tests.factories import assistant, make_case, make_fact, user

COUNTER = token_counter(None)
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@dataclass(frozen=True)
class FakeClient:
    kind: str = "stand-in:fake"
    model: str = "fake"
    endpoint: str = "stand-in:fake"

    def payload(self, request):
        return chat_payload(request, model=self.model)


class FakeSession:
    """Answers by a function of the payload; counts how many requests are in flight at once."""

    def __init__(self, answer):
        self.answer = answer
        self.payloads = []
        self.in_flight = 0
        self.most_in_flight = 0

    async def complete(self, payload):
        self.payloads.append(payload)
        self.in_flight += 1
        self.most_in_flight = max(self.most_in_flight, self.in_flight)
        await asyncio.sleep(0)
        self.in_flight -= 1
        answer = self.answer(payload)
        if isinstance(answer, BaseException):
            raise answer
        return answer if isinstance(answer, Reply) else Reply(text=answer)


def caller(answer, **options):
    return Caller(client=FakeClient(), session=FakeSession(answer), counter=COUNTER, **options)


def plan(cases, strategies=(Full(),), *, by=None, **options):
    if by is not None:
        strategies = with_helper(strategies, by, helper_counter=COUNTER)
    return Plan(
        **{
            "cases": tuple(cases),
            "strategies": tuple(strategies),
            "repeats": 1,
            "budget": Budget(),
            "counter": COUNTER,
            "caller": by,
            "client_kind": "stand-in:fake",
            "now": lambda: NOON,
            **options,
        }
    )


def run(*args, **options):
    return asyncio.run(run_rows(plan(*args, **options)))


def case_with_history(name="c1", **fields):
    messages = (
        Message(role="system", content="Help."),
        user("Use X-1." + " padding" * 60),
        assistant("X-1 it is." + " padding" * 60),
        user("Which?"),
    )
    return make_case(name, messages=messages, facts=(make_fact("f1", "X-1"),), **fields)


# covers GEN-002, GEN-005, FRM-030, RUN-041
def test_there_is_one_row_per_case_strategy_and_repeat_in_that_order():
    cases = [case_with_history("b"), case_with_history("a")]
    outcome = run(cases, [Full(), Empty()], by=caller(lambda p: "X-1"), repeats=2)
    assert [(r.case.id, r.strategy, r.repeat, r.case_index) for r in outcome.rows] == [
        ("b", "full", 0, 0), ("b", "full", 1, 0), ("b", "empty", 0, 0), ("b", "empty", 1, 0),
        ("a", "full", 0, 1), ("a", "full", 1, 1), ("a", "empty", 0, 1), ("a", "empty", 1, 1),
    ]  # fmt: skip
    assert {r.status for r in outcome.rows} == {"completed"}
    assert outcome.rows[0].started_at == NOON


# covers RUN-041, GEN-013, RUN-042
def test_shuffling_and_workers_change_neither_rows_nor_values():
    cases = [case_with_history(f"c{i}") for i in range(6)]
    strategies = [Full(), Summarize(generations=2), Shorten(target_tokens=200)]

    def answer(payload):
        return f"answer of {len(str(payload['messages']))} X-1"

    plain = run(cases, strategies, by=caller(answer), repeats=2)
    many = run(cases, strategies, by=caller(answer), repeats=2, concurrency=7, shuffle_seed=3)

    def values(row):
        calls = tuple(replace(call, duration_s=0.0) for call in row.calls)
        return replace(row, calls=calls)

    assert [values(r) for r in plain.rows] == [values(r) for r in many.rows]


# covers RUN-041
def test_shuffling_permutes_the_order_of_work():
    cases = [case_with_history(f"c{i}") for i in range(8)]
    seen = []
    run(cases, by=caller(lambda p: "x"), shuffle_seed=1, row_done=lambda row: seen.append(row.case.id))
    assert seen != [c.id for c in cases]
    assert sorted(seen) == [c.id for c in cases]


# covers RUN-040
@pytest.mark.parametrize("workers", [1, 3, 64])
def test_at_most_as_many_requests_as_workers_are_in_flight(workers):
    by = caller(lambda p: "x")
    run([case_with_history(f"c{i}") for i in range(20)], by=by, concurrency=workers)
    assert by.session.most_in_flight == min(workers, 20)
    assert len(by.session.payloads) == 20


# covers RUN-031, RUN-030, GEN-002
@pytest.mark.parametrize(
    ("answer", "kind", "status"),
    [
        (CallError("platform_http_error", http_status=500), "platform_http_error", 500),
        (CallError("timeout"), "timeout", None),
        (CallError("connection_failure"), "connection_failure", None),
        (CallError("malformed_platform_response"), "malformed_platform_response", None),
        (CallError("response_too_large"), "response_too_large", None),
        (RuntimeError("secret text"), "internal_error", None),
        (RecursionError(), "internal_error", None),
    ],
    ids=["http", "timeout", "connection", "malformed", "too large", "internal", "recursion"],
)
def test_a_failed_call_is_a_row_with_its_kind_and_the_others_go_on(answer, kind, status):
    def answers(payload):
        return answer if "bad" in str(payload) else "X-1"

    bad = make_case("bad", messages=(user("bad"),))
    rows = run([bad, case_with_history("good")], by=caller(answers)).rows
    assert (rows[0].status, rows[0].error_kind, rows[0].stage) == ("error", kind, "main")
    assert (rows[0].http_status, rows[0].answer, rows[0].passed) == (status, None, False)
    assert rows[1].status == "completed"
    assert "secret" not in repr(rows[0])


# covers RUN-030
def test_a_failed_helper_call_is_an_error_of_the_helper_stage():
    row = run([case_with_history()], [Summarize()], by=caller(lambda p: CallError("timeout"))).rows[0]
    assert (row.status, row.error_kind, row.stage) == ("error", "timeout", "helper")
    assert [(c.stage, c.outcome) for c in row.calls] == [("helper", "error")]
    assert row.fitted.receipt.summary_outcome == "failed"


# covers RUN-032, GEN-009, BUD-036
@pytest.mark.parametrize(("window", "status"), [(2359, "completed"), (2358, "refused")])
def test_a_request_of_exactly_the_allowance_is_sent_and_one_token_more_is_refused(window, status):
    # one user message of 130 bytes: 12 + 2 + 65 = 79 = U with a window of 2,359
    by = caller(lambda p: "x")
    row = run([make_case(messages=(user("y" * 130),))], by=by, budget=Budget(window_tokens=window)).rows[0]
    assert row.status == status
    assert len(by.session.payloads) == (status == "completed")
    if status == "refused":
        assert (row.error_kind, row.reason, row.stage) == ("budget_exceeded", "full_too_large", "fit")
        assert (row.passed, row.answer, row.request_tokens, row.calls) == (False, None, None, ())


# covers GEN-009
def test_a_helper_request_over_the_allowance_does_not_pass_the_gate():
    @dataclass(frozen=True)
    class Greedy:
        helper: Caller
        name: str = "greedy"
        kind: str = "greedy"

        async def fit(self, case, budget, counter):
            request = ChatRequest(messages=(user("x" * 20_000),), stage="helper", kind="whole")
            await self.helper.complete(request)

    by = caller(lambda p: "x")
    row = run([case_with_history()], [Greedy(by)], by=by).rows[0]
    assert (row.status, row.error_kind) == ("refused", "budget_exceeded")
    assert by.session.payloads == []


# covers STR-012
def test_a_strategy_that_breaks_the_contract_gives_an_internal_error_and_nothing_is_sent():
    class Thief:
        name = kind = "thief"

        def fit(self, case, budget, counter):
            fitted = Full().fit(case, budget, counter)
            return replace(fitted, messages=fitted.messages[1:])

    by = caller(lambda p: "x")
    row = run([case_with_history()], [Thief()], by=by).rows[0]
    assert (row.status, row.error_kind, row.stage) == ("error", "internal_error", "fit")
    assert by.session.payloads == []


# covers STR-011
def test_any_object_with_name_kind_and_fit_is_a_strategy():
    class Mine:
        name = kind = "mine"

        def fit(self, case, budget, counter) -> FittedContext:
            return Empty().fit(case, budget, counter)

    row = run([case_with_history()], [Mine()], by=caller(lambda p: "x")).rows[0]
    assert (row.status, row.strategy) == ("completed", "mine")


# covers STR-100
def test_deterministic_strategies_fit_once_per_case_and_summaries_are_made_for_each_repeat():
    class Counted:
        name = kind = "counted"
        fits = 0

        def fit(self, case, budget, counter):
            Counted.fits += 1
            return Full().fit(case, budget, counter)

    by = caller(lambda p: "X-1")
    cases = [case_with_history("c1"), case_with_history("c2")]
    rows = run(cases, [Counted(), Summarize()], by=by, repeats=3, concurrency=4).rows
    assert Counted.fits == 2
    summaries = [r for r in rows if r.strategy == "summarize"]
    assert [len(r.helper_calls) for r in summaries] == [1] * 6


# covers RUN-035, GEN-010
def test_without_a_client_requests_are_built_and_not_sent():
    row = run([case_with_history()], [Full()]).rows[0]
    assert (row.status, row.passed, row.answer, row.calls) == ("fitted", None, None, ())
    assert row.request_tokens == row.fitted.receipt.result_tokens
    assert (row.facts[0].in_context, row.facts[0].fate) == (True, "not_judged")


# covers STR-013, BUD-035
def test_tools_and_guidance_are_priced_and_sent_with_every_main_request_only():
    tool = {"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": {}}}
    by = caller(lambda p: "X-1")
    # 24 + 2 + 3 + 1 = 30 tokens; guidance 12 + 2 + 5 = 19
    budget = Budget(tool_tokens=30, guidance_tokens=19)
    row = run(
        [case_with_history()], [Summarize()], by=by, tools=(tool,), guidance="Be brief.", budget=budget
    ).rows[0]
    helper, main = by.session.payloads
    assert "tools" not in helper
    assert main["tools"] == [tool]
    assert main["messages"][-1] == {"role": "user", "content": "Be brief."}
    assert row.request_tokens == row.fitted.receipt.result_tokens + 30 + 19
    assert "Be brief." not in [m.content for m in row.fitted.messages]


# covers RUN-004, BUD-033
def test_case_settings_win_over_run_settings_and_a_larger_output_is_reserved():
    by = caller(lambda p: "x")
    case = make_case(generation=Generation(max_tokens=3000))
    run([case], by=by, generation=Generation(max_tokens=50, temperature=0.5, seed=7))
    payload = by.session.payloads[0]
    assert (payload["max_tokens"], payload["temperature"], payload["seed"]) == (3000, 0.5, 7)
    small = Budget(window_tokens=4200)  # U is 1,920, but -80 with 3,000 reserved
    assert run([case], by=by, budget=small).rows[0].status == "refused"


# covers EVA-013, RUN-033
def test_a_failing_evaluator_gives_an_evaluator_failure_that_keeps_usage_and_answer():
    fact = make_fact("f1", "X-1", must_not_claim=(Pattern(regex="(a|aa)+$"),))
    case = make_case(messages=(user("Go."),), facts=(fact,))
    reply = Reply(
        text="X-1 " + "a" * 200 + "b", usage=Usage(prompt_tokens=5, completion_tokens=6), duration_s=1.5
    )
    row = run([case], by=caller(lambda p: reply)).rows[0]
    assert (row.status, row.error_kind, row.stage) == ("error", "evaluator_failure", "evaluate")
    assert row.calls[0].usage.prompt_tokens == 5
    assert row.answer == reply.text
    assert row.passed is False


# covers RUN-077, RUN-035
def test_on_cancellation_finished_rows_keep_their_values_and_the_rest_are_not_run():
    async def work():
        started = asyncio.Event()

        class Hanging(FakeSession):
            async def complete(self, payload):
                if "third" in str(payload):
                    started.set()
                    await asyncio.Event().wait()
                return await super().complete(payload)

        by = Caller(client=FakeClient(), session=Hanging(lambda p: "X-1"), counter=COUNTER)
        cases = [make_case(name, messages=(user(name),)) for name in ("first", "second", "third", "fourth")]
        task = asyncio.create_task(run_rows(plan(cases, by=by)))
        await started.wait()
        task.cancel()
        return await task

    outcome = asyncio.run(work())
    assert outcome.interrupted
    assert [r.status for r in outcome.rows] == ["completed", "completed", "not_run", "not_run"]
    assert outcome.rows[3].passed is None


# covers RUN-060, RUN-061, RUN-063
@pytest.mark.parametrize(
    ("attempts", "status", "made"), [(1, "error", 1), (2, "error", 2), (3, "completed", 3)]
)
def test_attempts_are_recorded_and_the_last_one_counts(attempts, status, made):
    replies = iter([CallError("platform_http_error", http_status=503)] * 2 + ["X-1"])
    waits = []

    async def sleep(seconds):
        waits.append(seconds)

    by = caller(lambda p: next(replies), retry=RetryPolicy(max_attempts=attempts), sleep=sleep)
    row = run([case_with_history()], by=by).rows[0]
    assert (row.status, len(row.calls)) == (status, made)
    assert [c.attempt for c in row.calls] == list(range(made))
    assert len(waits) == made - 1
    assert row.main_call.attempt == made - 1


# covers RUN-073
def test_a_recorded_call_is_reused_if_slot_and_request_agree_and_sent_again_otherwise():
    first = caller(lambda p: "X-1 from the first run")
    rows = run([case_with_history()], [Summarize()], by=first).rows
    recorded = {}
    for call in rows[0].calls:
        slot = Slot(case_id="c1", strategy="summarize", repeat=0, call_index=call.call_index, attempt=0)
        reply = Reply(text="X-1 from the first run", duration_s=9.0)
        recorded[slot] = Entry.of_reply(slot, call.stage, call.request_sha256, reply)
    again = caller(lambda p: "sent again", recorded=recorded)
    row = run([case_with_history()], [Summarize()], by=again).rows[0]
    assert again.session.payloads == []
    assert [c.reused for c in row.calls] == [True, True]
    assert (row.answer, row.calls[0].duration_s) == ("X-1 from the first run", 9.0)
    changed = caller(
        lambda p: "sent again", recorded={s: replace(e, request_sha256="0") for s, e in recorded.items()}
    )
    assert run([case_with_history()], [Summarize()], by=changed).rows[0].answer == "sent again"


# covers RUN-073
def test_a_recorded_error_is_not_sent_again():
    slot = Slot(case_id="c1", strategy="full", repeat=0, call_index=0, attempt=0)
    probe = caller(lambda p: CallError("timeout", duration_s=2.0))
    sha = run([case_with_history()], by=probe).rows[0].calls[0].request_sha256
    entry = Entry.of_error(slot, "main", sha, CallError("timeout", duration_s=2.0))
    again = caller(lambda p: "sent", recorded={slot: entry})
    row = run([case_with_history()], by=again).rows[0]
    assert (row.status, row.error_kind, again.session.payloads) == ("error", "timeout", [])


# covers GEN-002
def test_rows_of_every_status_are_judged_as_far_as_they_can_be():
    rows = run([case_with_history()], [Full(), Empty()], by=caller(lambda p: "X-1")).rows
    assert [r.facts[0].in_context for r in rows] == [True, False]
    assert [r.facts[0].fate for r in rows] == ["retained", "unsupported_claim"]
    assert isinstance(rows[0], Row)
