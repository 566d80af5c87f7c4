"""What strategies keep at equal tokens: the same target for all of them, on each case of any number of datasets."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from ctxlab import measures
from ctxlab.budget import Budget
from ctxlab.comparison import run
from ctxlab.display import NOTHING, as_strings, shown
from ctxlab.errors import InputError
from ctxlab.metrics import metrics
from ctxlab.paired import compare_strategies
from ctxlab.schemas import schema
from ctxlab.strategies.source import look_at
from ctxlab.tabulate import tabulate
from ctxlab.tokens import counted_once, token_counter

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    import pandas as pd

    from ctxlab.dataset import Case, Dataset
    from ctxlab.records import Run
    from ctxlab.strategies.base import FittedContext
    from ctxlab.strategies.extract import Extract
    from ctxlab.strategies.newest import Newest
    from ctxlab.strategies.shorten import Shorten
    from ctxlab.tokens import Counter

TARGET = re.compile(r"\d{1,9}|\d{1,3}(\.\d{1,6})? ?%")
ROOM = 2**31
"""A window in which nothing is refused for lack of room: what bounds is the target alone."""

KEPT = schema(
    "kept",
    key="set s!, target s!, strategy s!",
    columns="""
    cases i!, refused i!, facts i!, kept i, context_recall f, context_recall_low f, context_recall_high f,
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
    if not TARGET.fullmatch(target):
        raise InputError("target: expected tokens such as 512, or a share such as 25 %")
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
        One row per dataset, target and strategy: cases, refused, facts, kept (in context, pooled), context recall (mean over
        cases) with its interval, mean tokens, and the paired difference from the baseline over the cases that both
        fitted. Kept and recall are null where every case was refused.
    """
    once = counted_once(counter or token_counter("gpt-4o"))
    records: list[dict[str, Any]] = []
    for name, dataset in datasets.items():
        for target in targets:
            done = run(
                dataset,
                [AtTarget(strategy=strategy, target=target) for strategy in strategies],
                client=None,
                budget=Budget(window_tokens=ROOM),
                counter=once,
                runs_dir=None,
                progress=False,
            )
            records += _records(done, name, target, strategies[0].name)
    return tabulate(
        KEPT, records, attrs={"counter": once.name, "client_kind": "offline", "baseline": strategies[0].name}
    )


def _records(done: Run, name: str, target: str, baseline: str) -> Iterator[dict[str, Any]]:
    compared = {
        one.strategy: one
        for one in compare_strategies(done, baseline=baseline, metrics=["context_recall"], sets=["completed"])
    }
    for group in metrics(done):
        if group.strategy == "full":
            continue
        rows = [row for row in done.rows if row.strategy == group.strategy]
        hits = measures.pooled(found for row in rows if (found := measures.context_hits(row)))
        paired = compared.get(group.strategy or "")
        yield {
            "set": name,
            "target": target,
            "strategy": group.strategy,
            "cases": len(rows),
            "refused": group.refused,
            "facts": sum(len(measures.context_facts(row)) for row in rows),
            "kept": hits.found if hits else None,
            "context_recall": group.context_recall,
            "context_recall_low": group.context_recall_low,
            "context_recall_high": group.context_recall_high,
            "result_tokens_mean": group.result_tokens_mean,
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
    ("pairs", "pairs", "count?"),
    ("difference", "difference", "change?"),
    ("difference_low", "from", "change?"),
    ("difference_high", "to", "change?"),
    ("p", "p", "share?"),
)


def kept_differences_table(frame: pd.DataFrame) -> pd.DataFrame:
    """Recall at equal tokens, and its difference from the baseline, paired by case, with interval and sign test."""
    return as_strings(frame, DIFFERENCES)
