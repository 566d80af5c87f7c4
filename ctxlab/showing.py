"""What a notebook shows: tables, sentences, figures and runs as values that Jupyter displays and a script prints.

A cell ends in such a value. It says the same as HTML, for eyes, and as plain text, for terminals and diffs.
"""

from __future__ import annotations

import base64
import io
import re
from dataclasses import asdict, dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

from ctxlab import display
from ctxlab.metrics import overall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    import pandas as pd
    from matplotlib.axes import Axes
    from PIL import Image

    from ctxlab.records import Run

RUN_TYPE = "application/vnd.ctxlab.run+json"
"""Holds a `RunSummary` in an executed notebook."""
DPI = 144
CSS_DPI = 96
MOST_COLOURS = 64
"""A figure of marks and text loses nothing with so few, and is less than half the size; flat areas are exact."""
SHORT, LONG = 16, 60
"""Characters up to which a column is not broken into lines, and from which it gets more room."""
MANY_COLUMNS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """Something to look at, as `data` and `metadata` per mimetype; `text/plain` is always there."""

    data: Mapping[str, Any] = field(repr=False)
    metadata: Mapping[str, Any] = field(default_factory=dict, repr=False)

    def __repr__(self) -> str:
        return str(self.data["text/plain"])

    def _repr_mimebundle_(self, **_: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        return dict(self.data), dict(self.metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """What an executed notebook tells of a run to whoever executed it.

    Attributes:
        rows, errors, refused, not_run: counts of rows.
        table: the table of metrics with its caption, as text.
    """

    run_id: str
    fingerprint: str
    counter: str
    client_kind: str
    rows: int
    errors: int
    refused: int
    not_run: int
    table: str


def run_summary(run: Run) -> RunSummary:
    """The summary of a run."""
    total = overall(run)
    return RunSummary(
        run_id=run.run_id,
        fingerprint=run.fingerprint,
        counter=run.counter,
        client_kind=run.client_kind,
        rows=total.rows,
        errors=total.errors,
        refused=total.refused,
        not_run=total.not_run,
        table=f"{display.as_text(display.metrics_table(run))}\n{display.caption(run)}",
    )


def show_run(run: Run) -> Shown:
    """A run as its table of metrics."""
    table = show_table(display.metrics_table(run), title="Metrics per strategy")
    return Shown(data={**table.data, RUN_TYPE: asdict(run_summary(run))})


def show_table(table: pd.DataFrame, *, title: str) -> Shown:
    """A frame of strings as a table with a title, column headings, and row headings in its first column.

    The caption also tells which run, counter and client the table belongs to, by `table.attrs`.
    """
    signature = display.signature(table.attrs)
    names = [str(name) for name in table.columns]
    rows = [[str(value) for value in row] for row in table.itertuples(index=False)]
    looks = [_look([row[i] for row in rows]) for i in range(len(names))]
    heads = "".join(
        f"<th scope='col'{look}>{_breakable(n)}</th>" for n, look in zip(names, looks, strict=True)
    )
    body = "\n".join(_row(row, looks) for row in rows) or f"<tr><td colspan='{len(names)}'>none</td></tr>"
    wide = " class='wide'" if len(names) >= MANY_COLUMNS else ""
    html = (
        f"<table{wide}><caption>{escape(title)} <small>{escape(signature)}</small></caption>\n"
        f"<thead><tr>{heads}</tr></thead>\n<tbody>\n{body}\n</tbody></table>"
    )
    text = "\n".join([title, display.as_text(table) if rows else "none", signature])
    return Shown(data={"text/html": html, "text/plain": text})


def _row(row: Sequence[str], looks: Sequence[str]) -> str:
    first, *others = (_breakable(value) if len(value) < LONG else escape(value) for value in row)
    cells = "".join(f"<td{look}>{value}</td>" for value, look in zip(others, looks[1:], strict=True))
    return f"<tr><th scope='row'{looks[0]}>{first}</th>{cells}</tr>"


def _breakable(name: str) -> str:
    """A name as HTML that may be broken where its parts meet."""
    return re.sub(r"(?<=\w)(?=[\[(])|(?<=[,_=/])(?=\w)", "<wbr>", escape(name))


def _look(values: Sequence[str]) -> str:
    """The class of a column by what is in it: numbers below each other, short words whole, long text with room."""
    longest = max(map(len, values), default=0)
    known = [value for value in values if value not in (display.UNKNOWN, display.NOTHING)]
    if known and all(value.lstrip("+-")[:1].isdigit() for value in known) and longest <= SHORT:
        return " class='n'"
    return " class='s'" if longest <= SHORT else " class='t'" if longest >= LONG else ""


def show_text(sentences: Iterable[str]) -> Shown:
    """Sentences, one below the other; what stands before a colon leads them in."""
    said = list(sentences)
    items = "\n".join(f"<li>{_led_in(sentence)}</li>" for sentence in said)
    html = f"<ul>\n{items}\n</ul>" if len(said) > 1 else "".join(f"<p>{_led_in(one)}</p>" for one in said)
    return Shown(data={"text/html": html, "text/plain": "\n".join(said)})


def _led_in(sentence: str) -> str:
    about, colon, rest = sentence.partition(": ")
    return f"<b>{escape(about)}</b>: {escape(rest)}" if colon else escape(sentence)


def show_figure(axes: Axes, *, alt: str) -> Shown:
    """A figure as a picture, with the same in words for those who cannot see it; the figure is closed."""
    import matplotlib.pyplot as plt
    from PIL import Image

    figure = axes.figure.get_figure(root=True)
    drawn = io.BytesIO()
    figure.savefig(drawn, format="png", dpi=DPI, facecolor="white", bbox_inches="tight")
    plt.close(figure)
    image = _few_colours(Image.open(drawn).convert("RGB"))
    packed = io.BytesIO()
    image.save(packed, format="png", optimize=True)
    size = {"width": image.width * CSS_DPI // DPI, "height": image.height * CSS_DPI // DPI}
    return Shown(
        data={"image/png": base64.b64encode(packed.getvalue()).decode(), "text/plain": alt},
        metadata={"image/png": {"alt": alt, **size}},
    )


def _few_colours(image: Image.Image) -> Image.Image:
    """The picture in its most frequent colours: areas keep theirs exactly, blended edges get the nearest."""
    import numpy as np
    from PIL import Image

    pixels = np.asarray(image, dtype=np.int32)
    codes = pixels[..., 0] << 16 | pixels[..., 1] << 8 | pixels[..., 2]
    colours, places, counts = np.unique(codes, return_inverse=True, return_counts=True)
    parts = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=-1)
    kept = parts[np.argsort(-counts, kind="stable")[:MOST_COLOURS]]
    nearest = ((parts[:, None] - kept[None]) ** 2).sum(axis=-1).argmin(axis=-1)
    few = Image.fromarray(nearest[places].reshape(codes.shape).astype(np.uint8), mode="P")
    few.putpalette(kept.astype(np.uint8).tobytes())
    return few
