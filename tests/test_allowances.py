import pandas as pd
import pytest

from ctxlab.allowances import budgets
from ctxlab.budget import Budget
from ctxlab.errors import BudgetError
from ctxlab.schemas import SCHEMAS

# The table of the specification, and for each row the targets of a summary of 3,000 tokens where it states them.
TABLE = [
    (2048, 256, 512, 307, 51, 102, 8, "compact", 358, 409, 51, 51, 102, 51, 102, 204, 128, 64),
    (4096, 512, 2304, 1382, 230, 460, 8, "compact", 1612, 1843, 230, 230, 460, 230, 460, 921, 512, 256),
    (8192, 1000, 5912, 3547, 591, 1182, 8, "compact", 4138, 4729, 591, 591, 1182, 591, 1182, 2364, 1000, 500),
    (
        32_768, 4096, 27_392, 16_435, 2048, 5478, 16, "compact", 19_174, 21_913, 2739, 2739, 5478, 1500, 3000,
        10_956, 3000, 1500,
    ),
    (
        131_072, 8192, 121_600, 24_576, 2048, 24_320, 64, "standard", 85_120, 97_280, 12_160, 12_160, 24_320,
        1500, 3000, 48_640, 3000, 1500,
    ),
]  # fmt: skip


# covers FRM-012, BUD-060, BUD-061
@pytest.mark.parametrize("row", TABLE, ids=lambda row: str(row[0]))
def test_each_row_holds_allowance_limits_and_targets_of_its_window(row):
    frame = budgets([row[0]], [row[1]], requested_tokens=3000)
    assert tuple(frame.iloc[0]) == row
    assert list(frame.columns) == [column.name for column in SCHEMAS["budget"].columns]


# covers FRM-012
def test_every_window_is_combined_with_every_reserve_once_and_in_order():
    frame = budgets([4096, 2048, 4096], [512, 256])
    assert list(zip(frame["window_tokens"], frame["output_reserve_tokens"], strict=True)) == [
        (4096, 512), (4096, 256), (2048, 512), (2048, 256),
    ]  # fmt: skip
    assert frame["allowance_tokens"].tolist() == [2304, 2560, 256, 512]


# covers FRM-002
def test_targets_are_null_where_summaries_are_off():
    frame = budgets([1536, 8192], [256])
    assert frame["target_tokens"].isna().tolist() == [True, False]
    assert frame["part_tokens"].isna().tolist() == [True, False]
    assert frame["target_tokens"].tolist()[1] == 256  # the output reserve


# covers BUD-035, FRM-012
def test_shares_of_messages_are_those_of_what_tools_and_guidance_leave():
    # U 5,912, M 5,912 - 900 - 12 = 5,000
    (row,) = budgets([8192], [1000], budget=Budget(tool_tokens=900, guidance_tokens=12)).to_dict("records")
    assert (row["allowance_tokens"], row["instruction_tokens"]) == (5912, 3547)
    assert (row["ahead_trigger_tokens"], row["deterministic_target_tokens"]) == (3500, 4000)


# covers FRM-003
def test_no_window_gives_an_empty_frame_with_all_columns():
    frame = budgets([])
    pd.testing.assert_index_equal(frame.columns, budgets([8192]).columns)
    assert frame.empty
    assert frame.dtypes.equals(budgets([8192]).dtypes)


def test_a_number_that_is_no_size_is_refused():
    with pytest.raises(BudgetError, match="window_tokens"):
        budgets([-1])
