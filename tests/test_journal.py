import asyncio
import json
import os
import stat

import pytest

from ctxlab.calls import Reply, Usage
from ctxlab.errors import CallError, IntegrityError
from ctxlab.journal import Entry, Header, Journal, Slot, read_journal

HEADER = Header(
    run_id="20260102T030405123456Z-0123456789ab-01234567",
    fingerprint="f" * 64,
    input_identity="e" * 64,
    endpoint="stand-in:echo",
    dataset_sha256="d" * 64,
    versions={"ctxlab": "0.1.0"},
)


def slot(index, attempt=0):
    return Slot(case_id="c1", strategy="full", repeat=0, call_index=index, attempt=attempt)


def entry(index, text="Antwort — 答\n"):
    reply = Reply(text=text, usage=Usage(prompt_tokens=3), duration_s=0.5, finish_reason="stop")
    return Entry.of_reply(slot(index), "main", "a" * 64, reply)


def write(path, *entries):
    async def work():
        journal = Journal.create(path, HEADER)
        await asyncio.gather(*(journal.append(e) for e in entries))
        await journal.close()

    asyncio.run(work())


# covers RUN-070
def test_a_journal_is_readable_by_its_owner_only_and_begins_with_its_header(tmp_path):
    path = tmp_path / "journal.jsonl"
    write(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text().splitlines()[0])["endpoint"] == "stand-in:echo"
    with pytest.raises(FileExistsError):
        Journal.create(path, HEADER)


# covers RUN-071
def test_entries_come_back_as_they_were_written(tmp_path):
    path = tmp_path / "journal.jsonl"
    failed = Entry.of_error(slot(7, 1), "helper", "b" * 64, CallError("platform_http_error", http_status=503))
    entries = [*(entry(i) for i in range(5)), failed]
    write(path, *entries)
    recorded = read_journal(path)
    assert recorded.header == HEADER
    assert recorded.entries == {e.slot: e for e in entries}
    assert (recorded.length, recorded.truncated) == (path.stat().st_size, False)
    assert recorded.entries[slot(0)].result() == Reply(
        text="Antwort — 答\n", usage=Usage(prompt_tokens=3), duration_s=0.5, finish_reason="stop"
    )
    with pytest.raises(CallError) as error:
        recorded.entries[slot(7, 1)].result()
    assert (error.value.kind, error.value.http_status) == ("platform_http_error", 503)


# covers RUN-071
def test_an_entry_is_on_disk_when_append_returns(tmp_path):
    path = tmp_path / "journal.jsonl"

    async def work():
        journal = Journal.create(path, HEADER)
        for index in range(3):
            await journal.append(entry(index))
            assert len(read_journal(path).entries) == index + 1
        await journal.close()

    asyncio.run(work())


# covers RUN-074
@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_truncated_last_line_is_left_out_and_overwritten_by_the_next_entry(tmp_path, cut):
    path = tmp_path / "journal.jsonl"
    write(path, entry(0), entry(1))
    os.truncate(path, path.stat().st_size - cut)
    recorded = read_journal(path)
    assert (list(recorded.entries), recorded.truncated) == ([slot(0)], True)

    async def go_on():
        journal = Journal.reopen(path, length=recorded.length)
        await journal.append(entry(2))
        await journal.close()

    asyncio.run(go_on())
    again = read_journal(path)
    assert (list(again.entries), again.truncated) == ([slot(0), slot(2)], False)


# covers RUN-074
@pytest.mark.parametrize(
    ("damage", "where"),
    [
        (lambda lines: [lines[0], b"{}", lines[2]], "journal.jsonl:2"),
        (lambda lines: [lines[0], lines[1][:-9] + b'"x":1}', lines[2]], "journal.jsonl:2"),
        (lambda lines: [b"\x00\x01", *lines[1:]], "journal.jsonl:1"),
        (lambda lines: [lines[0], lines[1], b"not json"], "journal.jsonl:3"),
    ],
    ids=["empty entry", "broken entry", "header", "last line with its end"],
)
def test_any_other_damage_names_the_line_and_no_content(tmp_path, damage, where):
    path = tmp_path / "journal.jsonl"
    write(path, entry(0), entry(1))
    lines = path.read_bytes().splitlines()
    path.write_bytes(b"\n".join(damage(lines)) + b"\n")
    with pytest.raises(IntegrityError, match=where) as error:
        read_journal(path)
    assert "Antwort" not in str(error.value)


def test_a_journal_without_a_whole_header_is_damaged(tmp_path):
    path = tmp_path / "journal.jsonl"
    path.write_bytes(b'{"run_id"')
    with pytest.raises(IntegrityError, match="no header"):
        read_journal(path)


# covers RUN-071
def test_a_full_disk_is_an_error_of_the_entry_and_not_silence(tmp_path):
    async def work():
        descriptor = os.open("/dev/full", os.O_WRONLY)
        journal = Journal(descriptor)
        with pytest.raises(OSError, match="space"):
            await journal.append(entry(0))
        await journal.close()

    if not os.path.exists("/dev/full"):
        pytest.skip("this system has no device that is always full")
    asyncio.run(work())
