"""What is chosen in words, on the command line and in notebooks alike: client (GEN-008), dataset, thresholds."""

from __future__ import annotations

from dataclasses import replace
from glob import glob
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from ctxlab.budget import Budget
from ctxlab.errors import InputError
from ctxlab.thresholds import Thresholds

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from ctxlab.calls import ChatClient
    from ctxlab.dataset import Dataset

DEFAULT_STRATEGIES = "full,empty,shorten:target_tokens=512,summarize,summarize:generations=4"


def client_from_words(
    words: str,
    *,
    base_url: str | None = None,
    model: str | None = None,
    budget: Budget | None = None,
    timeout_s: float | None = None,
    model_path: Path | None = None,
    warm_cache: bool = False,
) -> ChatClient:
    """The client of these words: `local`, `endpoint` or `stand-in:NAME`; nothing is started or sent.

    Args:
        words: what the user chose.
        base_url: address of `endpoint`, without meaning for the others.
        model: model name at `endpoint`, without meaning for the others.
        budget: its window and output reserve are those of `local`; default `Budget()`.
        timeout_s: deadline of one attempt, for `endpoint` and `local`.
        model_path: a model file for `local`.
        warm_cache: whether `local` keeps its prompt cache.

    Raises:
        InputError: other words, a stand-in that does not exist, or an endpoint without address or model.
    """
    if timeout_s is not None and not 0 < timeout_s < float("inf"):
        raise InputError("timeout_s: must be a number of seconds above 0")
    if words == "local":
        from ctxlab.local import LocalClient

        sizes = budget or Budget()
        local = LocalClient(
            model_path=model_path,
            window_tokens=sizes.window_tokens,
            output_reserve_tokens=sizes.output_reserve_tokens,
            warm_cache=warm_cache,
        )
        return local if timeout_s is None else replace(local, timeout_s=timeout_s)
    if words == "endpoint":
        from ctxlab.client import EndpointClient

        if not base_url or not model:
            raise InputError("--client endpoint: needs --base-url and --model")
        endpoint = EndpointClient(base_url=base_url, model=model)
        return endpoint if timeout_s is None else replace(endpoint, timeout_s=timeout_s)
    kind, _, name = words.partition(":")
    if kind == "stand-in":
        from ctxlab.standins import stand_in

        return stand_in(name)
    raise InputError("client: allowed is local, endpoint (with base URL and model) or stand-in:NAME")


def thresholds_from_words(pairs: Iterable[str]) -> Thresholds:
    """The default thresholds with `NAME=VALUE` settings applied; each name is given once."""
    found: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or name in found:
            raise InputError("thresholds: expected NAME=VALUE, each name once")
        found[name] = value
    return Thresholds.parse(found)


def dataset_from_words(path: str | Path, dataset_format: str = "ctxlab") -> Dataset:
    """The dataset in a file: of ctxlab's own format, or of one that an importer reads."""
    if dataset_format == "ctxlab":
        from ctxlab.loading import load_dataset

        return load_dataset(path)
    from ctxlab.importers import import_dataset

    return import_dataset(path, dataset_format)


def datasets_from_words(words: Iterable[str]) -> dict[str, Dataset]:
    """Datasets by name: each word is a file, or `FORMAT:PATTERN`, where a pattern may name several files.

    The name is the file's without its ending, or the format's. Files of one pattern become one dataset, the ids of
    their cases preceded by the number of the file where there are several.

    Raises:
        InputError: no file matches, or two words give one name.
    """
    found: dict[str, Dataset] = {}
    for word in words:
        head, colon, tail = word.partition(":")
        form, pattern = (head, tail) if colon else ("ctxlab", word)
        paths = sorted(glob(pattern))
        name = Path(pattern).stem if form == "ctxlab" else form
        if not paths or name in found:
            raise InputError(f"datasets: {'no file matches' if not paths else 'a name stands twice'}")
        found[name] = _together([dataset_from_words(path, form) for path in paths])
    return found


def _together(datasets: Sequence[Dataset]) -> Dataset:
    if len(datasets) == 1:
        return datasets[0]
    cases = [
        replace(case, id=f"{number}-{case.id}")
        for number, one in enumerate(datasets, 1)
        for case in one.cases
    ]
    hashes = ",".join(one.sha256 for one in datasets)
    return replace(
        datasets[0],
        cases=tuple(cases),
        sha256=sha256(hashes.encode()).hexdigest(),
        warnings=tuple(warning for one in datasets for warning in one.warnings),
    )
