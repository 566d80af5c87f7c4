import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from ctxlab.errors import InputError, IntegrityError, NotFoundError
from ctxlab.registry import read_alias, resolve, runs_frame, set_alias
from ctxlab.registry.aliases import Target, damaged_aliases
from tests.registry.building import RUN_ID, another_id, sparse

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)


@pytest.fixture
def three(runs_dir, kept):
    """A registry of three runs."""
    for number in (1, 2, 3):
        sparse(runs_dir, kept, another_id(number))
    return runs_dir


# covers EXP-049
def test_an_alias_stands_for_a_run_until_it_is_set_anew_and_keeps_a_log(three):
    set_alias(three, "main", another_id(1), now=NOON)
    assert resolve(three, "main") == three / another_id(1)
    set_alias(three, "main", another_id(2), now=NOON.replace(hour=13))
    set_alias(three, "main", another_id(3), now=NOON.replace(hour=14))
    alias = read_alias(three, "main")
    assert (alias.run_id, alias.set_at) == (another_id(3), "2026-01-02T14:00:00.000000+00:00")
    assert alias.former == (
        Target(run_id=another_id(1), set_at="2026-01-02T12:00:00.000000+00:00"),
        Target(run_id=another_id(2), set_at="2026-01-02T13:00:00.000000+00:00"),
    )
    assert resolve(three, "main") == three / another_id(3)
    assert [p.name for p in (three / ".aliases").iterdir() if p.name.endswith(".part")] == []


# covers EXP-049
@pytest.mark.parametrize("name", ["a", "0", "main", "v1.2_x-y", "a" * 64])
def test_a_name_of_the_right_form_is_an_alias(three, name):
    assert set_alias(three, name, another_id(1)).name == name


# covers EXP-049, EXP-050
@pytest.mark.parametrize(
    "name", ["", "Main", "-a", ".a", "_a", "a" * 65, "a/b", "../a", "a b", "a\n", "é", "a\x00", "/a"]
)
def test_a_name_of_another_form_is_malformed(three, name):
    for act in (lambda: set_alias(three, name, another_id(1)), lambda: read_alias(three, name)):
        with pytest.raises(InputError) as caught:
            act()
        assert caught.value.exit_code == 2
    with pytest.raises(InputError):
        resolve(three, name)
    assert not (three / ".aliases").exists()


# covers EXP-049, EXP-050
@pytest.mark.parametrize(
    ("words", "error"),
    [(RUN_ID, NotFoundError), ("main", InputError), (RUN_ID[:-1], InputError), ("../" + another_id(1), InputError)],
)  # fmt: skip
def test_an_alias_points_to_existing_run_ids_only(three, words, error):
    with pytest.raises(error):
        set_alias(three, "main", words)
    with pytest.raises(NotFoundError) as caught:
        resolve(three, "main")
    assert caught.value.exit_code == 5


# covers EXP-050
def test_run_ids_are_tried_before_aliases_and_no_alias_can_look_like_one(three):
    assert resolve(three, another_id(2)) == three / another_id(2)
    with pytest.raises(InputError):
        set_alias(three, another_id(2), another_id(1))


# covers EXP-050, EXP-041
def test_a_run_that_is_not_finished_is_no_run_to_compare_with(runs_dir):
    (runs_dir / ".staging" / RUN_ID).mkdir(parents=True)
    with pytest.raises(NotFoundError, match="is not finished; go on with --resume"):
        resolve(runs_dir, RUN_ID)
    assert resolve(runs_dir, RUN_ID, staged=True) == runs_dir / ".staging" / RUN_ID


# covers EXP-049, EXP-050
def test_an_alias_whose_run_was_removed_stands_for_nothing(three):
    set_alias(three, "main", another_id(1))
    (three / another_id(1)).rename(three.parent / "away")
    with pytest.raises(NotFoundError):
        resolve(three, "main")
    assert damaged_aliases(three) == ["main"]


# covers EXP-049, EXP-042
@pytest.mark.parametrize(
    "content",
    [
        b"", b"{", b"[]", b"{}", b"\xff",
        b'{"name": "main", "name": "main"}',
        b'{"name": "main", "run_id": "../x", "set_at": "2026-01-02T12:00:00+00:00", "former": []}',
        b'{"name": "other", "run_id": "20260102T030401123456Z-0123456789ab-01234567",'
        b' "set_at": "2026-01-02T12:00:00+00:00", "former": []}',
    ],
    ids=range(8),
)  # fmt: skip
def test_a_damaged_alias_is_named_and_not_followed(three, content):
    set_alias(three, "main", another_id(1))
    (three / ".aliases" / "main.json").write_bytes(content)
    with pytest.raises(IntegrityError, match="alias main: "):
        resolve(three, "main")
    with pytest.raises(IntegrityError):
        set_alias(three, "main", another_id(2))
    assert (three / ".aliases" / "main.json").read_bytes() == content
    assert list(runs_frame(three)["damaged"]) == [False] * 3


# covers EXP-042
def test_an_alias_or_a_run_behind_a_symbolic_link_is_rejected(three):
    set_alias(three, "main", another_id(1))
    file = three / ".aliases" / "main.json"
    file.rename(three.parent / "main.json")
    file.symlink_to(three.parent / "main.json")
    with pytest.raises(IntegrityError, match="is a symbolic link"):
        resolve(three, "main")
    (three / RUN_ID).symlink_to(three / another_id(1))
    with pytest.raises(IntegrityError, match="is a symbolic link"):
        resolve(three, RUN_ID)


SETTING = """
import sys
from ctxlab.registry import set_alias
print("ready", flush=True)
sys.stdin.readline()
for _ in range(5):
    set_alias(sys.argv[1], "main", sys.argv[2])
"""


# covers EXP-049, EXP-052
def test_processes_that_set_one_alias_at_once_lose_no_log_entry(three):
    setters = [
        subprocess.Popen(
            [sys.executable, "-c", SETTING, str(three), another_id(number)],
            cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in (1, 2, 3)
    ]  # fmt: skip
    for setter in setters:
        assert setter.stdout.readline() == "ready\n"
    for setter in setters:
        setter.stdin.write("go\n")
        setter.stdin.flush()
    for setter in setters:
        setter.communicate(timeout=60)
        assert setter.returncode == 0
    alias = read_alias(three, "main")
    told = [*(target.run_id for target in alias.former), alias.run_id]
    assert sorted(told) == sorted([another_id(number) for number in (1, 2, 3)] * 5)
