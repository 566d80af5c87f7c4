"""What a run says, in sentences made from its numbers: failures first, then findings, then what it does not show."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from ctxlab import measures
from ctxlab.display import cut_off, error_of, shown
from ctxlab.metrics import is_offline, metrics, overall
from ctxlab.paired import compare_strategies
from ctxlab.schemas import HEADLINE_COLUMNS, headline_columns
from ctxlab.tokens import ENCODING_VOCABULARIES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ctxlab.metrics import Metrics
    from ctxlab.paired import Comparison, Metric
    from ctxlab.records import Row, Run

COSTS = {
    "cost": "a cost of {} in the currency of the prices",
    "sent_tokens": "{} sent tokens",
    "result_tokens_mean": "requests of {} tokens in the mean",
}
COST_NAMES = {"cost": "cost", "sent_tokens": "number of sent tokens", "result_tokens_mean": "request size"}
FEW_CASES = 20


# Failures


def failures(run: Run) -> tuple[str, ...]:
    """How many rows were completed, what became of the others, and what was cut off, per strategy and reason."""
    total = overall(run)
    counts = {
        "completed" if not is_offline(run) else "fitted": total.rows - total.refused - total.errors - total.not_run,
        "refused": total.refused,
        "in error": total.errors,
        "not run": total.not_run,
    }  # fmt: skip
    told = ", ".join(f"{number:,} {name}" for name, number in counts.items())
    bad = Counter(
        (row.strategy, _BAD[row.status], _why(row) or "no reason recorded")
        for row in run.rows
        if row.status in _BAD
    )
    each = [
        f"{strategy}: {n:,} {status} ({reason.replace('_', ' ')})"
        for (strategy, status, reason), n in bad.items()
    ]
    interrupted = ["The run was interrupted: its numbers are those of a part."] if run.incomplete else []
    cuts = [f"{line}." for line in cut_off(run)]
    return f"Of {total.rows:,} rows: {told}.", *interrupted, *each, *cuts


_BAD = {"refused": "refused", "error": "in error", "not_run": "not run"}


def _why(row: Row) -> str | None:
    """The reason of a refusal, the kind of an error."""
    return error_of(row) or row.reason if row.status == "error" else row.reason or row.error_kind


# Findings


def findings(run: Run) -> tuple[str, ...]:
    """What each strategy keeps and costs, and how far that is from `full`, one sentence per strategy."""
    groups = metrics(run)
    recall, cost = _headline(groups)
    compared = {one.strategy: one for one in compare_strategies(run, metrics=[recall], sets=["completed"])}
    return tuple(_finding(run, group, compared.get(group.strategy or ""), recall, cost) for group in groups)


def frontier(run: Run) -> tuple[str, ...]:
    """The strategies that none beats in recall at equal or lower cost (EVA-049)."""
    groups = metrics(run)
    recall, cost = _headline(groups)
    best = ", ".join(group.strategy or "" for group in groups if group.on_frontier)
    beaten = f"no other has a higher {recall.replace('_', ' ')} at an equal or lower {COST_NAMES[cost]}"
    return (f"On the frontier: {best or 'unknown'} ({beaten}).",)


def inventions(run: Run) -> tuple[str, ...]:
    """What answers hold that nobody told them, and facts that they turned round, per strategy."""
    groups = metrics(run)
    fields = {
        "Identifiers in answers that stand in nothing that was sent": "invented_identifiers",
        "Identifiers in summaries that stand nowhere in the source": "context_invented_identifiers",
        "Facts that answers reversed": "reversed",
        "Claims that a case forbids": "unsupported_claim",
    }
    return tuple(f"{said}: {_each(groups, name)}." for said, name in fields.items())


def _each(groups: Sequence[Metrics], name: str) -> str:
    """A count per strategy; those that have none are not named."""
    counts = {group.strategy or "": getattr(group, name) for group in groups}
    if all(count is None for count in counts.values()):
        return "unknown"
    return ", ".join(f"{strategy} {count:,}" for strategy, count in counts.items() if count) or "none"


def _headline(groups: Sequence[Metrics]) -> tuple[Metric, str]:
    """The metrics that carry recall and cost."""
    recall, cost = headline_columns(
        {name: [getattr(group, name) for group in groups] for name in HEADLINE_COLUMNS}
    )
    return "answer_recall" if recall == "answer_recall" else "context_recall", cost


def _finding(run: Run, group: Metrics, against: Comparison | None, recall: str, cost: str) -> str:
    where = "answer" if recall == "answer_recall" else "context"
    hits_of = measures.answer_hits if where == "answer" else measures.context_hits
    hits = measures.pooled(h for row in run.rows if row.strategy == group.strategy and (h := hits_of(row)))
    kept = f"no {where} recall"
    if hits is not None:
        kept = f"{hits.found:,} of {hits.facts:,} facts in the {where} ({where} recall {shown(hits.share, 'share')})"
    price = COSTS[cost].format(shown(_rounded(getattr(group, cost)), "count"))
    seconds = shown(group.duration_p50_s, "seconds")
    time = "" if group.duration_p50_s is None else f", {seconds} s per row (median)"
    return f"{group.strategy}: {kept}, {price}{time}{_against(against)}."


def _rounded(value: Any) -> Any:
    """A number as a sentence holds it: whole if it is large."""
    if value is None or isinstance(value, int):
        return value
    return round(float(value)) if value >= 100 else float(f"{float(value):.4g}")


def _against(one: Comparison | None) -> str:
    """The difference from the baseline, with everything that belongs to it."""
    if one is None:
        return ""
    if one.difference is None:
        return "; no pair with full"
    sure = "no interval below 2 pairs"
    if one.low is not None and one.high is not None:
        sure = f"{100 * one.level:g} % interval {shown(one.low, 'change')} to {shown(one.high, 'change')}"
    p = "" if one.p is None else f", p {shown(one.p, 'share')} by the {one.test} test"
    return f"; mean difference from full {shown(one.difference, 'change')} ({one.pairs} pairs, {sure}{p})"


# Limitations


def limitations(run: Run) -> tuple[str, ...]:
    """What the numbers do not show (GEN-081, GEN-082)."""
    return tuple(
        sentence for sentence in (_about_model(run), _about_words(), _about_tokens(run), _about_size(run)) if sentence
    )  # fmt: skip


def _about_model(run: Run) -> str:
    if run.client_kind.startswith("stand-in") or is_offline(run):
        return (
            f"No model answered (client {run.client_kind}): the numbers are a property of these inputs and strategies, "
            "and say nothing about any model."
        )
    return (
        "The numbers belong to this model with these settings on these cases; they promise no quality of a model. "
        "Seconds belong to the machine that they were measured on."
    )


def _about_words() -> str:
    return (
        "Facts are looked for as words: what an answer says in other words counts as missing, and words alone do not "
        "establish meaning."
    )


def _about_tokens(run: Run) -> str:
    if run.counter.partition(":")[0] in ENCODING_VOCABULARIES:
        return f"Sizes are counted with {run.counter}; what frames each message remains an estimate."
    return f"Sizes before sending are estimates ({run.counter}), by which also the allowance is kept."


def _about_size(run: Run) -> str:
    """How little so few cases can tell."""
    cases = len(run.dataset)
    if cases > FEW_CASES and run.repeats > 1:
        return ""
    once = (
        " Each cell was sampled once, so that chance from sample to sample is not seen."
        if run.repeats == 1
        else ""
    )
    if cases > FEW_CASES:
        return once.strip()
    least = 2 / 2**cases
    return (
        f"{cases} cases are few: no exact test on them can give a p below {least:.2g}, and no interval reaches beyond "
        f"the values that were seen.{once}"
    )
