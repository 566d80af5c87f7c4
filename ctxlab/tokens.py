"""Token counters: offline vocabularies for the models that tiktoken knows, UTF-8 bytes for every other name.

A counter is a pure function of the text with a name; the name tells all there is to know about how it counts.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from ctxlab.errors import InputError
from ctxlab.vocabulary import VOCABULARIES, encoding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

WHITE_SPACE_LIMIT = 900_000
"""Characters of one white-space run from which tiktoken is not asked: its expressions overflow a stack."""

ENCODING_VOCABULARIES: Mapping[str, str] = {
    "cl100k_base": "cl100k_base",
    "o200k_base": "o200k_base",
    "o200k_harmony": "o200k_base",
}
"""The encodings that can be counted offline, and the vocabulary that each is counted with."""


class Counter(Protocol):
    """A pure function from text to tokens."""

    @property
    def name(self) -> str:
        """What stands in every receipt, frame and report; equal names count alike."""
        ...

    @property
    def vocabulary_sha256(self) -> str | None:
        """Hash of the vocabulary, in hex; null for counters of bytes."""
        ...

    def __call__(self, text: str) -> int:
        """The tokens of a text, 0 or more; the text is ordinary text whatever it looks like."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ByteCounter:
    """Counts UTF-8 bytes, divided by a ratio and rounded up."""

    name: str
    bytes_per_token: Fraction

    @property
    def vocabulary_sha256(self) -> None:
        """Bytes need no vocabulary."""
        return

    def __call__(self, text: str) -> int:
        """The bytes of the text over the ratio, rounded up in exact arithmetic."""
        return -(-utf8_bytes(text) * self.bytes_per_token.denominator // self.bytes_per_token.numerator)


@dataclass(frozen=True, slots=True, kw_only=True)
class VocabularyCounter:
    """Counts with a tiktoken encoding; pickles as names, and is built again where it is needed."""

    name: str
    path: Path | None = field(default=None, compare=False)
    _encode: Callable[[str], list[int]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        found = encoding(ENCODING_VOCABULARIES[self.name], explicit=self.path)
        if found is None:
            raise InputError(f"token counter {self.name}: no intact copy of its vocabulary was found")
        object.__setattr__(self, "_encode", found.encode_ordinary)

    @property
    def vocabulary_sha256(self) -> str:
        """SHA-256 of the vocabulary that the counts come from."""
        return VOCABULARIES[ENCODING_VOCABULARIES[self.name]].sha256

    def __call__(self, text: str) -> int:
        """The tokens of the text; a white-space run that tiktoken cannot take is estimated in bytes."""
        if len(text) < WHITE_SPACE_LIMIT:
            return len(self._encode(text))
        return sum(
            UTF8_BYTES_2(piece) if _is_long_white_space(piece) else len(self._encode(piece))
            for piece in _around_long_white_space(text)
        )

    def __reduce__(self) -> tuple[Callable[[], VocabularyCounter], tuple[()]]:
        return functools.partial(VocabularyCounter, name=self.name, path=self.path), ()


@dataclass(frozen=True, slots=True)
class CountedOnce:
    """A counter that remembers the texts it has counted, at most `texts` of them; counts stay the same."""

    counter: Counter
    texts: int = 65_536
    _count: Callable[[str], int] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_count", functools.lru_cache(self.texts)(self.counter.__call__))

    @property
    def name(self) -> str:
        """The name of the counter that counts."""
        return self.counter.name

    @property
    def vocabulary_sha256(self) -> str | None:
        """The vocabulary of the counter that counts."""
        return self.counter.vocabulary_sha256

    def __call__(self, text: str) -> int:
        """What the counter says of this text."""
        return self._count(text)

    def __reduce__(self) -> tuple[type[CountedOnce], tuple[Counter, int]]:
        return CountedOnce, (self.counter, self.texts)


UTF8_BYTES_1 = ByteCounter(name="utf8_bytes_1", bytes_per_token=Fraction(1))
UTF8_BYTES_2 = ByteCounter(name="utf8_bytes_2", bytes_per_token=Fraction(2))


def utf8_ratio(bytes_per_token: float | Fraction) -> ByteCounter:
    """Counts `ceil(bytes / q)`, with q clamped to 1 to 4 and cut to the three decimals that its name shows."""
    try:
        ratio = Fraction(str(bytes_per_token))
    except ValueError:
        raise InputError("utf8_ratio: expected a finite number of bytes per token") from None
    thousandths = int(min(max(ratio, Fraction(1)), Fraction(4)) * 1000)
    name = f"utf8_ratio_{thousandths // 1000}.{thousandths % 1000:03}"
    return ByteCounter(name=name, bytes_per_token=Fraction(thousandths, 1000))


def token_counter(model: str | None, *, vocabulary: Path | None = None) -> Counter:
    """The counter for a model: a vocabulary if tiktoken maps the name to one of three encodings, else bytes / 2.

    `vocabulary` is a file to look for the vocabulary in before the usual places. When no intact copy is found,
    a warning says so once per process and bytes are counted.
    """
    name = None if model is None else _encoding_name(model)
    return UTF8_BYTES_2 if name is None else _vocabulary_counter(name, path=vocabulary)


def counter_named(name: str) -> Counter:
    """The counter with this name, as receipts and reports show it."""
    if name in ENCODING_VOCABULARIES:
        return _vocabulary_counter(name, path=None)
    for counter in (UTF8_BYTES_1, UTF8_BYTES_2):
        if counter.name == name:
            return counter
    if match := re.fullmatch(r"utf8_ratio_([1-4]\.\d{3})", name, re.ASCII):
        return utf8_ratio(Fraction(match[1]))
    allowed = ", ".join([*ENCODING_VOCABULARIES, UTF8_BYTES_1.name, UTF8_BYTES_2.name, "utf8_ratio_N.NNN"])
    raise InputError(f"token counter: unknown name; allowed are {allowed}")


def counted_once(counter: Counter) -> Counter:
    """The counter with its counts remembered, unless it counts bytes, which costs less than remembering."""
    if isinstance(counter, CountedOnce) or bytes_per_token(counter) is not None:
        return counter
    return CountedOnce(counter)


def bytes_per_token(counter: Counter) -> Fraction | None:
    """The ratio of a counter of bytes, by its name; null for every other counter."""
    match = re.fullmatch(r"utf8_(?:bytes|ratio)_([1-4](?:\.\d{3})?)", counter.name, re.ASCII)
    return Fraction(match[1]) if match else None


def utf8_bytes(text: str) -> int:
    """Length in UTF-8; a lone surrogate counts the three bytes of its code point."""
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def has_long_white_space(text: str) -> bool:
    """Whether a white-space run is so long that vocabulary counters estimate it in bytes (BUD-004)."""
    return len(text) >= WHITE_SPACE_LIMIT and any(map(_is_long_white_space, _around_long_white_space(text)))


def _is_long_white_space(text: str) -> bool:
    return len(text) >= WHITE_SPACE_LIMIT and text.isspace()


def _around_long_white_space(text: str) -> Iterator[str]:
    """The text in pieces, long white-space runs apart from what lies between them."""
    # Every long run covers one whole block of half its length: almost every text ends here, at no cost.
    half = WHITE_SPACE_LIMIT // 2
    if not any(text[start : start + half].isspace() for start in range(0, len(text), half)):
        yield text
        return
    end = 0
    for run in re.finditer(r"\s+", text):
        if run.end() - run.start() >= WHITE_SPACE_LIMIT:
            yield text[end : run.start()]
            yield run[0]
            end = run.end()
    yield text[end:]


def _vocabulary_counter(name: str, *, path: Path | None) -> Counter:
    if encoding(ENCODING_VOCABULARIES[name], explicit=path) is None:
        return UTF8_BYTES_2
    return VocabularyCounter(name=name, path=path)


def _encoding_name(model: str) -> str | None:
    """The encoding that tiktoken maps a model name to, by table look-up; null if it cannot be counted here."""
    from tiktoken.model import encoding_name_for_model

    try:
        name = encoding_name_for_model(model)
    except KeyError:
        return None
    return name if name in ENCODING_VOCABULARIES else None
