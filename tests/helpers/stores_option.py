"""The option ``--stores=postgresql`` of the tests: which of them run, which not and why, and what it came to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from kept_by_server import KeptByServer, is_about_files, reason_to_stay, suite_of
from postgres_server import why_absent

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: Of a report: how often its test's memories were made from the server.
_OPENINGS = "memories made from the server"


class StoresOnPostgres:
    """Runs the suites of stores alone, each test with a memory that comes from the server again and again."""

    def __init__(self) -> None:
        self._absent = why_absent()
        self._kept: KeptByServer | None = None

    def pytest_ignore_collect(self, collection_path: Path) -> bool | None:
        """Leaves out what is no suite of stores."""
        return True if collection_path.is_file() and not suite_of(collection_path.name) else None

    @pytest.hookimpl(tryfirst=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Marks what stays on this machine with the reason."""
        for one in items:
            why = self._absent or reason_to_stay(one.path.name, one.name)
            if why:
                one.add_marker(pytest.mark.skip(reason=why))

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Starts the server with the first test of a process, since the one that hands out tests runs none."""
        if self._kept is None and not self._absent:
            self._kept = KeptByServer()
            self._kept.install()
        if self._kept:
            self._kept.begin_test(is_about_files=is_about_files(item.path.name, item.name))
        return (yield)

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_teardown(self, item: pytest.Item) -> None:
        """Notes how often the test's memories were made from the server."""
        if self._kept:
            item.user_properties.append((_OPENINGS, self._kept.openings))

    def pytest_unconfigure(self) -> None:
        """Stops the server."""
        if self._kept:
            self._kept.close()

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """How much of the suites ran, how much of it asked for what was kept, and why the rest did not run."""
        stats = terminalreporter.stats
        ended = [one for found in stats.values() for one in found if getattr(one, "when", "") == "teardown"]
        openings = [int(dict(one.user_properties).get(_OPENINGS, 0)) for one in ended]
        reasons = Counter(str(one.longrepr[2]).removeprefix("Skipped: ") for one in stats.get("skipped", []))
        write, passed = terminalreporter.write_line, len(stats.get("passed", []))
        write(f"Suites of stores: {passed} tests passed with PostgreSQL as the place of the memory.")
        write(
            f"  {sum(map(bool, openings))} asked again for what they kept, and {sum(openings)} memories came from it."
        )
        write(f"  {sum(reasons.values())} run on SQLite alone:")
        for why, number in reasons.most_common():
            write(f"  {number:5}  {why}")
