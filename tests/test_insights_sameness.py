"""Which texts go into one another: alike to the model is not enough where the words say something else."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_graph.insights.api import Insights
from stub_embedder import Fixed
from thoroughness import few

if TYPE_CHECKING:
    from pathlib import Path

LONG = " ".join(f"word{'abcdefghij'[number % 10]}{'abcdefghij'[number // 10 % 10]}" for number in range(300))
APART = {
    "error codes": ("On E0499 clone the value before the loop", "On E0382 clone the value before the loop"),
    "numbers": ("Give the release job 30 minutes in CI", "Give the release job 90 minutes in CI"),
    "paths": ("Edit the limits in shop/cart.py only", "Edit the limits in shop/price.py only"),
    "options": ("Push the branch with --force when rebased", "Push the branch with --tags when rebased"),
    "acronyms": ("Clone the repository over SSH from here", "Clone the repository over HTTPS from here"),
    "never": ("Always indent the sources with tabs", "Never indent the sources with tabs"),
    "don't": ("Commit the lock file with the change", "Don\u2019t commit the lock file with the change"),
    "avoid": ("Use globals in the settings module", "Avoid globals in the settings module"),
    "without": ("Run the migration with a backup", "Run the migration without a backup"),
    "what is denied": ("Indent with tabs, never with spaces", "Indent with spaces, never with tabs"),
    "instead of": ("Indent with tabs instead of spaces", "Indent with spaces instead of tabs"),
    "opposites": ("Run the migration before the deploy", "Run the migration after the deploy"),
    "what is preferred": ("Prefer rebase over merge", "Prefer merge over rebase"),
    "order": ("Run the linter before the tests in CI", "Run the tests before the linter in CI"),
    "comparison": ("The cache is slower than the index here", "The index is slower than the cache here"),
    "direction": ("Copy config.toml to defaults.toml first", "Copy defaults.toml to config.toml first"),
    "Chinese": ("测试失败时请先查看日志文件并重新运行测试任务", "部署之前请务必备份生产环境的数据库和配置"),
    "Russian": ("Сначала читай журнал ошибок", "Никогда не удаляй ветку"),
    "pictures": ("Mark the release with \U0001f680 in the title", "Mark the release with \U0001f6d1 in the title"),
    "words too long": ("Look up " + "a" * 120 + " first", "Look up " + "b" * 120 + " first"),
    "the tail": (f"{LONG} and lint the sources", f"{LONG} and drop the database"),
}
TOGETHER = {
    "order of words": ("When pytest hangs, run it with -x first", "Run pytest with -x first when it hangs"),
    "denials in other words": ("Never commit the lock file", "Do not commit the lock file, please"),
    "order of clauses": ("Run the linter before merging a branch", "Before merging a branch, run the linter"),
    "a word on both sides": ("Move the old file to the new file first", "First move the old file to the new file"),
    "accents": ("Read the resume of the run first", "Read the résumé of the run first"),
    "shouting": ("ALWAYS read the log of the run first", "always read the whole log of the run first"),
    "long texts": (f"{LONG} and lint the sources", f"{LONG} and then lint all of the sources"),
}


@pytest.mark.parametrize("case", few([*APART], 10))
def test_texts_that_say_other_things_both_stay(tmp_path: Path, case: str) -> None:
    one, other = APART[case]
    insights = Insights(tmp_path / "helix.db", embedder=lambda: Fixed({one: 1.0, other: 0.99}))
    assert insights.store(one)["status"] == "added"
    assert insights.store(other)["status"] == "added"
    assert insights.consolidate()["merged"] == 0
    assert insights.store(one)["status"] == "merged"


@pytest.mark.parametrize("case", TOGETHER)
def test_texts_that_say_the_same_in_other_words_are_merged(tmp_path: Path, case: str) -> None:
    one, other = TOGETHER[case]
    for first, second in ((one, other), (other, one)):
        path = tmp_path / str(len(first)) / "helix.db"
        insights = Insights(path, embedder=lambda: Fixed({one: 1.0, other: 0.99}))
        insights.store(first)
        assert insights.store(second)["status"] == "merged"


def test_the_answer_tells_whose_words_were_kept(tmp_path: Path) -> None:
    short, full = "Read the log of the run", "Read the log of the run, all of it"
    insights = Insights(tmp_path / "helix.db", embedder=lambda: Fixed({short: 1.0, full: 0.99}))
    assert "kept" not in insights.store(short)
    fuller = insights.store(full)
    assert (fuller["kept"], fuller["reason"]) == ("new", "similar exists")
    assert insights.store(short)["kept"] == "existing"


def test_the_most_alike_that_says_the_same_takes_a_text_in(tmp_path: Path) -> None:
    nearest, same, text = ("On E0499 clone it first", "On E0382 clone it before", "On E0382 clone it first")
    engine = Fixed({nearest: 0.99, same: 0.9, text: 1.0})
    insights = Insights(tmp_path / "helix.db", embedder=lambda: engine)
    insights.store(nearest)
    name = insights.store(same)["name"]
    assert insights.store(text)["name"] == name


def test_what_a_person_rejected_does_not_keep_its_opposite_out(tmp_path: Path) -> None:
    one, other = APART["never"]
    insights = Insights(tmp_path / "helix.db", embedder=lambda: Fixed({one: 1.0, other: 0.99}))
    insights.reject(insights.store(one)["name"])
    assert insights.store(other)["status"] == "added"
