r"""Results beside a log: what a benchmark's verifier said of the run, as the session's reward.

Harnesses write the verdict into a file of its own next to the log, or in the run's folder: ``reward.txt`` (a number),
``result.json``, ``results.json``, ``reward.json`` or ``metadata.json`` with a reward, a score, or the checkpoints that
passed, or ``ctrf.json``, a report of the tests that the verifier ran. It counts for a log that is alone with it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helix_episodes.readers.common.fields import object_in
from helix_episodes.readers.common.jsonl import read_object

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from helix_episodes.readers.common.fields import Record


#: In the order in which they are believed: the number itself, then summaries of the run, then its tests.
RESULT_NAMES = ("reward.txt", "reward.json", "result.json", "results.json", "metadata.json", "ctrf.json")
#: Where a verifier's folder is: beside the log, or beside the folder with the agent's logs.
_FOLDERS = (".", "verifier", "..", "../verifier")
_NUMBERS = ("reward", "score", "task_score", "mean_reward")
_VERDICTS = ("all_passed", "passed", "resolved", "is_resolved")
#: A number that is longer is none.
_LONGEST_NUMBER = 40


def reward_beside(log: Path) -> tuple[float, Path] | None:
    """The reward of the run that a log is of, from 0 to 1, and the file that states it; None without one.

    In the folder above, a result belongs to this log only where its agent's logs have a folder of their own.
    """
    for folder in _FOLDERS:
        if folder.startswith("..") and log.parent.name not in {"agent", "logs", "sessions", "agent-logs"}:
            continue
        for name in RESULT_NAMES:
            file = log.parent / folder / name
            if file != log and file.is_file() and (reward := _reward_in(file)) is not None:
                return min(max(reward, 0.0), 1.0), file.resolve()
    return None


def _reward_in(file: Path) -> float | None:
    if file.suffix == ".txt":
        try:
            return float(file.read_text(encoding="utf-8", errors="replace")[:_LONGEST_NUMBER])
        except (OSError, ValueError):
            return None
    stated = read_object(file) or {}
    if file.name == "ctrf.json":
        return _of_tests(object_in(object_in(stated, "results"), "summary"))
    return next((reward for record in _places(stated) if (reward := _stated(record)) is not None), None)


def _places(stated: Record) -> Iterator[Record]:
    """Where a file states its reward: at its top, below the verifier's result, among scores."""
    yield stated
    verifier = object_in(stated, "verifier_result")
    yield from (object_in(verifier, "rewards"), verifier, object_in(stated, "scores"), object_in(stated, "rewards"))


def _stated(record: Record) -> float | None:
    """The reward in a record. Checkpoints are a share; all of them passed is 1, whatever points there were."""
    verdict = next((value for name in _VERDICTS if isinstance(value := record.get(name), bool)), None)
    if "checkpoints_total" in record:
        passed, total = _number(record.get("checkpoints_passed")), _number(record.get("checkpoints_total"))
        return passed / total if passed is not None and total else None
    number = next((value for name in _NUMBERS if (value := _number(record.get(name))) is not None), None)
    if number is not None and number <= 1:
        return number
    # Points instead of a share: only whether it was enough is known.
    return None if verdict is None else float(verdict)


def _of_tests(summary: Record) -> float | None:
    passed, failed = _number(summary.get("passed")), _number(summary.get("failed"))
    return None if passed is None or failed is None or not passed + failed else float(not failed)


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None
