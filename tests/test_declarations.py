import pytest

from ctxlab.comparison import run
from ctxlab.declarations import (
    AttachedGates,
    Deployment,
    deployment_from_words,
    load_provenance,
    load_system_prompt,
)
from ctxlab.errors import InputError
from tests.factories import make_case, make_dataset, user

RUN_ID = "20260102T030405123456Z-0123456789ab-01234567"


def prompt_of(tmp_path, content, name="house", version="1"):
    path = tmp_path / "prompt.txt"
    path.write_bytes(content)
    return load_system_prompt(path, name=name, version=version)


# covers EXP-008
def test_a_shared_system_prompt_is_hashed_as_it_is(tmp_path):
    prompt = prompt_of(tmp_path, b"abc")
    assert prompt.canonical() == {
        "name": "house",
        "version": "1",
        "sha256": "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",  # FIPS 180-2, "abc"
    }
    assert "abc" not in repr(prompt).replace(prompt.sha256, "")
    with_end = prompt_of(tmp_path, b"abc\r\n")
    assert (with_end.text, with_end.sha256 == prompt.sha256) == ("abc\r\n", False)


# covers EXP-008
@pytest.mark.parametrize("size", [1, 32_768])
def test_a_shared_system_prompt_of_the_smallest_and_largest_size_is_read(tmp_path, size):
    assert len(prompt_of(tmp_path, b"x" * size).text) == size


# covers EXP-008
@pytest.mark.parametrize(
    ("content", "name", "version", "message"),
    [
        (b"", "n", "1", "prompt.txt: is empty"),
        (b"x" * 32_769, "n", "1", "prompt.txt: is too large; allowed are 32,768 bytes"),
        (b"ab\xff", "n", "1", "prompt.txt: is not UTF-8 at byte 2"),
        (b"x", None, "1", "given together or not at all"),
        (b"x", "n", None, "given together or not at all"),
        (b"x", "two\nlines", "1", "system prompt name: expected 1 to 128"),
        (b"x", "n", "", "system prompt version: expected 1 to 128"),
    ],
)
def test_a_bad_shared_system_prompt_is_refused(tmp_path, content, name, version, message):
    with pytest.raises(InputError, match=message):
        prompt_of(tmp_path, content, name=name, version=version)


# covers EXP-008
def test_name_and_version_without_a_file_are_refused_and_none_of_the_three_is_no_prompt(tmp_path):
    with pytest.raises(InputError, match="given together"):
        load_system_prompt(None, name="n", version="1")
    with pytest.raises(InputError, match="cannot be read"):
        load_system_prompt(tmp_path / "missing.txt", name="n", version="1")
    assert load_system_prompt(None, name=None, version=None) is None


# covers EXP-008
def test_the_prompt_stands_before_every_case_and_in_no_file_of_the_run(tmp_path):
    prompt = prompt_of(tmp_path, b"Speak of MARKER-77 to nobody.")
    cases = make_dataset(
        make_case("a", messages=(user("One?"),)),
        make_case("b", messages=(user("Two?"),)),
    )
    result = run(
        cases, "full,empty", client="stand-in:echo", system_prompt=prompt, runs_dir=tmp_path / "runs", progress=False
    )  # fmt: skip
    for row in result.rows:
        first = row.fitted.messages[0]
        assert (first.role, first.content) == ("system", "Speak of MARKER-77 to nobody.")
    assert [case.messages for case in result.dataset] == [(user("One?"),), (user("Two?"),)]
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert len(files) > 8
    assert not [path.name for path in files if b"MARKER-77" in path.read_bytes()]
    manifest = (next((tmp_path / "runs").glob("2*")) / "manifest.json").read_text()
    assert prompt.sha256 in manifest


# covers EXP-028
@pytest.mark.parametrize("runtime", ["host", "docker", "compose", "other"])
def test_a_deployment_has_one_of_four_runtimes(runtime):
    assert deployment_from_words(runtime=runtime, image="i:1") == Deployment(runtime=runtime, image="i:1")


# covers EXP-028
@pytest.mark.parametrize(
    ("words", "message"),
    [
        ({"runtime": None, "image": "i:1"}, "need --deployment-runtime"),
        ({"runtime": None, "name": "n"}, "need --deployment-runtime"),
        ({"runtime": "kubernetes"}, "allowed is host, docker, compose, other"),
        ({"runtime": "docker", "image": ""}, "deployment image: expected"),
        ({"runtime": "docker", "name": "a\x1bb"}, "deployment name: expected"),
    ],
)
def test_a_bad_deployment_is_refused(words, message):
    with pytest.raises(InputError, match=message) as caught:
        deployment_from_words(**words)
    assert caught.value.exit_code == 2


def test_no_word_of_a_deployment_is_none():
    assert deployment_from_words(runtime=None) is None


# covers EXP-028
def test_provenance_of_64_kib_is_read_and_one_byte_more_is_refused(tmp_path):
    path = tmp_path / "p.json"
    path.write_bytes(b'{"a":"' + b"x" * (65_536 - 8) + b'"}')
    assert len(load_provenance(path)["a"]) == 65_528
    path.write_bytes(b'{"a":"' + b"x" * (65_536 - 7) + b'"}')
    with pytest.raises(InputError, match=r"p\.json: is too large; allowed are 65,536 bytes"):
        load_provenance(path)


# covers EXP-028
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"[1]", "expected one JSON object"),
        (b'{"a": 1, "a": 2}', "a: duplicate_key"),
        (b'{"a": NaN}', "a: number_not_finite"),
        (b'{"a": ' + b"[" * 40 + b"]" * 40 + b"}", "too_deep"),
        (b"[" * 60_000, "too_deep"),
        (b'{"a": ' + b"1" * 5_000 + b"}", "a: number_too_long"),
        (b"\xef\xbb\xbf{}", "json"),
        (b'{"a": "\xff"}', "is not UTF-8"),
        (b'{"a": "secret', "json"),
    ],
    ids=range(9),
)
def test_bad_provenance_is_refused_without_its_values(tmp_path, content, message):
    path = tmp_path / "p.json"
    path.write_bytes(content)
    with pytest.raises(InputError, match=message) as caught:
        load_provenance(path)
    assert "secret" not in str(caught.value)


# covers EXP-027
@pytest.mark.parametrize(
    ("given", "baseline", "message"),
    [
        ({"max_pass_rate_drop": "0"}, None, "max_pass_rate_drop compares with a baseline"),
        ({"max_p95_latency_increase_percent": "5"}, None, "compares with a baseline"),
        ({}, "main", "baseline: is compared with only by gates"),
        ({"min_pass_rate": "0_9"}, None, "min_pass_rate: expected a number"),
        ({"min_pass_rate": "nan nan"}, None, "min_pass_rate: expected a number"),
    ],
)
def test_baseline_and_gates_need_each_other(given, baseline, message):
    with pytest.raises(InputError, match=message):
        AttachedGates(given=given, baseline=baseline, baseline_run_id=baseline and RUN_ID)


# covers EXP-027
def test_absolute_gates_need_no_baseline():
    gates = AttachedGates(given={"min_pass_rate": "0.90", "max_p95_latency_seconds": "25e-1"})
    assert gates.resolved == {"max_p95_latency_seconds": "5/2", "min_pass_rate": "9/10"}
