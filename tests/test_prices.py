import json
from decimal import Decimal

import pytest

from ctxlab.errors import InputError
from ctxlab.prices import ModelPrices, Prices, call_cost, call_cost_uncached, load_prices, row_cost
from tests.factories import make_call

PRICES = Prices(
    currency="USD",
    models={
        "m": ModelPrices(input="0.15", cached_input="0.075", output="0.60"),
        "flat": ModelPrices(input="1", cached_input="1", output="2"),
        "writes": ModelPrices(input="1", cached_input="0.1", cache_write="1.25", output="2"),
    },
)


def call(model="m", **fields):
    return make_call(model_requested=model, **fields)


# covers RUN-091, RUN-092, RUN-094
@pytest.mark.parametrize(
    ("made", "cost"),
    [
        (call(prompt_tokens=10_000, completion_tokens=0, cached_tokens=10_000), "0.00075"),
        (call(prompt_tokens=10_000, completion_tokens=1_000, cached_tokens=4_000), "0.0018"),
        (call(prompt_tokens=10_000, completion_tokens=1_000, cached_tokens=0), "0.0021"),
        (call(prompt_tokens=10_000, completion_tokens=1_000), None),
        (call(prompt_tokens=10_000, cached_tokens=0), None),
        (call(completion_tokens=5, cached_tokens=0), None),
        (call(prompt_tokens=10, completion_tokens=0, cached_tokens=11), None),
        (call("flat", prompt_tokens=10_000, completion_tokens=1_000), "0.012"),
        (call("unknown", prompt_tokens=1, completion_tokens=1, cached_tokens=0), None),
        (
            call("writes", prompt_tokens=100, completion_tokens=0, cached_tokens=50, cache_write_tokens=20),
            "0.00006",
        ),
        (call("writes", prompt_tokens=100, completion_tokens=0, cached_tokens=50), None),
    ],
    ids=range(11),
)
def test_a_call_costs_its_tokens_at_their_prices_or_nothing_is_known(made, cost):
    assert call_cost(made, PRICES) == (None if cost is None else Decimal(cost))


# covers RUN-093
def test_the_uncached_cost_prices_all_input_alike_and_needs_no_cached_number():
    assert call_cost_uncached(call(prompt_tokens=10_000, completion_tokens=1_000), PRICES) == Decimal(
        "0.0021"
    )


# covers RUN-095, RUN-092, GEN-011
def test_a_failed_attempt_costs_what_it_reports_and_nothing_if_it_reached_nobody():
    answered = call(prompt_tokens=10_000, completion_tokens=1_000, cached_tokens=0)
    unreached = call(outcome="error", error_kind="connection_failure", reached=False)
    lost = call(outcome="error", error_kind="timeout")
    assert row_cost([unreached, answered], PRICES) == (0.0021, 0.0021)
    assert row_cost([lost, answered], PRICES) == (None, None)
    assert row_cost([], PRICES) == (None, None)
    assert row_cost([answered], None) == (None, None)
    assert row_cost([unreached], PRICES) == (0.0, 0.0)
    assert row_cost([unreached], None) == (None, None)


# covers RUN-090
def test_a_price_file_is_read_strictly(tmp_path):
    path = tmp_path / "prices.json"
    model = {"input": "0.15", "cached_input": "0.075", "cache_write": "0.15", "output": "0.60"}
    path.write_text(json.dumps({"currency": "USD", "models": {"NAME": model}}))
    assert load_prices(path).models["NAME"].output == "0.60"
    for change, field in (
        ({"input": 0.15}, "models.NAME.input"),
        ({"input": "-1"}, "models.NAME.input"),
        ({"input": "1e3"}, "models.NAME.input"),
        ({"surprise": "1"}, "models.NAME.surprise"),
    ):
        path.write_text(json.dumps({"currency": "USD", "models": {"NAME": {**model, **change}}}))
        with pytest.raises(InputError, match=f"prices.json: {field}"):
            load_prices(path)
    path.write_text("{")
    with pytest.raises(InputError, match=r"prices\.json"):
        load_prices(path)
    with pytest.raises(InputError, match="cannot be read"):
        load_prices(tmp_path / "none.json")
