"""What a sweep says: its frame, the region in which settings cannot be told apart, and how much each name matters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ctxlab.display import NOTHING, shown
from ctxlab.schemas import SCHEMAS
from ctxlab.statistics import mean
from ctxlab.tabulate import tabulate

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import pandas as pd

    from ctxlab.settings import Value
    from ctxlab.sweeps import Record, Sweep

MOST_ROWS = 60
BASELINES = ("full", "empty")


def sweep_frame(sweep: Sweep) -> pd.DataFrame:
    """One row per setting and strategy (`sweep`), a column per swept name after the key.

    `within_best` tells whether the setting's recall interval reaches that of the best setting of its strategy; null
    without intervals.
    """
    dtypes = [f"{name} {_dtype([s.values[i] for s in sweep.settings])}" for i, name in enumerate(sweep.names)]
    schema = SCHEMAS["sweep"].widened(", ".join(dtypes), in_key=False)
    texts = {name for name, dtype in zip(sweep.names, dtypes, strict=True) if dtype.endswith(" s!")}
    best = _best(sweep)
    records = (
        {
            **record,
            **{name: str(record[name]) for name in texts},
            "within_best": _reaches(record, best.get(record["strategy"]), sweep.recall),
        }
        for record in sweep.records
    )
    return tabulate(schema, records, attrs=_attributes(sweep))


def _dtype(values: Sequence[Value]) -> str:
    if all(type(value) is int for value in values):
        return "i!"
    return "f!" if all(type(value) in (int, float) for value in values) else "s!"


def _best(sweep: Sweep) -> dict[str, Record]:
    """The record with the highest mean recall of each strategy; of equals the first."""
    best: dict[str, Record] = {}
    for record in sweep.records:
        value = record[sweep.recall]
        known = best.get(record["strategy"])
        if value is not None and (known is None or value > known[sweep.recall]):
            best[record["strategy"]] = record
    return best


def _reaches(record: Record, best: Record | None, recall: str) -> bool | None:
    high = record[f"{recall}_high"]
    low = best[f"{recall}_low"] if best is not None else None
    return None if high is None or low is None else bool(high >= low)


def flat_region(sweep: Sweep) -> tuple[str, ...]:
    """Per strategy: how many settings cannot be told from the best one, and which values they have (EXP-062)."""
    best = _best(sweep)
    return tuple(_flat(sweep, name, record) for name, record in best.items() if name not in BASELINES)


def _flat(sweep: Sweep, strategy: str, best: Record) -> str:
    own = [record for record in sweep.records if record["strategy"] == strategy]
    within = [record for record in own if _reaches(record, best, sweep.recall)]
    recall = f"{sweep.recall.replace('_', ' ')} {shown(best[sweep.recall], 'share')}"
    if not within:
        return f"{strategy}: the best of {len(own):,} settings has {recall}; without intervals none can be told apart."
    told = "; ".join(f"{name} {', '.join(_values(within, name))}" for name in sweep.names)
    return f"{strategy}: {len(within):,} of {len(own):,} settings cannot be told from the best ({recall}): {told}."


def _values(records: Sequence[Record], name: str) -> list[str]:
    return [str(value) for value in dict.fromkeys(record[name] for record in records)]


def settings_table(sweep: Sweep) -> pd.DataFrame:
    """Metrics per setting and strategy for readers: the first settings, and how many others there are."""
    import pandas as pd

    rows = [_row(sweep, record) for record in sweep.records[:MOST_ROWS]]
    if len(sweep.records) > MOST_ROWS:
        first, *others = rows[0]
        rows.append({first: f"and {len(sweep.records) - MOST_ROWS:,} more", **dict.fromkeys(others, NOTHING)})
    table = pd.DataFrame(rows, dtype="string")
    table.attrs.update(_attributes(sweep))
    return table


def _row(sweep: Sweep, record: Record) -> dict[str, str]:
    interval = [record[f"{sweep.recall}_{end}"] for end in ("low", "high")]
    return {
        "setting": shown(record["setting"], "count"),
        **{name: str(record[name]) for name in sweep.names},
        "strategy": record["strategy"],
        "refused": shown(record["refused"], "count"),
        "errors": shown(record["errors"], "count"),
        f"{sweep.recall.replace('_', ' ')}, mean": shown(record[sweep.recall], "share"),
        "from": shown(interval[0], "share?"),
        "to": shown(interval[1], "share?"),
        "tokens": shown(record["result_tokens_mean"], "rounded?"),
    }


def _attributes(sweep: Sweep) -> dict[str, str | None]:
    return {
        "run_id": None, "fingerprint": sweep.fingerprint, "counter": sweep.counter, "client_kind": sweep.client_kind
    }  # fmt: skip


def sensitivity_table(sweep: Sweep) -> pd.DataFrame:
    """How far mean recall moves over the values of each swept name, the others averaged (EXP-062)."""
    import pandas as pd

    strategies = dict.fromkeys(record["strategy"] for record in sweep.records)
    rows = [
        row for strategy in strategies if strategy not in BASELINES for row in _sensitivities(sweep, strategy)
    ]
    table = pd.DataFrame(rows, dtype="string")
    table.attrs.update(_attributes(sweep))
    return table


def _sensitivities(sweep: Sweep, strategy: str) -> Iterator[dict[str, str]]:
    own = [record for record in sweep.records if record["strategy"] == strategy]
    for name in sweep.names:
        means = {
            value: mean(
                [r[sweep.recall] for r in own if str(r[name]) == value and r[sweep.recall] is not None]
            )
            for value in _values(own, name)
        }
        known = {value: recall for value, recall in means.items() if recall is not None}
        low, high = (
            min(known, key=known.__getitem__, default=None),
            max(known, key=known.__getitem__, default=None),
        )
        span = known[high] - known[low] if high is not None and low is not None else None
        yield {
            "strategy": strategy,
            "name": name,
            "values": shown(len(means), "count"),
            "lowest mean recall": shown(known[low] if low is not None else None, "share?"),
            "at": low or NOTHING,
            "highest mean recall": shown(known[high] if high is not None else None, "share?"),
            "at ": high or NOTHING,
            "range": shown(span, "share?"),
        }
