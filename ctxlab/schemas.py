"""The shape of every public frame, as one table: name, key, columns, order, dtypes and what is never null.

A column is written `name dtype`, with `!` if it is never null; dtypes are `i` Int64, `f` Float64, `b` boolean,
`s` string and `t` datetime64[us, UTC]. Columns that one word stands for in the specification are spelled out.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

Dtype = Literal["i", "f", "b", "s", "t"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column; `required` ones are never null (FRM-005)."""

    name: str
    dtype: Dtype
    required: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """One frame: its key columns come first, in order; the key is unique and never null (FRM-006)."""

    name: str
    version: int
    key: tuple[str, ...]
    columns: tuple[Column, ...]

    def widened(self, columns: str | Iterable[Column], *, in_key: bool) -> Schema:
        """The schema with columns that depend on the question, right after its key; `in_key` makes them part of it."""
        added = _columns(columns) if isinstance(columns, str) else tuple(columns)
        place = len(self.key)
        key = self.key + (tuple(column.name for column in added) if in_key else ())
        return replace(self, key=key, columns=self.columns[:place] + added + self.columns[place:])


def _columns(text: str) -> tuple[Column, ...]:
    """Columns written as `name dtype, name dtype!, ...`."""
    columns = []
    for item in filter(None, map(str.strip, text.split(","))):
        name, _, mark = item.partition(" ")
        dtype: Dtype = next(letter for letter in get_args(Dtype) if mark.rstrip("!") == letter)
        columns.append(Column(name=name, dtype=dtype, required=mark.endswith("!")))
    return tuple(columns)


def schema(name: str, *, key: str, columns: str, version: int = 1) -> Schema:
    """A schema written as text; key columns come first."""
    keys = _columns(key)
    return Schema(
        name=name, version=version, key=tuple(k.name for k in keys), columns=keys + _columns(columns)
    )


_ROW = "run_id s!, case_id s!, strategy s!, repeat i!"

_FATES = "retained i!, missing i!, reversed i!, unsupported_claim i!, not_judged i!"

_METRICS = f"""
    rows i!, completed i!, passed i!, failed i!, errors i!, refused i!, unjudged i!, not_run i!,
    pass_rate f, error_rate f, refused_rate f,
    context_recall f, context_recall_rows i!, context_recall_pooled f,
    answer_recall f, answer_recall_rows i!, answer_recall_pooled f, evidence_recall f, {_FATES},
    source_tokens_mean f, result_tokens_mean f, result_tokens_p95 i, result_tokens_max i, sent_tokens i,
    calls i!, usage_responses i!, prompt_tokens i, completion_tokens i, input_tokens i, output_tokens i,
    cached_tokens i, cost f, rows_without_cost i!, cost_uncached f,
    duration_mean_s f, duration_p50_s f, duration_p95_s f, ttft_p50_s f, ttft_p95_s f, on_frontier b,
    context_recall_low f, context_recall_high f, answer_recall_low f, answer_recall_high f"""

