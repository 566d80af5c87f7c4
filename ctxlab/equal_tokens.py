"""What strategies keep at equal tokens: the same target for all of them, on each case of any number of datasets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

from ctxlab import measures
from ctxlab.budget import Budget
from ctxlab.comparison import run
from ctxlab.display import NOTHING, as_strings, shown
from ctxlab.errors import InputError
from ctxlab.frames import admission_frame, attributes
from ctxlab.metrics import metrics
from ctxlab.paired import compare_strategies
from ctxlab.schemas import schema
from ctxlab.strategies.source import look_at
from ctxlab.tables import bounded
from ctxlab.tabulate import tabulate
from ctxlab.tokens import counted_once, token_counter

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    import pandas as pd

    from ctxlab.dataset import Case, Dataset
    from ctxlab.paired import Metric
    from ctxlab.records import Run
    from ctxlab.strategies.base import FittedContext, Strategy
    from ctxlab.strategies.extract import Extract
    from ctxlab.strategies.newest import Newest
    from ctxlab.strategies.shorten import Shorten
    from ctxlab.tokens import Counter

TARGET = re.compile(r"\d{1,9}|(100|\d{1,2}(\.\d{1,6})?) ?%")
ROOM = 2**31
"""A window in which nothing is refused for lack of room: what bounds is the target alone."""

KEPT = schema(
    "kept",
    key="set s!, target s!, strategy s!",
    columns="""
    cases i!, refused i!, facts i!, kept i, context_recall f, context_recall_low f, context_recall_high f,
    answer_recall f, answer_recall_low f, answer_recall_high f,
    result_tokens_mean f, pairs i, difference f, difference_low f, difference_high f, p f""",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class AtTarget:
    """A strategy whose target is set case by case.

    Attributes:
        strategy: the treatment; its own target is replaced.
        target: tokens of the message list, such as `512`, or the pinned tokens and a share of the others, such as
            `25 %`.
    """

    strategy: Shorten | Extract | Newest
    target: str

    def __post_init__(self) -> None:
        if (
            not isinstance(self.target, str)
            or not TARGET.fullmatch(self.target)
            or self.target.lstrip("0") == ""
        ):
            raise InputError("target: expected tokens such as 512, or a share such as 25 %")

    @property
    def name(self) -> str:
        """The strategy's own name."""
        return self.strategy.name

    @property
    def kind(self) -> str:
        """The strategy's kind."""
        return self.strategy.kind

    @property
    def parameters(self) -> dict[str, object]:
        """The strategy's parameters and the target."""
        return {**self.strategy.parameters, "target": self.target}

    def fit(self, case: Case, budget: Budget, counter: Counter) -> FittedContext:
        """Fit the case to its own target."""
        tokens = target_of(case, self.target, budget, counter)
        return replace(self.strategy, target_tokens=tokens, label=self.name).fit(case, budget, counter)


def target_of(case: Case, target: str, budget: Budget, counter: Counter) -> int:
    """The target of a case in tokens; a share is of the tokens that are not pinned."""
    if not target.endswith("%"):
        return int(target)
    source = look_at(case, budget, counter)
    share = Fraction(target.rstrip(" %")) / 100
    return source.pinned_tokens + int((sum(source.tokens) - source.pinned_tokens) * share)


def compare_at(
    datasets: Mapping[str, Dataset],
    strategies: Sequence[Shorten | Extract | Newest],
    targets: Sequence[str],
    *,
    counter: Counter | None = None,
) -> pd.DataFrame:
    """What each strategy keeps of the facts of each dataset at each target; nothing is sent.

    Args:
        datasets: by the name that the frame shows.
        strategies: the first is the baseline of the differences.
        targets: tokens such as `512`, or shares such as `25 %` (pinned tokens and a quarter of the others).
        counter: default that of the GPT-4o vocabulary.

    Returns:
        `kept_frame` of the runs.
    """
    if not datasets or not strategies or not targets or len(set(targets)) < len(targets):
        raise InputError("compare_at: expected datasets, strategies and targets, each target once")
    once = counted_once(counter or token_counter("gpt-4o"))
    runs = {
        (name, target): run(
            dataset,
            [AtTarget(strategy=strategy, target=target) for strategy in strategies],
            client=None,
            budget=Budget(window_tokens=ROOM),
            counter=once,
            runs_dir=None,
            progress=False,
        )
        for name, dataset in datasets.items()
        for target in targets
    }
    return kept_frame(runs, baseline=strategies[0].name)


def run_at_allowances(
    dataset: Dataset,
    strategies: str | Iterable[Strategy],
    allowances: Sequence[int],
    *,
    budget: Budget | None = None,
    **options: Any,
) -> dict[tuple[str, str], Run]:
    """One run per allowance, for what has no target but takes what the allowance leaves, as evidence does.

    Args:
        dataset: the cases.
        strategies: as `run` takes them.
        allowances: what the input of a request may use, tokens; the window is so much larger as the reserves are.
        budget: its reserves and thresholds; default `Budget()`.
        options: what else `run` takes, such as `client=None` to send nothing.

    Returns:
        Runs by (name of the dataset's file, allowance).
    """
    base = budget or Budget()
    reserves = base.window_tokens - base.allowance_tokens
    if any(type(allowance) is not int or allowance < 1 for allowance in allowances):
        raise InputError("allowances: expected whole numbers of 1 or more")
    name = PurePath(dataset.path).stem
    return {
        (name, str(allowance)): run(
            dataset, strategies, budget=replace(base, window_tokens=allowance + reserves), **options
        )
        for allowance in allowances
    }


