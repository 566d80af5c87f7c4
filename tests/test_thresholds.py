import dataclasses
import json
from fractions import Fraction

import pytest
from hypothesis import given, strategies as st

from ctxlab.errors import BudgetError
from ctxlab.thresholds import Thresholds, share_tokens

DEFAULTS = {
    "ahead_trigger_share": "7/10",
    "deterministic_target_share": "4/5",
    "retry_growth_share": "1/10",
    "minimum_gain_share": "1/10",
    "recent_keep_share": "1/5",
    "recent_keep_turns": 2,
    "turn_summary_share": "1/10",
    "turn_summary_cap_tokens": 1500,
    "history_summary_share": "1/5",
    "history_summary_cap_tokens": 3000,
    "summary_share": "1/4",
    "summary_cap_tokens": 4000,
    "summary_floor_tokens": 64,
    "part_share": "1/2",
    "part_cap_tokens": 1500,
    "max_rounds": 4,
    "max_calls": 64,
    "evidence_share": "2/5",
    "projection_levels": [[3000, 1000], [1500, 500], [750, 250], [384, 128]],
    "projection_fact_share": "1/2",
    "projection_head_share": "3/4",
    "digest_user_characters": 600,
    "digest_note_characters": 800,
    "digest_characters": 6000,
    "digest_tools": 10,
    "progress_tools": 20,
    "progress_retry_characters": [2000, 800, 300],
    "calibration_cap_share": "1/4",
}


# covers BUD-040, BUD-042
def test_the_fields_and_defaults_are_those_of_the_table_and_nothing_else():
    assert Thresholds().canonical() == DEFAULTS


# covers BUD-040
def test_thresholds_cannot_be_changed_in_place():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Thresholds().max_calls = 3


# covers BUD-041
@pytest.mark.parametrize(
    ("written", "exact"),
    [
        (0.7, Fraction(7, 10)),
        ("0.7", Fraction(7, 10)),
        ("7/10", Fraction(7, 10)),
        ("14/20", Fraction(7, 10)),
        (Fraction(7, 10), Fraction(7, 10)),
        ("3/5", Fraction(3, 5)),
        (0, Fraction(0)),
        (1, Fraction(1)),
        (1.0, Fraction(1)),
        (1e-05, Fraction(1, 100_000)),
        (0.1 + 0.2, Fraction("0.30000000000000004")),
    ],
)
def test_a_share_is_read_exactly_through_its_shortest_form(written, exact):
    assert Thresholds(ahead_trigger_share=written).ahead_trigger_share == exact


# covers BUD-041
@pytest.mark.parametrize(
    "written",
    [-0.1, 1.0000001, 2, "6/5", "1/0", "NaN", float("nan"), float("inf"), "", "half", " 3/5", "1_0/20", True, None,
     "1e-99999999", [0.5]],
)  # fmt: skip
def test_anything_but_a_share_of_0_to_1_is_rejected_with_the_field(written):
    with pytest.raises(BudgetError, match=r"^part_share: "):
        Thresholds(part_share=written)


# covers BUD-040
@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("max_calls", -1),
        ("max_calls", 2.0),
        ("max_calls", True),
        ("digest_tools", "10"),
        ("summary_floor_tokens", 0),
        ("summary_cap_tokens", 2**63),
        ("projection_levels", ()),
        ("projection_levels", ((1, 2, 3),)),
        ("projection_levels", 5),
        ("progress_retry_characters", (1, "2")),
        ("progress_retry_characters", ()),
    ],
)
def test_a_number_of_the_wrong_type_or_range_is_rejected_with_the_field(field, value):
    with pytest.raises(BudgetError, match=f"^{field}: "):
        Thresholds(**{field: value})


# covers BUD-040
def test_settings_are_read_from_their_texts():
    parsed = Thresholds.parse(
        {
            "ahead_trigger_share": "3/5",
            "part_share": "0.25",
            "max_calls": "12",
            "projection_levels": "[[100, 50], [20, 10]]",
            "progress_retry_characters": "[900]",
        }
    )
    assert parsed == Thresholds(
        ahead_trigger_share=Fraction(3, 5),
        part_share=Fraction(1, 4),
        max_calls=12,
        projection_levels=((100, 50), (20, 10)),
        progress_retry_characters=(900,),
    )


# covers BUD-040
@pytest.mark.parametrize(
    "setting",
    [
        {"max_calls": "many"}, {"max_calls": "1.0"}, {"max_calls": "9" * 5000}, {"no_such": "1"},
        {"projection_levels": "[" * 100_000}, {"part_share": "2"}, {"n_tools_few": "8"},
    ],
)  # fmt: skip
def test_a_bad_setting_is_refused_in_one_line_without_its_value(setting):
    with pytest.raises(BudgetError) as refused:
        Thresholds.parse(setting)
    assert "\n" not in str(refused.value)
    assert "9999" not in str(refused.value)
    assert "many" not in str(refused.value)


# covers BUD-040, BUD-041
def test_two_spellings_of_a_share_have_one_canonical_form_that_is_json():
    spelled = [Thresholds(part_share=written).canonical() for written in (0.7, "7/10", "0.70")]
    assert spelled[0] == spelled[1] == spelled[2]
    assert json.loads(json.dumps(spelled[0])) == spelled[0]


# covers BUD-041
@given(numerator=st.integers(0, 1000), tokens=st.integers(0, 2**62))
def test_a_share_of_tokens_is_rounded_down_exactly(numerator, tokens):
    found = share_tokens(Fraction(numerator, 1000), tokens)
    assert found * 1000 <= numerator * tokens < (found + 1) * 1000
