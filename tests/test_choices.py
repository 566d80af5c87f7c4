"""Words for clients, datasets and thresholds: what they stand for, and what is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from ctxlab.budget import Budget
from ctxlab.choices import client_from_words, dataset_from_words, thresholds_from_words
from ctxlab.client import EndpointClient
from ctxlab.errors import BudgetError, InputError
from ctxlab.local import LocalClient
from ctxlab.standins import stand_in

ADDRESS = "http://127.0.0.1:9/v1"


# covers GEN-008
def test_each_word_stands_for_one_client():
    assert client_from_words("stand-in:echo") == stand_in("echo")
    assert client_from_words("endpoint", base_url=ADDRESS, model="m", timeout_s=2.5) == EndpointClient(
        base_url=ADDRESS, model="m", timeout_s=2.5
    )
    small = Budget(window_tokens=4096, output_reserve_tokens=300)
    found = client_from_words("local", budget=small, model_path=Path("m.gguf"), warm_cache=True, timeout_s=9)
    assert found == LocalClient(
        model_path=Path("m.gguf"),
        window_tokens=4096,
        output_reserve_tokens=300,
        warm_cache=True,
        timeout_s=9,
    )


# covers GEN-008
def test_an_address_alone_chooses_no_endpoint():
    assert isinstance(client_from_words("local", base_url=ADDRESS, model="m"), LocalClient)


# covers GEN-008
@pytest.mark.parametrize(
    ("words", "options", "says"),
    [
        ("endpoint", {}, "needs --base-url and --model"),
        ("endpoint", {"base_url": ADDRESS}, "needs --base-url and --model"),
        ("endpoint", {"model": "m", "base_url": ""}, "needs --base-url and --model"),
        ("stand-in:nobody", {}, "stand-in: unknown name"),
        ("stand-in", {}, "stand-in: unknown name"),
        ("remote", {}, "client: allowed is local, endpoint"),
        ("", {}, "client: allowed is local, endpoint"),
        ("Local", {}, "client: allowed is local, endpoint"),
    ],
)
def test_other_words_are_invalid_input(words, options, says):
    with pytest.raises(InputError, match=says):
        client_from_words(words, **options)


def test_thresholds_in_words_are_read_by_name():
    found = thresholds_from_words(["max_rounds=2", "summary_share=1/10"])
    assert (found.max_rounds, found.canonical()["summary_share"]) == (2, "1/10")
    assert thresholds_from_words([]) == type(found)()


@pytest.mark.parametrize("pairs", [["max_rounds"], ["max_rounds=1", "max_rounds=2"]])
def test_a_threshold_is_given_once_and_with_a_value(pairs):
    with pytest.raises(InputError, match="thresholds: expected NAME=VALUE, each name once"):
        thresholds_from_words(pairs)


def test_an_unknown_threshold_is_refused():
    with pytest.raises(BudgetError, match="threshold: unknown name"):
        thresholds_from_words(["bogus=1"])


def test_a_dataset_of_our_own_format_is_loaded():
    path = Path(__file__).parents[1] / "data" / "continuation.jsonl"
    assert [case.id for case in dataset_from_words(path)] == [
        "debugging",
        "pending-work",
        "corrected-constraint",
    ]
