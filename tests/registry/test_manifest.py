import json

import pytest

from ctxlab.errors import IntegrityError
from ctxlab.registry import read_manifest
from ctxlab.registry.environment import environment_here
from ctxlab.registry.manifest import manifest_bytes, manifest_from_bytes
from tests.registry.building import edited, loaded


# covers EXP-020
def test_a_manifest_tells_what_was_run_on_what_and_how_it_ended(kept):
    content = loaded(kept)
    assert sorted(content) == [
        "aggregates", "artifacts", "budget", "client", "counter", "dataset", "decision", "deployment", "ended_at",
        "environment", "evaluation", "failure", "fingerprint", "gates", "generation", "identity", "input_identity",
        "models", "prices", "prompts", "provenance", "reproduction", "run_id", "schema_version", "source",
        "started_at", "status", "strategies", "thresholds", "verb",
    ]  # fmt: skip
    assert (content["schema_version"], content["run_id"]) == ("1.1", kept.name)
    assert content["dataset"] == {"name": "made.jsonl", "sha256": "0" * 64, "cases": 2}
    assert content["models"] == {"requested": "extractive", "helper": None, "observed": "extractive"}
    assert content["generation"] == {"temperature": None, "max_tokens": None, "seed": None, "repeats": 1}
    assert [one["name"] for one in content["strategies"]] == ["full", "summarize[generations=2]"]
    assert [(one["strategy"], one["rows"]) for one in content["aggregates"]] == [
        ("*", 4), ("full", 2), ("summarize[generations=2]", 2),
    ]  # fmt: skip
    assert content["started_at"].endswith("Z")
    assert content["ended_at"] > content["started_at"]


# covers EXP-020
def test_a_manifest_is_the_same_bytes_when_it_is_read_and_written_again(kept):
    stored = (kept / "manifest.json").read_bytes()
    assert manifest_bytes(manifest_from_bytes(stored)) == stored


def put(path, value):
    """An edit that puts a value at a dotted path."""

    def edit(content):
        *before, last = [int(step) if step.isdigit() else step for step in path.split(".")]
        for step in before:
            content = content[step]
        content[last] = value

    return edit


ARTIFACT = {"kind": "measurement", "path": "x.txt", "sha256": "a" * 64, "size_bytes": 1}


# covers EXP-020
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("secret_field", "SECRET"), "secret_field: unexpected_keyword_argument"),
        (put("source.author", "SECRET"), "source.author: unexpected_keyword_argument"),
        (put("environment.host", "SECRET"), "environment.host: unexpected_keyword_argument"),
        (put("artifacts.0.owner", "SECRET"), "artifacts[0].owner: unexpected_keyword_argument"),
        (put("schema_version", "2.0"), "schema_version: literal_error"),
        (put("run_id", "SECRET"), "run_id: string_pattern_mismatch"),
        (put("fingerprint", "SECRET"), "fingerprint: string_pattern_mismatch"),
        (put("dataset.cases", "2"), "dataset.cases: int_type"),
        (put("dataset.cases", -1), "dataset.cases: greater_than_equal"),
        (put("started_at", 1_700_000_000), "started_at: "),
        (put("started_at", "2026-01-02T03:04:05"), "started_at: timezone_aware"),
        (put("status", "fine"), "status: literal_error"),
        (put("artifacts.0.size_bytes", 64 * 1024 * 1024 + 1), "artifacts[0].size_bytes: less_than_equal"),
        (lambda content: content.pop("models"), "models: missing"),
        (lambda content: content.pop("thresholds"), "thresholds: is missing"),
    ],
    ids=range(15),
)
def test_a_departure_from_the_schema_is_named_without_its_value(kept, edit, message):
    with pytest.raises(IntegrityError) as caught:
        manifest_from_bytes(edited(kept, edit))
    assert f"manifest.json: {message}" in str(caught.value)
    assert "SECRET" not in str(caught.value)
    assert caught.value.exit_code == 4


# covers EXP-020
@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lambda whole: whole[: len(whole) // 2], "json"),
        (lambda whole: whole.replace(b'"verb"', b'"verb": "eval", "verb"'), "verb: duplicate_key"),
        (lambda whole: b"[" * 100_000, "too_deep"),
        (lambda whole: b"\xef\xbb\xbf" + whole, "json"),
        (lambda whole: whole.replace(b'"cases": 2', b'"cases": ' + b"2" * 5000), "dataset.cases: number_too_long"),
        (lambda whole: whole.replace(b'"cases": 2', b'"cases": NaN'), "dataset.cases: number_not_finite"),
        (lambda whole: whole.replace(b"made.jsonl", b"made\xff"), "is not UTF-8"),
        (lambda whole: b"[]", "dataclass_type"),
        (lambda whole: b"", "json"),
        (lambda whole: b" " * (16 * 1024 * 1024 + 1), "is too large"),
    ],
    ids=range(10),
)  # fmt: skip
def test_a_manifest_that_is_no_strict_json_is_refused_in_one_line(kept, content, message):
    with pytest.raises(IntegrityError) as caught:
        manifest_from_bytes(content((kept / "manifest.json").read_bytes()))
    assert message in str(caught.value)
    assert len(str(caught.value).splitlines()) == 1


