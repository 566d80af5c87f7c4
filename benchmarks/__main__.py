"""`python -m benchmarks NAME` prints a table and writes it as JSON beside it, `reports/benchmark-NAME.json`."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
from pathlib import Path

NAMES = (
    "admit",
    "admit-exact",
    "admit-large",
    "archive",
    "count",
    "extract",
    "fit",
    "invariants",
    "load",
    "sweep",
)


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("name", choices=NAMES)
    parser.add_argument("--out", type=Path, default=Path("reports"), help="directory of the JSON file")
    parser.add_argument("--quick", action="store_true", help="smaller inputs, for a first look")
    parser.add_argument("--cases", type=int, help="number of random histories, for `invariants`")
    chosen = parser.parse_args(arguments)
    sizes = {} if chosen.cases is None else {"cases": chosen.cases}
    rows = importlib.import_module(f"benchmarks.{chosen.name.replace('-', '_')}").rows(
        quick=chosen.quick, **sizes
    )
    print(table(rows))
    chosen.out.mkdir(parents=True, exist_ok=True)
    path = chosen.out / f"benchmark-{chosen.name}.json"
    path.write_text(json.dumps(rows, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"written: {path}")
    return 0


def table(rows: list[dict[str, object]]) -> str:
    """Rows of equal keys as text, columns aligned."""
    names = list(rows[0])
    cells = [names, *([shown(row[name]) for name in names] for row in rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return "\n".join(
        "  ".join(cell.ljust(w) for cell, w in zip(line, widths, strict=True)).rstrip() for line in cells
    )


def shown(value: object) -> str:
    if value is None:
        return "-"
    return f"{value:,.3g}" if isinstance(value, float) else str(value)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
