"""What a single row measured, worked out by hand."""

from __future__ import annotations

from fractions import Fraction

import pytest

from ctxlab import measures
from ctxlab.measures import Hits, add_known, answer_hits, context_hits, evidence_hits, pooled
from tests.factories import (
    error_row,
    facts_found,
    judged,
    make_call,
    make_fitted,
    make_helper,
    make_row,
    refused_row,
)


# covers EVA-021
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((), None),
        (facts_found(4, in_context=3, in_answer=1), Hits(3, 4)),
        # a fact that is nowhere in the source, and one expected in the answer only, are not counted
        (
            (judged("a"), judged("b", source="none"), judged("c", where="answer", in_context=False)),
            Hits(1, 1),
        ),
        ((judged("a", where="context", in_context=False), judged("b")), Hits(1, 2)),
        ((judged("a", source="none"),), None),
        (facts_found(2, in_context=None, in_answer=None), None),
    ],
)
def test_context_recall_counts_facts_of_the_source(facts, expected):
    assert context_hits(make_row(facts=facts)) == expected


# covers EVA-022
@pytest.mark.parametrize(
    ("facts", "expected"),
    [
        ((), None),
        (facts_found(5, in_context=5, in_answer=2), Hits(2, 5)),
        ((judged("a", where="context", in_answer=True), judged("b", in_answer=False)), Hits(0, 1)),
        ((judged("a", where="context"),), None),
        ((judged("a", where="answer", source="none", in_context=False),), Hits(1, 1)),
    ],
)
def test_answer_recall_counts_facts_expected_in_the_answer(facts, expected):
    assert answer_hits(make_row(facts=facts)) == expected


# covers EVA-022, FRM-031
@pytest.mark.parametrize("status", ["refused", "error", "fitted", "not_run"])
def test_answer_recall_is_unknown_without_a_completed_row(status):
    row = make_row(status=status, facts=facts_found(3, in_context=3, in_answer=None))
    assert answer_hits(row) is None
    assert context_hits(row) == Hits(3, 3)


# covers EVA-023
def test_evidence_recall_looks_only_at_facts_that_occur_in_snippets():
    facts = (
        judged("a", source="snippet"),
        judged("b", source="both", in_context=False),
        judged("c", source="history", in_context=False),
        judged("d", source="snippet", where="answer", in_context=False),
    )
    assert evidence_hits(make_row(facts=facts)) == Hits(1, 2)
    assert evidence_hits(make_row(facts=facts_found(2, in_context=2, in_answer=2))) is None


# covers EVA-043
def test_recall_of_one_kind_leaves_the_others_out():
    facts = (judged("a", kind="path"), judged("b", kind="status", in_context=False, in_answer=False))
    row = make_row(facts=facts)
    assert (context_hits(row, kind="path"), answer_hits(row, kind="path")) == (Hits(1, 1), Hits(1, 1))
    assert (context_hits(row, kind="status"), answer_hits(row, kind="status")) == (Hits(0, 1), Hits(0, 1))
    assert context_hits(row, kind="reason") is None


def test_hits_are_pooled_exactly():
    assert pooled([Hits(1, 3), Hits(2, 2)]) == Hits(3, 5)
    assert Hits(3, 5).share == Fraction(3, 5)
    assert pooled([]) is None


# covers EVA-046, FRM-011
def test_a_sum_of_unknowns_is_unknown_and_known_numbers_add_up():
    assert add_known([None, None]) is None
    assert add_known([]) is None
    assert add_known([None, 0]) == 0
    assert add_known([3, None, 4]) == 7
    assert add_known([2**63 - 2, 1]) == 2**63 - 1


# covers EVA-046
def test_a_sum_beyond_64_bits_is_unknown_with_a_warning():
    with pytest.warns(RuntimeWarning, match="beyond"):
        assert add_known([2**63 - 1, 1]) is None


# covers FRM-032
def test_result_tokens_of_a_refused_row_are_unknown():
    refused = refused_row()
    assert (measures.source_tokens(refused), measures.result_tokens(refused)) == (1000, None)
    fitted = make_row(fitted=make_fitted(source_tokens=500, result_tokens=200))
    assert (measures.source_tokens(fitted), measures.result_tokens(fitted)) == (500, 200)
    unfitted = make_row(status="not_run", fitted=None)
    assert (measures.source_tokens(unfitted), measures.result_tokens(unfitted)) == (None, None)


# covers FRM-032
@pytest.mark.parametrize(
    ("row", "expected"),
    [
        (make_row(calls=(make_helper(0, estimated_tokens=70), make_call(1, estimated_tokens=30))), 100),
        (refused_row(), 0),
        (make_row(status="fitted"), 0),
        (make_row(status="not_run", fitted=None), 0),
        # a retried call counts once; one that never reached the platform does not count
        (
            make_row(
                calls=(
                    make_call(0, estimated_tokens=30, outcome="error"),
                    make_call(0, attempt=1, estimated_tokens=30),
                )
            ),
            30,
        ),
        (error_row(calls=(make_call(0, outcome="error", reached=False),)), 0),
        # an answer that was stored before: what was sent for it is unknown
        (make_row(calls=()), None),
    ],
)
def test_sent_tokens_count_prompts_that_were_transmitted(row, expected):
    assert measures.sent_tokens(row) == expected


# covers FRM-033, RUN-063
def test_usage_of_all_calls_takes_the_last_attempt_and_shows_partial_sums():
    row = make_row(
        calls=(
            make_helper(0, prompt_tokens=40, completion_tokens=5, cached_tokens=8),
            make_call(1, outcome="error", prompt_tokens=999, completion_tokens=999),
            make_call(1, attempt=1, prompt_tokens=60),
        )
    )
    assert measures.input_tokens(row) == 100
    assert measures.output_tokens(row) == 5
    assert measures.cached_tokens(row) == 8
    assert measures.cache_write_tokens(row) is None
    assert measures.usage_responses(row) == 1
    assert len(row.last_calls) == 2


# covers FRM-033
def test_usage_is_unknown_when_nothing_was_reported():
    row = make_row(calls=(make_call(),))
    assert (measures.input_tokens(row), measures.output_tokens(row)) == (None, None)
    assert measures.usage_responses(row) == 0


# covers RUN-051
@pytest.mark.parametrize(
    ("calls", "main", "helper", "total"),
    [
        ((), None, None, None),
        ((make_call(duration_s=2.5),), 2.5, None, 2.5),
        ((make_helper(0, duration_s=1.5), make_helper(1, duration_s=0.5), make_call(2)), 1.0, 2.0, 3.0),
        ((make_helper(0, duration_s=1.5, outcome="error"),), None, 1.5, 1.5),
        ((make_helper(0, duration_s=None), make_call(1)), 1.0, None, None),
    ],
)
def test_durations_are_main_helper_and_their_sum(calls, main, helper, total):
    row = make_row(calls=calls)
    assert measures.duration_s(row) == main
    assert measures.helper_duration_s(row) == helper
    assert measures.total_duration_s(row) == total