# covers EXP-023, EXP-021
@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (put("status", "regression_failed"), "decision: with status regression_failed it has to be failed"),
        (put("decision", "passed"), "decision: with status completed it has to be not_evaluated"),
        (put("status", "failed"), "failure: does not go with status failed"),
        (put("failure", "something"), "failure: does not go with status completed"),
        (
            put("aggregates.0.errors", 1),
            "aggregates: rows in error or not run do not go with status completed",
        ),
        (
            put("aggregates.0.not_run", 1),
            "aggregates: rows in error or not run do not go with status completed",
        ),
        (put("aggregates", []), "aggregates: rows in error"),
        (put("artifacts", []), "artifacts: status completed needs one of kind report_json"),
        (put("artifacts.3.kind", "journal"), "artifacts[3].kind: is not the kind of its path"),
        (put("ended_at", "2020-01-01T00:00:00Z"), "ended_at: is before started_at"),
        (
            put("gates", {"given": {}, "resolved": {}, "baseline": "main", "baseline_run_id": None}),
            "gates.baseline: is resolved to a run id",
        ),
        (put("verb", None), "verb: is missing"),
        (put("fingerprint", "a" * 64), "fingerprint: is not the hash of the identity"),
        (put("input_identity", "a" * 64), "input_identity: is not the hash of the identity"),
        (put("identity.repeats", 2), "fingerprint: is not the hash of the identity"),
        (put("environment.python", "3.99"), "environment.sha256: is not the hash of the environment"),
        (put("budget.window_tokens", 1), "fingerprint: is not the hash of the identity"),
        (put("strategies.0.name", "empty"), "fingerprint: is not the hash of the identity"),
        (put("generation.seed", 7), "generation: differs from the identity"),
        (put("dataset.sha256", "a" * 64), "dataset.sha256: differs from the identity"),
        (put("models.requested", "other"), "models.requested: differs from the identity"),
        (put("provenance", {"a": 1}), "provenance: differs from the identity"),
        (
            put("deployment", {"runtime": "docker", "image": None, "name": None}),
            "deployment: differs from the identity",
        ),
    ],
    ids=range(23),
)
def test_parts_that_contradict_each_other_are_refused_on_reading_and_on_writing(kept, edit, message):
    with pytest.raises(IntegrityError) as caught:
        manifest_from_bytes(edited(kept, edit))
    assert message in str(caught.value)


# covers EXP-023
def test_a_manifest_with_a_contradiction_is_not_written(kept):
    from dataclasses import replace

    sound = read_manifest(kept)
    with pytest.raises(IntegrityError, match="failure: does not go with"):
        manifest_bytes(replace(sound, failure="something"))


# covers EXP-042, EXP-026
@pytest.mark.parametrize(
    "path",
    ["/etc/passwd", "../other/file", "a/../../b", "a//b", "./a", "a/", "a\\b", "", "a\nb", "..", "a\x00b"],
)
def test_an_artifact_outside_the_run_directory_is_refused(kept, path):
    bad = edited(kept, lambda content: content["artifacts"].append({**ARTIFACT, "path": path}))
    with pytest.raises(IntegrityError, match=r"artifacts\[\d+\].path: a path is absolute, leaves"):
        manifest_from_bytes(bad)


# covers EXP-026
def test_an_artifact_is_unique_by_path(kept):
    bad = edited(kept, lambda content: content["artifacts"].extend([ARTIFACT, ARTIFACT]))
    with pytest.raises(IntegrityError, match="artifacts: a path stands twice"):
        manifest_from_bytes(bad)


# covers EXP-042
def test_a_manifest_of_another_run_or_behind_a_link_is_refused(directory):
    moved = directory.with_name("20260102T030405123456Z-0123456789ab-01234567")
    directory.rename(moved)
    with pytest.raises(IntegrityError, match="run_id: is not the name of its directory"):
        read_manifest(moved)
    (moved / "manifest.json").rename(moved / "elsewhere.json")
    (moved / "manifest.json").symlink_to("elsewhere.json")
    with pytest.raises(IntegrityError, match=r"manifest\.json: cannot be read \(is a symbolic link\)"):
        read_manifest(moved)


NEW = (
    "verb", "input_identity", "identity", "strategies", "budget", "thresholds", "counter", "prompts", "generation",
    "evaluation", "provenance", "prices",
)  # fmt: skip


# covers EXP-020
def test_schema_1_0_is_read_with_what_it_lacks_as_null(kept):
    def older(content):
        content["schema_version"] = "1.0"
        for name in NEW:
            del content[name]

    manifest = manifest_from_bytes(edited(kept, older))
    assert manifest.schema_version == "1.0"
    assert [getattr(manifest, name) for name in NEW] == [None] * 12
    assert (manifest.dataset.cases, manifest.status) == (2, "completed")


# covers EXP-020
def test_schema_1_0_does_not_know_the_fields_of_1_1(kept):
    with pytest.raises(IntegrityError, match="is unknown to schema"):
        manifest_from_bytes(edited(kept, put("schema_version", "1.0")))


# covers EXP-024
def test_the_environment_is_an_allow_list(kept):
    import getpass
    import os
    import platform
    import socket
    from pathlib import Path

    content = loaded(kept)["environment"]
    assert sorted(content) == [
        "architecture", "container", "cpus", "implementation", "python", "release", "sha256", "system", "versions",
    ]  # fmt: skip
    assert sorted(content["versions"]) == ["ctxlab", "httpx", "pandas", "polars", "tiktoken"]
    assert (content["python"], content["cpus"]) == (platform.python_version(), os.cpu_count())
    text = json.dumps(content)
    for private in (socket.gethostname(), str(Path.home()), os.environ["PATH"]):
        assert private not in text
    assert getpass.getuser() not in content.values()


# covers EXP-024
@pytest.mark.parametrize(
    ("mark", "container"), [(".dockerenv", "docker"), ("run/.containerenv", "podman"), ("other", "none")]
)
def test_a_container_is_known_by_its_mark(tmp_path, mark, container):
    (tmp_path / mark).parent.mkdir(exist_ok=True)
    (tmp_path / mark).touch()
    here = environment_here(root=tmp_path)
    assert here.container == container
    assert here.sha256 == here.own_sha256()
