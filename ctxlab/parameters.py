"""Parameters of a notebook: declared once as annotated literals, checked before anything runs (GEN-051 to GEN-054)."""

from __future__ import annotations

import ast
import io
import json
import math
import re
import tokenize
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from ctxlab.errors import InputError, ParameterError
from ctxlab.text import is_bare_address

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

Kind = Literal["int", "float", "str", "bool", "list[str]"]
Value: TypeAlias = int | float | str | bool | list[str] | None

TAG = "parameters"
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
SECRET_WORDS = frozenset({"key", "apikey", "token", "secret", "password", "credential", "credentials"})
_URL = re.compile(r"\s*[A-Za-z][A-Za-z0-9+.-]+:[/\\]\S*\s*")
_WHOLE = re.compile(r"[+-]?\d{1,18}", re.ASCII)
_DECIMAL = re.compile(r"[+-]?(\d{1,30}(\.\d{0,30})?|\.\d{1,30})([eE][+-]?\d{1,3})?", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One declared parameter.

    Attributes:
        optional: null is allowed; it is also what an empty text stands for.
        help: the comment behind the declaration, null without one.
    """

    name: str
    kind: Kind
    optional: bool
    default: Value
    help: str | None = None

    @property
    def annotation(self) -> str:
        """The annotation as it is written in Python."""
        return f"{self.kind} | None" if self.optional else self.kind

    def accepts(self, value: object) -> bool:
        """Whether a value is of the declared type; an `int` is a `float` too, a `bool` is neither."""
        if value is None:
            return self.optional
        if self.kind == "list[str]":
            return isinstance(value, list) and all(isinstance(item, str) for item in value)
        if self.kind == "float":
            return type(value) in (int, float) and math.isfinite(value)  # type: ignore[arg-type]
        return type(value) is {"int": int, "str": str, "bool": bool}[self.kind]


# Declarations


def read_notebook(path: Path) -> dict[str, Any]:
    """The JSON of a notebook file of format 4; raises `InputError` if it is something else."""
    try:
        notebook = json.loads(path.read_bytes())
    except OSError as error:
        raise InputError(f"notebook: cannot be read ({error.strerror})") from None
    except (ValueError, RecursionError):
        notebook = None
    cells = notebook.get("cells") if isinstance(notebook, dict) else None
    if not isinstance(cells, list) or notebook.get("nbformat") != 4:
        raise InputError("notebook: expected the JSON of a Jupyter notebook, format 4")
    return dict(notebook)


def declared_parameters(notebook: Mapping[str, Any]) -> tuple[Parameter, ...]:
    """The parameters of a notebook, in the order of their declaration.

    Raises:
        ParameterError: not exactly one cell is tagged `parameters`, a statement in it is no annotated literal, a
            default is not of its type, or a name is a secret's.
    """
    tagged = [cell for cell in notebook["cells"] if TAG in cell.get("metadata", {}).get("tags", ())]
    if len(tagged) != 1:
        raise ParameterError(f"notebook: expected exactly one cell tagged {TAG}, found {len(tagged)}")
    source = tagged[0]["source"]
    return _declared(source if isinstance(source, str) else "".join(source))


def _declared(source: str) -> tuple[Parameter, ...]:
    try:
        statements = ast.parse(source).body
        comments = dict(_comments(source))
    except (SyntaxError, ValueError, RecursionError, MemoryError, tokenize.TokenError):
        raise ParameterError("parameters cell: is not Python") from None
    found = [_parameter(statement, comments) for statement in statements]
    names = [parameter.name for parameter in found]
    if twice := next((name for i, name in enumerate(names) if name in names[:i]), None):
        raise ParameterError(f"parameters cell: {twice} is declared twice")
    return tuple(found)


def _comments(source: str) -> Iterator[tuple[int, str]]:
    """Comments by line number."""
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string.lstrip("# ").strip()


def _parameter(statement: ast.stmt, comments: Mapping[int, str]) -> Parameter:
    where = f"parameters cell, line {statement.lineno}"
    match statement:
        case ast.AnnAssign(target=ast.Name(id=name), annotation=annotation, value=ast.expr() as value):
            demand_no_secret(name)
        case _:
            raise ParameterError(f"{where}: expected NAME: TYPE = LITERAL")
    kind, optional = _kind(ast.unparse(annotation), where)
    try:
        default = ast.literal_eval(value)
    except (ValueError, TypeError):
        raise ParameterError(f"{where}: the default of {name} is no literal") from None
    help_ = comments.get(statement.end_lineno or statement.lineno)
    parameter = Parameter(name=name, kind=kind, optional=optional, default=default, help=help_)
    if not parameter.accepts(default):
        raise ParameterError(f"{where}: the default of {name} is no {parameter.annotation}")
    return parameter


def _kind(annotation: str, where: str) -> tuple[Kind, bool]:
    """The type of an annotation, and whether null is allowed."""
    word = annotation.removesuffix(" | None")
    kind: Kind | None = next((kind for kind in get_args(Kind) if kind == word), None)
    if kind is None:
        allowed = ", ".join(get_args(Kind))
        raise ParameterError(f"{where}: allowed types are {allowed}, each with `| None` or without")
    return kind, word != annotation


def demand_no_secret(name: str) -> None:
    """Refuse a name whose last word is a secret's; notebooks and pages are shared (GEN-054)."""
    if name.rstrip("_").rpartition("_")[2].lower() in SECRET_WORDS:
        raise ParameterError(f"parameter {shown(name)}: is named like a secret; no notebook takes one")


def shown(name: str) -> str:
    """A name as an error may show it: only if it is one."""
    return name if NAME.fullmatch(name) else "given"


# Values


def read_values(declared: Sequence[Parameter], pairs: Iterable[str]) -> dict[str, Value]:
    """`name=value` pairs as values, each read by the declared type of its name (GEN-053).

    A pair for a `list[str]` adds one item, and none if its value is empty; every other name is given once. An empty
    value of a parameter that may be null is null. `true` and `false`, in any case, are the values of a `bool`.
    """
    known = {parameter.name: parameter for parameter in declared}
    found: dict[str, Value] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise ParameterError("parameter: expected NAME=VALUE")
        parameter = _known(known, name)
        earlier = found.get(name)
        if isinstance(earlier, list):
            earlier += [text] if text else []
        elif name in found:
            raise ParameterError(f"parameter {name}: is given twice")
        else:
            found[name] = _read(parameter, text)
    return found


def effective_values(declared: Sequence[Parameter], supplied: Mapping[str, Any]) -> dict[str, Value]:
    """The value of every declared parameter: the supplied one, checked by its type, else the default.

    Raises:
        ParameterError: a name is unknown, a value is of another type, or a URL may hold credentials.
    """
    known = {parameter.name: parameter for parameter in declared}
    for name, value in supplied.items():
        parameter = _known(known, name)
        if not parameter.accepts(value):
            raise ParameterError(
                f"parameter {name}: expected {parameter.annotation}, found {type(value).__name__}"
            )
    values = {p.name: supplied.get(p.name, p.default) for p in declared}
    for name, value in values.items():
        _demand_no_credentials(name, value)
    return values


def _demand_no_credentials(name: str, value: Value) -> None:
    """Refuse a URL that an endpoint would not be given either; executed notebooks keep their values (GEN-054)."""
    texts = value if isinstance(value, list) else [value]
    for text in texts:
        is_url = isinstance(text, str) and (name.lower().endswith("url") or _URL.fullmatch(text))
        if is_url and not is_bare_address(str(text)):
            raise ParameterError(
                f"parameter {name}: a URL with user info, query or fragment; no notebook takes one"
            )


def _known(known: Mapping[str, Parameter], name: str) -> Parameter:
    demand_no_secret(name)
    if name not in known:
        raise ParameterError(f"parameter {shown(name)}: is unknown; allowed are {', '.join(known) or 'none'}")
    return known[name]


def _read(parameter: Parameter, text: str) -> Value:
    """One text by the declared type."""
    if parameter.optional and not text:
        return None
    value = _typed(parameter.kind, text)
    if value is None:
        raise ParameterError(f"parameter {parameter.name}: expected {parameter.annotation}")
    return value


def _typed(kind: Kind, text: str) -> Value:
    """The value of a text; null if it is none of this type."""
    match kind:
        case "int":
            return int(text) if _WHOLE.fullmatch(text) else None
        case "float":
            value = float(text) if _DECIMAL.fullmatch(text) else math.inf
            return value if math.isfinite(value) else None
        case "bool":
            return {"true": True, "false": False}.get(text.lower())
        case "list[str]":
            return [text] if text else []
        case "str":
            return text
