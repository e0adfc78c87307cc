"""What happens on a system that is not supported?"""

from __future__ import annotations

import sys

import pytest

from helix_cli.entry import main


def test_windows_gets_a_sentence_and_nothing_is_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(sys, "argv", ["helix-graph", "no such command"])
    with pytest.raises(SystemExit, match=r"Windows is not supported.*use WSL"):
        main()
