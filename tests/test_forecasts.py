"""What a run would send: the same requests as it sends, their sizes, and bounds of their cost."""

from decimal import Decimal
from pathlib import Path

import pytest

import ctxlab
from ctxlab.client import EndpointClient
from ctxlab.errors import InputError
from ctxlab.forecasts import forecast, forecast_frame, forecast_table
from ctxlab.prices import ModelPrices, Prices
from ctxlab.standins import STAND_INS, stand_in
from ctxlab.tokens import UTF8_BYTES_2
from tests.factories import assistant, make_case, make_dataset, user
from tests.loopback import Answer, completion, loopback

ROOT = Path(__file__).parents[1]
CONTINUATION = ROOT / "data/continuation.jsonl"
PRICES = Prices(currency="USD", models={"gpt-4o": ModelPrices(input="2", cached_input="1", output="10")})


def rows_of(frame):
    return frame.astype(object).where(frame.notna(), None).to_dict("records")


def prompts(requests):
    return [[(m["role"], m["content"]) for m in request["messages"]] for request in requests]


# covers RUN-080, RUN-084
def test_four_generations_on_the_bundled_cases_need_21_calls():
    made = forecast(CONTINUATION, "full,shorten,summarize:generations=4")
    assert made.calls == 3 * (1 + 1 + 5)
    of_first = [
        one
        for one in made.requests
        if (one.case_id, one.strategy) == ("debugging", "summarize[generations=4]")
    ]
    assert [(one.call_index, one.call_kind, one.generation) for one in of_first] == [
        (0, "whole", 1), (1, "whole", 2), (2, "whole", 3), (3, "whole", 4), (4, "main", None),
    ]  # fmt: skip
    assert [one.target_tokens for one in of_first] == [512, 512, 512, 512, None]


# covers RUN-081
@pytest.mark.parametrize("name", sorted(set(STAND_INS) - {"error", "scripted", "slow"}))
def test_a_forecast_lists_what_a_run_with_the_same_replies_transmits(name):
    """The server answers as the stand-in does, and records each request."""
    session = stand_in(name)
    sent = []

    async def answer(request):
        sent.append(request.json)
        async with session.open() as replying:
            reply = await replying.complete(request.json)
        return Answer(body=completion(reply.text))

    words = "full,shorten:target_tokens=512,summarize:generations=2"
    budget = ctxlab.Budget(window_tokens=4096, output_reserve_tokens=512)  # histories go in parts
    with loopback(answer) as server:
        client = EndpointClient(base_url=server.base_url, model="m")
        ctxlab.run(CONTINUATION, words, client=client, budget=budget, runs_dir=None, progress=False)
    made = forecast(CONTINUATION, words, client=f"stand-in:{name}", budget=budget)
    planned = [one for one in made.requests if not one.refused]
    assert len(planned) == len(sent)
    counts = [
        12 * len(m) + sum(UTF8_BYTES_2(role) + UTF8_BYTES_2(text) for role, text in m) for m in prompts(sent)
    ]
    assert [one.estimated_tokens for one in planned] == counts
    journaled = ctxlab.run(
        CONTINUATION, words, client=f"stand-in:{name}", budget=budget, runs_dir=None, progress=False
    )
    hashes = [call.request_sha256 for row in journaled.rows for call in row.last_calls]
    assert [one.request_sha256 for one in planned] == hashes


# covers RUN-082
def test_without_a_client_the_replies_fill_their_targets_and_the_frame_says_so():
    made = forecast(CONTINUATION, "summarize:generations=2")
    frame = forecast_frame(made)
    assert set(frame["client_kind"]) == {"stand-in:head"}
    second = [one for one in made.requests if one.generation == 2]
    # the summary in the prompt has the 512 tokens of its target, but for the heading of a message
    assert all(900 < one.estimated_tokens < 1300 for one in second)


CASE = make_case(messages=(user("a" * 200), assistant("b" * 200), user("And?")))


# covers RUN-083
def test_cost_is_between_no_output_and_as_much_as_may_be_written():
    made = forecast(
        make_dataset(CASE), "full,summarize:requested_tokens=100", model="gpt-4o", prices=PRICES,
        budget=ctxlab.Budget(output_reserve_tokens=700),
    )  # fmt: skip
    full, helper, answer = [
        one for one in made.requests if one.strategy == "full" or one.strategy.startswith("summarize")
    ][:3]
    assert full.cost_input == Decimal(full.estimated_tokens) * 2 / 1_000_000
    assert full.cost_upper == full.cost_input + Decimal(700 * 10) / 1_000_000
    assert helper.cost_upper == helper.cost_input + Decimal(100 * 10) / 1_000_000
    assert answer.output_tokens == 700
    assert made.run.counter == "o200k_base"


# covers RUN-083, GEN-011
def test_a_cost_without_a_price_is_unknown_and_max_tokens_bounds_an_answer():
    made = forecast(
        make_dataset(CASE),
        "full",
        model="another",
        prices=PRICES,
        generation=ctxlab.Generation(max_tokens=32),
    )
    (one,) = made.requests
    assert (one.output_tokens, one.cost_input, one.cost_upper) == (32, None, None)
    assert forecast_frame(made)["cost_upper"].isna().all()
    assert forecast_table(made)["cost at most"].tolist() == ["unavailable", "unavailable"]
    assert "cost at most" not in forecast_table(forecast(make_dataset(CASE), "full")).columns


def test_what_would_be_refused_is_listed_with_its_reason_and_its_size_and_costs_nothing():
    tiny = forecast(
        make_dataset(CASE), "full", budget=ctxlab.Budget(window_tokens=1500, output_reserve_tokens=200)
    )
    (one,) = rows_of(forecast_frame(tiny))
    # bytes by two: 100 + 100 + 2, three times 12, and 2 + 5 + 2 for the roles
    assert (one["refused"], one["reason"], one["estimated_tokens"]) == (True, "full_too_large", 247)
    assert tiny.calls == tiny.tokens == 0


@pytest.mark.parametrize("client", ["local", "endpoint", "stand-in:nobody"])
def test_a_client_that_could_send_is_refused(client):
    with pytest.raises(InputError, match=r"allowed (is stand-in:NAME|are echo)"):
        forecast(CONTINUATION, "full", client=client)