def kept_frame(runs: Mapping[tuple[str, str], Run], *, baseline: str) -> pd.DataFrame:
    """What strategies keep in runs that differ in their target: one row per set, target and strategy.

    Args:
        runs: by name of the set and target.
        baseline: the strategy that differences are taken from.

    Returns:
        Per row cases, refused, facts, kept (pooled), recall (mean over cases) with its interval, mean tokens, and the
        paired difference from the baseline over the cases that both completed. Recall is answer recall where a model
        answered, else context recall; `context_recall` columns hold the latter always. Kept and recall are null where
        every case was refused. `full` is left out, unless it is the baseline.
    """
    first = next(iter(runs.values()))
    records = [
        record for (name, target), done in runs.items() for record in _records(done, name, target, baseline)
    ]
    return tabulate(
        KEPT,
        records,
        attrs={"counter": first.counter, "client_kind": first.client_kind, "baseline": baseline},
    )


def _records(done: Run, name: str, target: str, baseline: str) -> Iterator[dict[str, Any]]:
    groups = [group for group in metrics(done) if group.strategy != "full" or baseline == "full"]
    answered = any(group.answer_recall is not None for group in groups)
    metric: Metric = "answer_recall" if answered else "context_recall"
    facts_of = measures.answer_facts if answered else measures.context_facts
    hits_of = measures.answer_hits if answered else measures.context_hits
    compared = {
        one.strategy: one
        for one in compare_strategies(done, baseline=baseline, metrics=[metric], sets=["completed"])
    }
    for group in groups:
        rows = [row for row in done.rows if row.strategy == group.strategy]
        hits = measures.pooled(found for row in rows if (found := hits_of(row)))
        paired = compared.get(group.strategy or "")
        yield {
            **{column.name: getattr(group, column.name, None) for column in KEPT.columns},
            "set": name,
            "target": target,
            "cases": len(rows),
            "facts": sum(len(facts_of(row)) for row in rows),
            "kept": hits.found if hits else None,
            "pairs": paired.pairs if paired else None,
            "difference": paired.difference if paired else None,
            "difference_low": paired.low if paired else None,
            "difference_high": paired.high if paired else None,
            "p": paired.p if paired else None,
        }


def kept_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Facts kept of facts, one row per set and target, one column per strategy."""
    import pandas as pd

    rows: dict[tuple[str, str], dict[str, str]] = {}
    for record in frame.to_dict(orient="records"):
        row = rows.setdefault(
            (record["set"], record["target"]),
            {"set": record["set"], "target": record["target"], "facts": shown(record["facts"], "count")},
        )
        refused = f" ({record['refused']} refused)" if record["refused"] else ""
        kept = None if pd.isna(record["kept"]) else record["kept"]
        row[record["strategy"]] = (NOTHING if kept is None else shown(kept, "count")) + refused
    table = pd.DataFrame(list(rows.values()), dtype="string")
    table.attrs.update(frame.attrs)
    return table


DIFFERENCES = (
    ("set", "set", "text"),
    ("target", "target", "text"),
    ("strategy", "strategy", "text"),
    ("result_tokens_mean", "tokens, mean", "rounded?"),
    ("context_recall", "context recall, mean", "share?"),
    ("answer_recall", "answer recall, mean", "share?"),
    ("pairs", "pairs", "count?"),
    ("difference", "difference", "change?"),
    ("difference_low", "from", "change?"),
    ("difference_high", "to", "change?"),
    ("p", "p", "share?"),
)


def kept_differences_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Recall at equal tokens, and its difference from the baseline, paired by case, with interval and sign test."""
    asked = frame["answer_recall"].notna().any()
    return as_strings(frame, [column for column in DIFFERENCES if asked or column[0] != "answer_recall"])


def entered_table(runs: Mapping[tuple[str, str], Run], strategy: str) -> pd.DataFrame:
    """Which snippets entered the request of a strategy at each allowance; ids only, or why one did not."""
    import pandas as pd

    rows: dict[tuple[str, str], dict[str, str]] = {}
    for (_, allowance), done in runs.items():
        frame = admission_frame(done)
        for record in frame[frame["strategy"] == strategy].to_dict(orient="records"):
            row = rows.setdefault(
                (record["case_id"], record["snippet_id"]),
                {
                    "case": record["case_id"],
                    "snippet": record["snippet_id"],
                    "rank": shown(record["rank"] + 1, "count"),
                },
            )
            row[f"at {int(allowance):,}"] = _entry(record)
    told = list(rows.values())
    table = pd.DataFrame(bounded(told), dtype="string").fillna(NOTHING)
    table.attrs.update(attributes(next(iter(runs.values()))) | {"fingerprint": None})
    return table


def _entry(record: Mapping[Any, Any]) -> str:
    """What became of one snippet: its place and label, or the reason."""
    if record["decision"] == "omitted":
        return str(record["reason"]).replace("_", " ")
    label = f", {record['label']}" if isinstance(record["label"], str) else ""
    return f"{record['decision']}{label}"
