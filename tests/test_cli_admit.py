"""`ctxlab admit` as a user runs it: output and exit codes of the installed command."""

import csv
import io
import json
import os
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from ctxlab.admission.lineage import in_rank_order
from ctxlab.admission.passes import admit_snippets
from ctxlab.cli import main
from ctxlab.cli.admit import exit_code
from ctxlab.retention import retention_frame

COMMAND = str(Path(sys.executable).parent / "ctxlab")


def ctxlab(*arguments, cwd):
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CTXLAB_")}
    return subprocess.run(
        [COMMAND, *arguments], cwd=cwd, env=clean, capture_output=True, text=True, timeout=100, check=False
    )


# covers ADM-071, GEN-008, GEN-040
def test_probes_are_all_kept_and_the_command_ends_well(tmp_path):
    done = ctxlab("admit", "--probes", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "full 16/16 kept, admit 16/16 kept" in done.stdout
    # ADM-074: boundaries, not quality
    assert "boundaries, no estimate of quality" in done.stdout


# covers GEN-040, ADM-071
def test_a_lost_probe_is_exit_code_1():
    assert exit_code(retention_frame()) == 0
    assert exit_code(retention_frame(admit=partial(admit_snippets, arrange=in_rank_order))) == 1


# covers ADM-005, GEN-035
@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            ["--window-tokens", "500"],
            "window_tokens: output reserve, envelope and schema reach it; allowed is over 3724",
        ),
        (["--output-reserve-tokens", "16000"], "window_tokens: output reserve"),
        (["--envelope-tokens", "-1"], "protocol_reserve_tokens: out of range"),
        (["--counter", "words"], "token counter: unknown name"),
        (["--output", "nowhere/file.csv"], "--output: the folder does not exist"),
    ],
)
def test_invalid_input_is_one_line_and_exit_code_2(arguments, told, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["admit", "--no-timing", *arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith(f"error: {told}")
    assert err.count("\n") == 1


# covers ADM-086, ADM-087, GEN-034
def test_csv_goes_to_a_file_with_a_receipt_beside_it(tmp_path):
    done = ctxlab("admit", "--no-timing", "--format", "csv", "--output", "m.csv", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    rows = list(csv.DictReader(io.StringIO((tmp_path / "m.csv").read_text())))
    assert len(rows) == 64
    assert rows[13]["content_bytes"] == "12156"
    assert (rows[12]["estimated_input"], rows[13]["p50_ns"]) == ("NA", "NA")
    assert json.loads((tmp_path / "m.receipt.json").read_text())["package"] == "ctxlab"


# covers GEN-034, ADM-080
def test_json_holds_the_frame_and_the_table_the_same_numbers(capsys):
    assert main(["admit", "--no-timing", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["frame"], told["version"], told["run_id"], told["counter"]) == (
        "measurement",
        1,
        None,
        "utf8_bytes_1",
    )
    assert len(told["rows"]) == 64
    assert told["rows"][0]["estimated_input"] is None
    assert main(["admit", "--no-timing"]) == 0
    table = capsys.readouterr().out
    for number in ("12,156", "12,131", "12,220", "13,880", "162,222"):
        assert number in table
    assert "counter utf8_bytes_1" in table
    assert "exploratory" in table


# covers GEN-034
def test_probes_as_json_and_csv_hold_32_rows(capsys):
    assert main(["admit", "--probes", "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["frame"], len(told["rows"])) == ("retention", 32)
    assert main(["admit", "--probes", "--format", "csv"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 33
