"""What the client alone takes, measured against the instant server."""

import http.client
import json
import subprocess
import sys
from urllib.parse import urlsplit

import pytest

from ctxlab import instant_server
from ctxlab.loopback_latency import client_latency, instant_server as running


@pytest.mark.parametrize("workers", [1, 5])
def test_asking_a_server_that_answers_at_once_takes_a_moment(workers):
    assert 0 < client_latency(workers) < 5


def test_the_instant_server_speaks_chat_completions_on_loopback_and_ends_with_the_block():
    with running() as base_url:
        parts = urlsplit(base_url)
        assert parts.hostname == "127.0.0.1"
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
        for _ in range(2):  # the connection stays open
            connection.request("POST", "/v1/chat/completions", body=json.dumps({"messages": ["x" * 100_000]}))
            answer = connection.getresponse()
            assert answer.status == 200
            assert json.loads(answer.read())["choices"][0]["message"]["content"] == "ok"
        connection.close()
    connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=10)
    with pytest.raises(ConnectionRefusedError):
        connection.request("GET", "/")


def test_the_server_ends_when_its_parent_lets_go_of_it():
    process = subprocess.Popen(
        [sys.executable, instant_server.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout.readline().strip().isdigit()
    process.communicate(timeout=20)  # closes standard input
    assert process.returncode == 0
