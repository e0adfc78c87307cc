"""May several threads decode a type that none has decoded before? Without `ready` the process crashes."""

from __future__ import annotations

import subprocess
import sys

import pytest

THREADS = """
import sys, threading
import msgspec
from helix_episodes.msgspec_types import ready

sys.setswitchinterval(1e-6)
for number in range(300):
    inner = msgspec.defstruct(f"Inner{number}", [(f"field{n}", int | None, None) for n in range(30)])
    outer = msgspec.defstruct(f"Outer{number}", [(f"field{n}", list[inner], []) for n in range(30)])
    begin = threading.Barrier(4)

    def decode():
        begin.wait()
        msgspec.json.decode(b'{"field1": [{"field2": 3}]}', type=ready(outer))

    threads = [threading.Thread(target=decode) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
"""


@pytest.mark.slow
def test_threads_may_decode_a_new_type_at_once() -> None:
    ended = subprocess.run([sys.executable, "-c", THREADS], capture_output=True, text=True, check=False, timeout=120)
    assert (ended.returncode, ended.stderr) == (0, "")
