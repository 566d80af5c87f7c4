import dataclasses
import pickle

import pytest
from hypothesis import given, strategies as st

from ctxlab.budget import (
    SIZES,
    Budget,
    compaction_due,
    limits,
    next_attempt,
    part_target,
    size_flags,
    summary_target,
)
from ctxlab.errors import BudgetError
from ctxlab.thresholds import Thresholds

DEFAULTS = Thresholds()


def of(window, reserve, **more):
    return Budget(window_tokens=window, output_reserve_tokens=reserve, **more)


# covers BUD-030, BUD-032
def test_the_default_budget_has_the_stated_numbers_and_each_says_that_it_is_a_default():
    budget = Budget()
    assert {name: getattr(budget, name) for name in SIZES} == {
        "window_tokens": 8192,
        "output_reserve_tokens": 1000,
        "protocol_reserve_tokens": 256,
        "safety_reserve_tokens": 1024,
        "calibration_tokens": 0,
        "tool_tokens": 0,
        "guidance_tokens": 0,
    }
    assert set(budget.sources.values()) == {"default"}
    assert budget.allowance_tokens == 5912


# covers BUD-032
@pytest.mark.parametrize(
    ("given_values", "window", "reserve"),
    [
        ({"window_tokens": 8192}, "override", "default"),
        ({"output_reserve_tokens": 500}, "default", "override"),
        ({"window_tokens": 4096, "output_reserve_tokens": 1000}, "override", "override"),
    ],
)
def test_window_and_reserve_carry_their_sources_independently(given_values, window, reserve):
    sources = pickle.loads(pickle.dumps(Budget(**given_values))).sources
    assert (sources["window_tokens"], sources["output_reserve_tokens"]) == (window, reserve)


# covers BUD-021, BUD-030
@pytest.mark.parametrize("field", SIZES)
@pytest.mark.parametrize("value", [-1, 1.0, "8192", None, True, 2**63])
def test_a_budget_takes_non_negative_integers_only(field, value):
    with pytest.raises(BudgetError, match=field):
        Budget(**{field: value})


# covers BUD-021
def test_the_largest_integer_is_accepted():
    assert of(2**63 - 1, 0).allowance_tokens == 2**63 - 1 - 1280


# covers BUD-031
@pytest.mark.parametrize(
    ("budget", "allowance"),
    [
        (of(2048, 256), 512),
        (of(4096, 512), 2304),
        (of(131_072, 8192), 121_600),
        (of(1536, 256), 0),
        (of(8192, 1000, calibration_tokens=900), 5012),
        (
            of(4096, 4096, protocol_reserve_tokens=64),
            0,
        ),  # a reserve as large as the window leaves nothing, not -64
        (of(0, 0), 0),
    ],
)
def test_the_allowance_is_the_window_without_the_reserves_and_never_negative(budget, allowance):
    assert budget.allowance_tokens == allowance


# covers BUD-031, BUD-036
def test_an_allowance_of_zero_refuses_every_request():
    assert not of(4096, 4096).fits(1)


# covers BUD-036
def test_the_output_reserve_counts_against_the_window_and_the_limit_itself_fits():
    budget = of(1000, 300, protocol_reserve_tokens=0, safety_reserve_tokens=0)
    assert [tokens for tokens in (699, 700, 701, 750) if budget.fits(tokens)] == [699, 700]


# covers BUD-033
@pytest.mark.parametrize(
    ("asked", "reserve"), [(None, 1000), (1, 1000), (1000, 1000), (1001, 1001), (3000, 3000)]
)
def test_a_case_that_asks_for_more_output_gets_the_larger_reserve(asked, reserve):
    budget = Budget(window_tokens=8192)
    larger = budget.with_output_at_least(asked)
    assert larger.output_reserve_tokens == reserve
    assert larger.allowance_tokens == 6912 - reserve
    assert budget.output_reserve_tokens == 1000


# covers BUD-034
def test_nothing_in_a_budget_knows_a_model():
    assert not [field.name for field in dataclasses.fields(Budget) if "model" in field.name]


# covers BUD-035
@pytest.mark.parametrize(
    ("tools", "guidance", "evidence", "left"),
    [
        (0, 0, 0, 5912),
        (900, 12, 1000, 4000),
        (5912, 0, 0, 0),
        (6000, 0, 0, 0),
        (0, 6000, 50, 0),
        (1, 1, 5911, 0),
    ],
)
def test_tools_guidance_and_evidence_are_taken_off_the_message_allowance(tools, guidance, evidence, left):
    budget = Budget(tool_tokens=tools, guidance_tokens=guidance)
    assert budget.message_allowance_tokens(evidence_tokens=evidence) == left


LIMITS = """
2,048 / 256 | 512 | 307 | 51 | 102 | 8 | compact | 358 | 409 | 51 | 102 | 51 | 102 | 204
4,096 / 512 | 2,304 | 1,382 | 230 | 460 | 8 | compact | 1,612 | 1,843 | 230 | 460 | 230 | 460 | 921
8,192 / 1,000 | 5,912 | 3,547 | 591 | 1,182 | 8 | compact | 4,138 | 4,729 | 591 | 1,182 | 591 | 1,182 | 2,364
32,768 / 4,096 | 27,392 | 16,435 | 2,048 | 5,478 | 16 | compact | 19,174 | 21,913 | 2,739 | 5,478 | 1,500 | 3,000 | 10,956
131,072 / 8,192 | 121,600 | 24,576 | 2,048 | 24,320 | 64 | standard | 85,120 | 97,280 | 12,160 | 24,320 | 1,500 | 3,000 | 48,640
""".strip().splitlines()


