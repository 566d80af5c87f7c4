"""What a file may hold beyond the type of a field, said once beside the field.

Each constraint stands in an `Annotated` type of a record. Code that makes records by hand pays nothing for it;
`ctxlab.loading` has pydantic read it when a file is loaded.
"""

from __future__ import annotations

from dataclasses import dataclass
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, Union, get_args

if TYPE_CHECKING:
    from collections.abc import Callable

    Handler = Callable[[Any], dict[str, Any]]

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Size:
    """Characters of a string or items of a list, both bounds included."""

    minimum: int
    maximum: int

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> dict[str, Any]:
        """The type's schema with both bounds."""
        return {**handler(source), "min_length": self.minimum, "max_length": self.maximum}


@dataclass(frozen=True, slots=True)
class Range:
    """A number, both bounds included; null is no bound."""

    minimum: int
    maximum: int | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> dict[str, Any]:
        """The type's schema with its bounds."""
        bounds = {"ge": self.minimum, **({} if self.maximum is None else {"le": self.maximum})}
        return {**handler(source), **bounds}


@dataclass(frozen=True, slots=True)
class Form:
    """A string of this form, an expression without anchors that has to match the whole string."""

    expression: str

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> dict[str, Any]:
        """The type's schema with its pattern."""
        return {**handler(source), "pattern": rf"^(?:{self.expression})$"}


@dataclass(frozen=True, slots=True)
class _NotNull:
    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> dict[str, Any]:
        return handler(Union[tuple(arm for arm in get_args(source) if arm is not NoneType)])  # noqa: UP007


@dataclass(frozen=True, slots=True)
class _NotInFiles:
    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> dict[str, Any]:
        from pydantic_core import PydanticCustomError, core_schema

        def refuse(value: object) -> None:
            raise PydanticCustomError("unexpected_keyword_argument", "unknown field")

        return dict(core_schema.no_info_plain_validator_function(refuse))


@dataclass(frozen=True, slots=True)
class TextOr:
    """A file may hold a bare string of this size in place of the object or list; `convert` makes the record of it."""

    convert: Callable[[str], Any]
    size: Size

    def __get_pydantic_core_schema__(self, source: Any, handler: Handler) -> dict[str, Any]:
        """Either the string, converted, or what the type is otherwise."""
        from pydantic_core import core_schema

        text = core_schema.str_schema(min_length=self.size.minimum, max_length=self.size.maximum, strict=True)
        bare = core_schema.no_info_after_validator_function(self.convert, text)
        choices: dict[Any, Any] = {TEXT_ARM: bare, OTHER_ARM: handler(source)}
        return dict(core_schema.tagged_union_schema(choices, discriminator=_arm))


TEXT_ARM, OTHER_ARM = "<text>", "<other>"
"""How the arms of `TextOr` appear in the place of an error; no field has such a name."""


def _arm(value: object) -> str:
    return TEXT_ARM if isinstance(value, str) else OTHER_ARM


Absent = Annotated[T | None, _NotNull()]
"""Null in the record means that the file has no such field; in the file null is an error."""

Unwritten = Annotated[T | None, _NotInFiles()]
"""A field of the record that no file holds."""
