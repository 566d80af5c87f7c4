"""The public JSON test suite: every text is accepted or refused as RFC 8259 says, save where the rules are stricter."""

from __future__ import annotations

import functools
import json
from pathlib import Path

import pytest

from ctxlab.errors import DatasetError
from ctxlab.loading import load_dataset
from ctxlab.strict_json import RuleError, check_depth, parse_json

SUITE = Path(__file__).parents[2] / "shared/data/eval-formats/json-test-suite.even.jsonl"
pytestmark = pytest.mark.skipif(not SUITE.exists(), reason="public data is not here")

STRICTER = {
    "y_object_duplicated_key.json": "duplicate_key",  # DAT-020
    "i_number_neg_int_huge_exp.json": "number_not_finite",  # DAT-021
    "i_number_real_neg_overflow.json": "number_not_finite",  # DAT-021
    "i_number_too_big_pos_int.json": "number_too_long",  # DAT-022, 21 digits
    "i_structure_500_nested_arrays.json": "too_deep",  # DAT-023
    "i_object_key_lone_2nd_surrogate.json": "lone_surrogate",  # DAT-024
    "i_string_1st_valid_surrogate_2nd_invalid.json": "lone_surrogate",
    "i_string_incomplete_surrogate_pair.json": "lone_surrogate",
    "i_string_invalid_lonely_surrogate.json": "lone_surrogate",
    "i_string_inverted_surrogates_U+1D11E.json": "lone_surrogate",
}
"""What RFC 8259 allows, or leaves to the reader, and the rules of a dataset refuse."""
OTHER_RULES = {"n_number_infinity.json": "number_not_finite"}
"""What is no JSON and has a rule of its own in place of `json`."""
NO_LINE = {"n_single_space.json", "n_structure_no_data.json"}
"""Texts that as a file hold no line at all."""


@functools.cache
def suite():
    return [json.loads(line) for line in SUITE.read_bytes().split(b"\n") if line]


def rule_of(text):
    try:
        check_depth(parse_json(text))
    except RuleError as error:
        return error.rule
    return None


def expected(entry):
    if entry["expect"] == "reject":
        return OTHER_RULES.get(entry["name"], "json")
    return STRICTER.get(entry["name"])


# covers DAT-020, DAT-021, DAT-022, DAT-023, DAT-024
def test_every_text_of_the_suite_is_read_or_refused_by_its_rule():
    assert len(suite()) == 146
    assert sum(entry["expect"] == "reject" for entry in suite()) == 87
    wrong = {entry["name"]: rule for entry in suite() if (rule := rule_of(entry["input"])) != expected(entry)}
    assert wrong == {}


def test_what_is_accepted_has_the_value_that_any_reader_gives_it():
    accepted = [entry["input"] for entry in suite() if rule_of(entry["input"]) is None]
    assert len(accepted) == 49
    assert all(parse_json(text) == json.loads(text) for text in accepted)


# covers DAT-001, DAT-007, DAT-020, DAT-120
def test_every_text_of_the_suite_as_a_file_is_refused_in_one_line_by_its_rule(tmp_path):
    path = tmp_path / "suite.jsonl"
    for entry in suite():
        path.write_bytes(entry["input"].encode("utf-8"))
        with pytest.raises(DatasetError) as caught:
            load_dataset(path)
        rule = caught.value.errors[0].rule
        if entry["name"] in NO_LINE:
            assert rule == "empty_dataset"
        elif expected(entry) is None:  # read, and then no case
            assert rule in {"not_an_object", "unknown_field", "missing"}, entry["name"]
        else:
            assert rule == expected(entry), entry["name"]
        assert "\n" not in str(caught.value.errors[0])