# covers BUD-040, BUD-041
@pytest.mark.parametrize("line", LIMITS)
def test_the_derived_limits_are_those_of_the_table(line):
    first, *numbers = (cell.replace(",", "").strip() for cell in line.split("|"))
    window, reserve = map(int, first.split("/"))
    profile = numbers.pop(5)
    (
        allowance,
        instructions,
        guidance,
        schemas,
        tools,
        ahead,
        target,
        growth,
        recent,
        turn,
        history,
        evidence,
    ) = map(int, numbers)
    budget = of(window, reserve)
    assert budget.allowance_tokens == allowance
    assert dataclasses.asdict(limits(budget)) == {
        "instruction_tokens": instructions,
        "guidance_tokens": guidance,
        "tool_schema_tokens": schemas,
        "n_tools": tools,
        "profile": profile,
        "ahead_trigger_tokens": ahead,
        "deterministic_target_tokens": target,
        "retry_growth_tokens": growth,
        "minimum_gain_tokens": growth,
        "recent_keep_tokens": recent,
        "turn_summary_tokens": turn,
        "history_summary_tokens": history,
        "evidence_tokens": evidence,
    }


# covers BUD-041
def test_shares_of_messages_follow_the_message_allowance_and_growth_is_at_least_one_token():
    derived = limits(Budget(), message_allowance_tokens=9)
    assert derived.ahead_trigger_tokens == 6  # 6.3 rounded down
    assert (derived.retry_growth_tokens, derived.minimum_gain_tokens) == (1, 1)
    assert derived.evidence_tokens == 2364  # a share of U, not of M


# covers BUD-042
@pytest.mark.parametrize(
    ("sizes", "flags"),
    [
        ((3547, 591, 1182, 8), ()),
        ((3548, 591, 1182, 8), ("large_instructions",)),
        ((0, 592, 0, 0), ("large_guidance",)),
        ((0, 0, 1183, 0), ("large_tool_schemas",)),
        ((0, 0, 0, 9), ("many_tools",)),
        ((9000, 9000, 9000, 9), ("large_instructions", "large_guidance", "large_tool_schemas", "many_tools")),
    ],
)
def test_sizes_above_the_constants_are_flagged(sizes, flags):
    instructions, guidance, schemas, tools = sizes
    assert (
        size_flags(
            Budget(),
            instruction_tokens=instructions,
            guidance_tokens=guidance,
            tool_schema_tokens=schemas,
            n_tools=tools,
        )
        == flags
    )


# covers BUD-045
@pytest.mark.parametrize(("tokens", "due"), [(599, False), (600, True), (601, True)])
def test_a_trigger_of_60_percent_of_1000_starts_at_600(tokens, due):
    sixty = Thresholds(ahead_trigger_share=0.6)
    assert (
        compaction_due(tokens=tokens, message_allowance_tokens=1000, next_attempt_tokens=0, thresholds=sixty)
        is due
    )


# covers BUD-044
@pytest.mark.parametrize(
    ("tokens", "allowance", "after", "due"),
    [
        (700, 1000, 0, True),
        (750, 1000, 800, False),
        (799, 1000, 800, False),
        (800, 1000, 800, True),
        (5, 0, 0, False),
        (0, 0, 0, False),
    ],
)
def test_compaction_ahead_needs_room_the_trigger_and_the_next_attempt(tokens, allowance, after, due):
    assert (
        compaction_due(
            tokens=tokens, message_allowance_tokens=allowance, next_attempt_tokens=after, thresholds=DEFAULTS
        )
        is due
    )


# covers BUD-044
@pytest.mark.parametrize(("left", "allowance", "at"), [(700, 1000, 800), (300, 5912, 891), (3, 9, 4)])
def test_the_next_attempt_waits_for_the_tokens_left_plus_the_growth(left, allowance, at):
    assert next_attempt(tokens_left=left, message_allowance_tokens=allowance, thresholds=DEFAULTS) == at


# covers BUD-060, BUD-061
@pytest.mark.parametrize(
    ("window", "reserve", "requested", "target", "part"),
    [
        (1_536, 256, 256, None, None),
        (2_048, 256, 3_000, 128, 64),
        (4_096, 512, 3_000, 512, 256),
        (4_096, 1_000, 512, 454, 227),
        (8_192, 1_000, 3_000, 1_000, 500),
        (8_192, 1_000, 512, 512, 256),
        (8_192, 1_000, 127, 127, 63),
        (8_192, 1_000, 64, 64, 32),
        (8_192, 1_000, 63, None, None),
        (8_192, 1_000, 0, None, None),
        (8_192, 1_000, -1, None, None),
        (8_192, 1_000, 1_000_000_000, 1_000, 500),
        (32_768, 4_096, 3_000, 3_000, 1_500),
        (131_072, 8_192, 5_000, 4_000, 1_500),
    ],
)
def test_summary_and_part_targets_are_those_of_the_table(window, reserve, requested, target, part):
    found = summary_target(requested_tokens=requested, budget=of(window, reserve))
    assert found == target
    assert (None if found is None else part_target(target_tokens=found, thresholds=DEFAULTS)) == part


# covers BUD-060, BUD-061
@given(window=st.integers(0, 300_000), reserve=st.integers(0, 20_000), requested=st.integers(-10, 10_000))
def test_a_target_never_exceeds_what_bounds_it_and_a_part_never_its_target(window, reserve, requested):
    budget = of(window, reserve)
    target = summary_target(requested_tokens=requested, budget=budget)
    if target is None:
        assert min(requested, 4000, reserve, budget.allowance_tokens // 4) < 64
    else:
        assert target == min(requested, 4000, reserve, budget.allowance_tokens // 4)
        assert 1 <= part_target(target_tokens=target, thresholds=DEFAULTS) <= min(target, 1500)
