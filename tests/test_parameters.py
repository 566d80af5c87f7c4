"""Parameters of notebooks: what a declaration has to be, and which names and values are taken."""

from __future__ import annotations

import json

import pytest

from ctxlab.errors import InputError, ParameterError
from ctxlab.parameters import (
    Parameter,
    declared_parameters,
    effective_values,
    read_notebook,
    read_values,
)

DECLARATIONS = """\
# what is asked
rows: int = 3  # how many
share: float = 0.5
name: str = "a = b"  # with a # in it
quick: bool = False
limits: list[str] = []  # NAME=VALUE each
seed: int | None = None
place: str | None = None
"""


def notebook_of(*sources, tags=("parameters",)):
    cells = [{"cell_type": "code", "metadata": {"tags": list(tags)}, "source": source} for source in sources]
    return {"cells": cells, "nbformat": 4}


def declared(source=DECLARATIONS):
    return declared_parameters(notebook_of(source))


# covers GEN-051
def test_declarations_are_read_with_type_default_and_help():
    assert declared() == (
        Parameter(name="rows", kind="int", optional=False, default=3, help="how many"),
        Parameter(name="share", kind="float", optional=False, default=0.5),
        Parameter(name="name", kind="str", optional=False, default="a = b", help="with a # in it"),
        Parameter(name="quick", kind="bool", optional=False, default=False),
        Parameter(name="limits", kind="list[str]", optional=False, default=[], help="NAME=VALUE each"),
        Parameter(name="seed", kind="int", optional=True, default=None),
        Parameter(name="place", kind="str", optional=True, default=None),
    )


def test_the_source_of_a_cell_may_be_a_list_of_lines():
    assert declared_parameters(notebook_of(["a: int = -1\n", "b: float = 2"])) == (
        Parameter(name="a", kind="int", optional=False, default=-1),
        Parameter(name="b", kind="float", optional=False, default=2),
    )


# covers GEN-051
@pytest.mark.parametrize(
    "notebook", [notebook_of("a: int = 1", tags=()), notebook_of("a: int = 1", "b: int = 2")]
)
def test_exactly_one_cell_is_tagged_parameters(notebook):
    with pytest.raises(ParameterError, match=r"expected exactly one cell tagged parameters, found [02]"):
        declared_parameters(notebook)


# covers GEN-051
@pytest.mark.parametrize(
    ("source", "says"),
    [
        ("a = 1", "line 1: expected NAME: TYPE = LITERAL"),
        ("a: int", "line 1: expected NAME: TYPE = LITERAL"),
        ("a: int = 1\nprint(a)", "line 2: expected NAME: TYPE = LITERAL"),
        ("a.b: int = 1", "line 1: expected NAME: TYPE = LITERAL"),
        ("a: int = b", "line 1: the default of a is no literal"),
        ("a: int = 1 + 1", "line 1: the default of a is no literal"),
        ("a: str = {[]: 1}", "line 1: the default of a is no literal"),
        ("a: dict = {}", "line 1: allowed types are int, float, str, bool, list"),
        ("a: int = 'x'", "line 1: the default of a is no int"),
        ("a: int = True", "line 1: the default of a is no int"),
        ("a: bool = 1", "line 1: the default of a is no bool"),
        ("a: int = None", "line 1: the default of a is no int"),
        ("a: float = 1e999", "line 1: the default of a is no float"),
        ("a: list[str] = [1]", "the default of a is no list"),
        ("a: int = 1\na: int = 2", "a is declared twice"),
        ("a: int = (", "is not Python"),
    ],
)
def test_a_statement_that_is_no_annotated_literal_is_refused(source, says):
    with pytest.raises(ParameterError) as caught:
        declared(source)
    assert says in str(caught.value)


# covers GEN-053
@pytest.mark.parametrize(
    ("pairs", "values"),
    [
        (["rows=12"], {"rows": 12}),
        (["rows=-1"], {"rows": -1}),
        (["rows=007"], {"rows": 7}),
        (["share=1"], {"share": 1.0}),
        (["share=1e-3"], {"share": 0.001}),
        (["name=None"], {"name": "None"}),
        (["name=x=y"], {"name": "x=y"}),
        (["name="], {"name": ""}),
        (["quick=TRUE"], {"quick": True}),
        (["quick=false"], {"quick": False}),
        (["limits=a=1", "limits=b=[2,3]"], {"limits": ["a=1", "b=[2,3]"]}),
        (["limits="], {"limits": []}),
        (["seed="], {"seed": None}),
        (["seed=0"], {"seed": 0}),
        (["place=data/x.jsonl", "rows=1"], {"place": "data/x.jsonl", "rows": 1}),
        ([], {}),
    ],
)
def test_a_value_is_read_by_the_declared_type(pairs, values):
    found = read_values(declared(), pairs)
    assert found == values
    assert [type(value) for value in found.values()] == [type(value) for value in values.values()]