_ALL = (
    schema(
        "results",
        key=_ROW,
        columns="""
        case_index i!, category s!, language s, strategy_kind s!, status s!, outcome s, reason s, error_kind s,
        stage s, http_status i, passed b, context_recall f, answer_recall f, evidence_recall f, facts i!,
        source_tokens i, result_tokens i, target_tokens i, allowance_tokens i, request_tokens i, sent_tokens i,
        calls i!, helper_calls i!, usage_responses i!, attempts i!, prompt_tokens i, completion_tokens i,
        total_tokens i, input_tokens i, output_tokens i, cached_tokens i, cache_write_tokens i, usage_kind s,
        cost f, cost_uncached f, duration_s f, helper_duration_s f, total_duration_s f, ttft_s f,
        model_observed s, finish_reason s, content_kind s, client_kind s!, started_at t, preview s,
        invented_identifiers i, context_invented_identifiers i""",
    ),
    schema(
        "evaluations",
        key=f"{_ROW}, evaluator s!",
        columns="passed b!, score f, failure_reason s, expected_summary s, actual_summary s",
    ),
    schema(
        "facts",
        key=f"{_ROW}, fact_id s!",
        columns="""
        kind s!, where s!, category s!, language s, source s!, in_source b!, in_context b, in_answer b,
        context_reversed b, fate s!, detail s""",
    ),
    schema(
        "fits",
        key=_ROW,
        columns="""
        counter s!, accounting s!, window_tokens i, output_reserve_tokens i, protocol_reserve_tokens i,
        safety_reserve_tokens i, calibration_tokens i, calibration_rule s, calibration_capped b,
        allowance_tokens i, message_allowance_tokens i, target_tokens i, tool_tokens i, guidance_tokens i,
        evidence_tokens i, pinned_tokens i, source_tokens i!, result_tokens i, freed_tokens i, plan_reason s,
        summary_outcome s, parts i, rounds i, helper_calls i!, helper_sent_tokens i, helper_result_tokens i,
        omitted_messages i, admitted i, omitted i, clipped i, flags s""",
    ),
    schema(
        "ledger",
        key=f"{_ROW}, item s!, item_index i!, part s!, start i!",
        columns="end i!, fate s!, call_index i, reason s",
    ),
    schema(
        "calls",
        key=f"{_ROW}, call_index i!, attempt i!",
        columns="""
        stage s!, call_kind s!, generation i, request_sha256 s!, estimated_tokens i!, target_tokens i,
        outcome s!, error_kind s, http_status i, prompt_tokens i, completion_tokens i, total_tokens i,
        cached_tokens i, cache_write_tokens i, duration_s f, ttft_s f, model_requested s!, model_observed s,
        finish_reason s, reused b!""",
    ),
    schema("metrics", key="run_id s!, strategy s!", columns=_METRICS),
    schema(
        "kinds",
        key="run_id s!, strategy s!, kind s!",
        columns=f"facts i!, in_source i!, in_context i, context_recall f, answer_recall f, {_FATES}",
    ),
    schema(
        "comparisons",
        key="run_id s!, strategy s!, metric s!, set s!",
        columns="""
        pairs i!, dropped i!, difference f, low f, high f, level f!, resamples i!, seed i!, wins i, losses i,
        ties i, p f, p_holm f, test s""",
    ),
    schema(
        "transitions",
        key="strategy s!, case_id s!",
        columns="baseline_passed b, current_passed b, transition s!",
    ),
    schema(
        "gates",
        key="strategy s!, gate s!",
        columns="passed b, current f, baseline f, threshold f!, state s!, explanation s!",
    ),
    schema(
        "forecast",
        key=f"{_ROW}, call_index i!",
        columns="""
        call_kind s!, generation i, request_sha256 s!, estimated_tokens i!, target_tokens i, refused b!,
        reason s, cost_input f, cost_upper f, client_kind s!""",
    ),
    # One column per swept name comes after the key.
    schema(
        "sweep",
        key="setting i!, strategy s!",
        columns=f"{_METRICS}, difference_low f, difference_high f, within_best b",
    ),
    schema(
        "budget",
        key="window_tokens i!, output_reserve_tokens i!",
        columns="""
        allowance_tokens i!, instruction_tokens i!, guidance_tokens i!, tool_schema_tokens i!, n_tools i!,
        profile s!, ahead_trigger_tokens i!, deterministic_target_tokens i!, retry_growth_tokens i!,
        minimum_gain_tokens i!, recent_keep_tokens i!, turn_summary_tokens i!, history_summary_tokens i!,
        evidence_tokens i!, target_tokens i, part_tokens i""",
    ),
    schema(
        "calibration",
        key="endpoint s!, model s!, order i!",
        columns="estimated_tokens i!, reported_tokens i!",
    ),
    schema(
        "replay",
        key="case_id s!, strategy s!, step i!",
        columns="""
        messages i!, source_tokens i!, result_tokens i, plan_reason s, outcome s!, calls i!, sent_tokens i!,
        freed_tokens i, shared_prefix_tokens i, prefix_changed b""",
    ),
    schema(
        "admission",
        key=f"{_ROW}, snippet_id s!",
        columns="""
        rank i!, position i, topic i!, decision s!, reason s, label s, bytes i!, kept_bytes i!, tokens i!,
        time t""",
    ),
    schema(
        "retention",
        key="probe s!, mode s!",
        columns="""
        language s!, boundary s!, literal_kept b!, admitted i!, omitted i!, clipped i!, request_built b!""",
    ),
    schema(
        "measurement",
        key="fixture s!, snippets i!, question_bytes i!, mode s!",
        columns="""
        request_built b!, content_bytes i!, schema_bytes i, estimated_input i, admitted i, omitted i,
        clipped i, p50_ns i, p95_ns i""",
    ),
    schema(
        "routing",
        key="case_id s!",
        columns="""
        language s, expected b!, first s, skills s, tools s, correct b, status s!, error_kind s, duration_s f,
        prompt_tokens i, completion_tokens i""",
    ),
    schema(
        "cases",
        key="case_id s!",
        columns="""
        case_index i!, schema_version s!, category s!, language s, messages i!, turns i!, tool_messages i!,
        snippets i!, facts i!, characters i!, tokens i!, warnings s""",
    ),
    schema(
        "imports",
        key="record i!, part i!",
        columns="case_id s, reason s, flags s, messages i, facts i",
    ),
    schema(
        "runs",
        key="run_id s!",
        columns="""
        fingerprint s, input_identity s, status s, decision s, started_at t, ended_at t, verb s, model s,
        dataset_hash s, cases i, strategies s, git_commit s, dirty b, damaged b!, aliases s""",
    ),
    schema(
        "diff",
        key="category s!, field s!, strategy s!",
        columns="left s, right s, difference f, equal b!",
    ),
)

SCHEMAS: dict[str, Schema] = {schema.name: schema for schema in _ALL}
"""Every public frame by name."""

HEADLINE_COLUMNS = (
    "context_recall", "answer_recall", "cost", "sent_tokens", "result_tokens_mean"
)  # fmt: skip


def headline_columns(columns: Mapping[str, Sequence[object | None]]) -> tuple[str, str]:
    """Which columns of `metrics` carry recall and cost in frontier and figure (EVA-049, GEN-057).

    `columns` holds the values of `HEADLINE_COLUMNS`, null as None. Recall is answer recall unless no model
    answered. Cost is money if it is known wherever recall is, else sent tokens, else, where nothing was sent,
    the size of the requests built.
    """
    recall = "context_recall" if _unknown(columns["answer_recall"]) else "answer_recall"
    measured = [place for place, value in enumerate(columns[recall]) if value is not None]
    if measured and all(columns["cost"][place] is not None for place in measured):
        return recall, "cost"
    return recall, "sent_tokens" if any(columns["sent_tokens"]) else "result_tokens_mean"


def _unknown(values: Sequence[object | None]) -> bool:
    return all(value is None for value in values)
