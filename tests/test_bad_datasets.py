"""Datasets that break a rule, given to the installed command: exit code 2, one line, and nothing is written."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.loopback import Answer, completion, loopback

COMMAND = str(Path(sys.executable).parent / "ctxlab")
SECRET = "PLANTED-SECRET"
CASE = {
    "schema_version": "1.1",
    "id": "c1",
    "category": "general",
    "messages": [{"role": "user", "content": f"Where is {SECRET}?"}],
    "expected": {"contains_all": ["here"]},
}


def line(**fields):
    return json.dumps({**CASE, **fields}).encode()


NESTED = line(metadata="HERE").replace(b'"HERE"', b'{"tags": ' + b"[" * 100_000 + b"]" * 100_000 + b"}")
LONG = line(generation={"max_tokens": "HERE"}).replace(b'"HERE"', b"7" * 5000)
BAD = {
    "100,000 nested brackets": (NESTED, "1: -: too_deep"),
    "brackets alone": (b"[" * 100_000 + b"]" * 100_000, "1: -: too_deep"),
    "brackets that stay open": (b"[" * 100_000, "1: -: too_deep"),
    "a number of 5,000 digits": (LONG, "1: generation.max_tokens: number_too_long"),
    "a byte order mark": (b"\xef\xbb\xbf" + line(), "1: -: bom (UTF-8)"),
    "a byte order mark of UTF-16": (line().decode().encode("utf-16"), "1: -: bom (UTF-16 LE)"),
    "lone CR": (line() + b"\r" + line(id="c2") + b"\r", "1: -: lone_cr"),
    "an infinite number": (line(generation={"temperature": float("inf")}), "1: generation.temperature: number_not_finite"),
    "invalid UTF-8": (line() + b"\n\xff", "2: -: utf8"),
    "a half surrogate": (line(id="c2").replace(b"Where", b"\\ud800"), "1: messages[0].content: lone_surrogate"),
    "a key twice": (line().replace(b'"id"', b'"id": "c0", "id"'), "1: id: duplicate_key"),
    "nothing": (b"\n \n", "1: -: empty_dataset"),
}  # fmt: skip


# covers GEN-035, GEN-040, DAT-003, DAT-005, DAT-010, DAT-022, DAT-023, DAT-120, DAT-121
@pytest.mark.parametrize(("content", "says"), BAD.values(), ids=BAD)
def test_a_bad_dataset_is_exit_code_2_and_one_line_and_nothing_is_sent_or_written(tmp_path, content, says):
    (tmp_path / "bad.jsonl").write_bytes(content)
    (tmp_path / "out.json").write_text("earlier")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("CTXLAB_")}
    with loopback(Answer(body=completion())) as server:
        done = subprocess.run(
            [COMMAND, "compare", "--dataset", "bad.jsonl", "--client", "endpoint", "--model", "m", "--base-url", server.base_url,
             "--output", "out.json"],
            cwd=tmp_path, env=clean, capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert server.requests == []
    assert (done.returncode, done.stdout) == (2, "")
    (told,) = done.stderr.splitlines()
    assert told.startswith(f"error: bad.jsonl:{says}")
    assert len(told) <= 240
    assert SECRET not in told
    assert (tmp_path / "out.json").read_text() == "earlier"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.jsonl", "out.json"]