# covers GEN-053
@pytest.mark.parametrize(
    ("pairs", "says"),
    [
        (["rows=three"], "parameter rows: expected int"),
        (["rows=1.0"], "parameter rows: expected int"),
        (["rows=1_000"], "parameter rows: expected int"),
        (["rows="], "parameter rows: expected int"),
        (["share=nan"], "parameter share: expected float"),
        (["share=inf"], "parameter share: expected float"),
        (["share=1e999"], "parameter share: expected float"),
        (["quick=yes"], "parameter quick: expected bool"),
        (["seed=None"], "parameter seed: expected int | None"),
        (["other=1"], "parameter other: is unknown; allowed are rows, share, name"),
        (["no/name=1"], "parameter given: is unknown"),
        (["rows"], "parameter: expected NAME=VALUE"),
        (["rows=1", "rows=2"], "parameter rows: is given twice"),
        (["seed=", "seed=1"], "parameter seed: is given twice"),
    ],
)
def test_an_unknown_name_or_a_wrong_type_is_refused_without_the_value(pairs, says):
    with pytest.raises(ParameterError) as caught:
        read_values(declared(), pairs)
    assert says in str(caught.value)
    assert caught.value.exit_code == 2
    assert not any(value in str(caught.value) for value in ("three", "1_000", "1e999", "yes"))


# covers GEN-053
@pytest.mark.parametrize(
    ("supplied", "says"),
    [
        ({"rows": "3"}, "parameter rows: expected int, found str"),
        ({"rows": True}, "parameter rows: expected int, found bool"),
        ({"rows": 3.0}, "parameter rows: expected int, found float"),
        ({"share": float("nan")}, "parameter share: expected float, found float"),
        ({"limits": "a=1"}, "parameter limits: expected list[str], found str"),
        ({"rows": None}, "parameter rows: expected int, found NoneType"),
        ({"bogus": 1}, "parameter bogus: is unknown"),
    ],
)
def test_values_from_python_are_checked_by_the_same_types(supplied, says):
    with pytest.raises(ParameterError) as caught:
        effective_values(declared(), supplied)
    assert says in str(caught.value)


def test_what_is_not_supplied_keeps_its_default():
    values = effective_values(declared(), {"share": 2, "seed": None, "limits": ["a=1"]})
    assert values == {
        "rows": 3, "share": 2, "name": "a = b", "quick": False, "limits": ["a=1"], "seed": None, "place": None,
    }  # fmt: skip


# covers GEN-054
@pytest.mark.parametrize(
    "name",
    ["api_key", "KEY", "ApiKey", "hub_token", "client_Secret", "password", "db_password_", "CREDENTIAL", "aws_credentials"],
)  # fmt: skip
def test_a_name_like_a_secret_is_refused_declared_or_supplied(name):
    with pytest.raises(ParameterError, match="named like a secret"):
        declared(f'{name}: str = ""')
    with pytest.raises(ParameterError, match="named like a secret") as caught:
        read_values(declared(), [f"{name}=hunter2"])
    assert "hunter2" not in str(caught.value)
    with pytest.raises(ParameterError, match="named like a secret"):
        effective_values(declared(), {name: "hunter2"})


# covers GEN-054
@pytest.mark.parametrize(
    "name", ["window_tokens", "token_counter", "keys", "monkey", "key_words", "secretary"]
)
def test_a_name_that_only_sounds_like_a_secret_is_fine(name):
    assert read_values(declared(f"{name}: int = 1"), [f"{name}=2"]) == {name: 2}


# covers GEN-054
@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("base_url", "http://me:hunter2@127.0.0.1:1/v1"),
        ("base_url", "http://hunter2@host"),
        ("base_url", "me:hunter2@host/v1"),  # without its scheme
        ("base_url", "http://me:hun ter2@host"),
        ("base_url", "https://host/v1?api_key=hunter2"),
        ("base_url", "https://host/v1#hunter2"),
        ("place", "https://me:hunter2@host/v1"),
        ("place", " WSS:\\\\me:hunter2@host"),
        ("places", ["data/x.jsonl", "s3://me:hunter2@host/x"]),
    ],
)
def test_a_url_that_may_hold_credentials_is_refused_supplied_or_declared(name, value):
    plain = declared("base_url: str = ''\nplace: str | None = None\nplaces: list[str] = []")
    with pytest.raises(ParameterError, match=f"parameter {name}: a URL with user info") as caught:
        effective_values(plain, {name: value})
    assert "hunter2" not in str(caught.value)
    assert caught.value.exit_code == 2
    annotation = "list[str]" if isinstance(value, list) else "str"
    with pytest.raises(ParameterError, match=f"parameter {name}: a URL with user info"):
        effective_values(declared(f"{name}: {annotation} = {value!r}"), {})


# covers GEN-054
@pytest.mark.parametrize(
    "value",
    [
        "http://127.0.0.1:8080/v1",
        "data/me@home.jsonl",
        "C:\\me@home",
        "is https://host?",
        "what is 1:2?",
        "a=b@c",
    ],
)
def test_an_address_alone_a_path_and_a_question_are_fine(value):
    assert effective_values(declared("place: str = ''"), {"place": value}) == {"place": value}


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{}", b'{"cells": [], "nbformat": 3}', b'{"cells": {}, "nbformat": 4}', b"\xff", b"[" * 99_999]
)  # fmt: skip
def test_a_file_that_is_no_notebook_is_invalid_input(tmp_path, content):
    path = tmp_path / "x.ipynb"
    path.write_bytes(content)
    with pytest.raises(InputError, match="expected the JSON of a Jupyter notebook"):
        read_notebook(path)


def test_a_missing_notebook_is_invalid_input(tmp_path):
    with pytest.raises(InputError, match="notebook: cannot be read"):
        read_notebook(tmp_path / "x.ipynb")


def test_a_notebook_is_read_as_it_is(tmp_path):
    path = tmp_path / "x.ipynb"
    path.write_text(json.dumps(notebook_of("a: int = 1")))
    assert read_notebook(path) == notebook_of("a: int = 1")
