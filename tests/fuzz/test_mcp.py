"""Messages that are nearly right: each that has an id is answered, and the server goes on."""

from __future__ import annotations

import json
import os
import select
import subprocess
from typing import TYPE_CHECKING

import pytest

from demo_logs import demo_memory_in
from fuzzing import PATIENCE, mutated, named, rounds
from mcp_agent import SERVER

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.fuzz
BEGIN = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
CALLS = [
    ("seen", {"text": "KeyError: 'sku'", "limit": 3}),
    ("recall", {"query": "parcel", "limit": 2}),
    ("remember", {"content": "Retry the parcel service with the same key.", "tags": ["parcels"]}),
    ("anti_patterns", {}),
    ("similar_decisions", {"text": "fix the cart"}),
    ("read", {"topic": "shop", "cursor": "0123456789ab-7", "max_tokens": "900"}),
    ("batch", {"entries": [{"topic": "shop", "text": "One cart a customer.", "tags": ["cart"]}]}),
    ("store", {"topic": "shop", "text": "The cart is in cart.py."}),
    ("causal_path", {"source": "pytest", "target": "commit"}),
    ("status", {}),
]


def test_calls(tmp_path: Path) -> None:
    memory = demo_memory_in(tmp_path)
    environment = {**os.environ, "HELIX_DIR": str(memory.root)}
    # Without a buffer: what `select` says of a line that waits in one is wrong.
    server = subprocess.Popen(SERVER, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert server.stdin is not None
    assert server.stdout is not None

    def send(*lines: bytes, awaiting: set[object]) -> None:
        assert server.stdin is not None
        assert server.stdout is not None
        server.stdin.write(b"".join(line.replace(b"\n", b" ") + b"\n" for line in lines))
        server.stdin.flush()
        while awaiting:
            assert select.select([server.stdout], [], [], PATIENCE - 5)[0], f"no answer to {awaiting}"
            line = server.stdout.readline()
            assert line, "the server has ended"
            answer = json.loads(line)
            awaiting.discard(None if isinstance(answer, list) else answer.get("id"))
            assert "has a bug" not in line.decode()

    begin = {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": BEGIN}
    send(json.dumps(begin).encode(), awaiting={0})
    server.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    number = 0
    for chance in rounds():
        number += 2
        name, arguments = chance.choice(CALLS)
        inner = mutated(json.dumps({"name": name, "arguments": arguments}).encode(), chance)
        line = b'{"jsonrpc": "2.0", "id": %d, "method": "tools/call", "params": %s}' % (number, inner)
        ping = b'{"jsonrpc": "2.0", "id": %d, "method": "ping"}' % (number + 1)
        with named(chance, line):
            send(line, ping, awaiting={number, number + 1})
        mangled = mutated(line.replace(b"%d" % number, b"%d" % -number, 1), chance)
        with named(chance, mangled):  # it may have become a notification, which nobody answers
            send(mangled, b'{"jsonrpc": "2.0", "id": "%d", "method": "ping"}' % number, awaiting={str(number)})
    server.stdin.close()
    assert server.wait(PATIENCE) == 0
    server.stdout.close()
