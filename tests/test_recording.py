"""What happens when logs are read again, have grown, have changed, or are bad?"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from helix_episodes.ingest import record
from helix_episodes.store import EpisodeStore

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from session_script import Script


def test_the_same_log_again_changes_nothing(tmp_path: Path, script: Callable[..., Script]) -> None:
    log = script("s1").prompt("Add a cart").write("shop/cart.py").save(tmp_path / "logs")
    store = EpisodeStore(tmp_path / "episodes")
    first = record([log], store)
    before = store.path_of("s1").stat()
    second = record([log], store)
    assert [one.session for one in first.written] == ["s1"]
    assert [one.session for one in second.unchanged] == ["s1"]
    assert store.path_of("s1").stat().st_mtime_ns == before.st_mtime_ns


def test_a_log_that_has_grown_updates_its_episode(tmp_path: Path, script: Callable[..., Script]) -> None:
    whole = script("s1").prompt("Add a cart").write("shop/cart.py").run("pytest", "1 passed in 0.1s")
    store = EpisodeStore(tmp_path / "episodes")
    record([whole.save(tmp_path / "logs", upto=3)], store)
    report = record([whole.save(tmp_path / "logs")], store)
    assert [one.session for one in report.updated] == ["s1"]
    assert store.require("s1").outcome == "success"


def test_a_log_that_has_changed_is_refused_without_force(tmp_path: Path, script: Callable[..., Script]) -> None:
    store = EpisodeStore(tmp_path / "episodes")
    record([script("s1").prompt("Add a cart").save(tmp_path / "logs")], store)
    changed = script("s1").prompt("Something else").say("no").save(tmp_path / "logs")
    refused = record([changed], store)
    assert "--force" in refused.failed[0].problem
    assert store.require("s1").task == "Add a cart"
    assert record([changed], store, force=True).updated[0].session == "s1"
    assert store.require("s1").task == "Something else"


def test_an_older_copy_of_a_log_that_has_grown_is_told_and_changes_nothing(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    store, log = EpisodeStore(tmp_path / "episodes"), script("s").prompt("go").edit("a.py")
    older = log.save(tmp_path / "older").read_bytes()
    path = log.run("pytest -q", "1 failed", code=1).edit("b.py").save(tmp_path)
    record([path], store)
    before = store.require("s")
    (told,) = record([tmp_path / "older"], store).recorded
    assert told.change == "unchanged"
    assert told.warnings[0].startswith("an older copy of a recorded session")
    assert store.require("s") == before
    path.write_bytes(older.replace(b"a.py", b"c.py").replace(b'"s-1"', b'"x-1"'))
    assert "differs" in record([path], store).failed[0].problem
    assert [one.change for one in record([tmp_path / "older"], store, force=True).recorded] == ["updated"]


def test_what_people_added_to_an_episode_survives_an_update(tmp_path: Path, script: Callable[..., Script]) -> None:
    whole = script("s1").prompt("Add a cart").write("shop/cart.py").say("Done.")
    store = EpisodeStore(tmp_path / "episodes")
    record([whole.save(tmp_path / "logs", upto=2)], store)
    store.save(replace(store.require("s1"), tags=("kept",), extra={"reviewed_by": "Ann"}))
    record([whole.save(tmp_path / "logs")], store)
    assert store.require("s1").tags == ("kept",)
    assert store.require("s1").extra == {"reviewed_by": "Ann"}


def test_a_bad_log_hides_no_other(tmp_path: Path, script: Callable[..., Script]) -> None:
    logs = tmp_path / "logs"
    script("good").prompt("Add a cart").save(logs)
    (logs / "a-bad.jsonl").write_text("this is no log\n")
    (logs / "empty.jsonl").write_text("")
    seen: list[tuple[int, int]] = []
    report = record(
        [logs], EpisodeStore(tmp_path / "episodes"), progress=lambda done, total, _: seen.append((done, total))
    )
    assert [one.session for one in report.written] == ["good"]
    assert [one.log.rsplit("/", 1)[-1] for one in report.failed] == ["a-bad.jsonl", "empty.jsonl"]
    assert seen == [(0, 3), (1, 3), (2, 3)]


def test_a_bad_line_is_reported_by_its_place(tmp_path: Path, script: Callable[..., Script]) -> None:
    log = script("s1").prompt("Add a cart").say("Yes.").save(tmp_path / "logs")
    log.write_text(log.read_text() + '{"type": "user", "mess')
    report = record([log], EpisodeStore(tmp_path / "episodes"))
    assert report.written[0].warnings[0].startswith("line 3: ")


def test_a_resumed_sessions_copied_messages_count_for_the_earlier_one(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    earlier = script("earlier").prompt("Add a cart").write("shop/cart.py").run("pytest", "1 passed in 0.1s")
    later = script("later").prompt("And a discount").write("shop/discount.py")
    logs = [earlier.save(tmp_path / "logs"), later.save(tmp_path / "logs", copied=earlier.records)]
    for order in (logs, logs[::-1]):
        store = EpisodeStore(tmp_path / f"episodes-{order[0].stem}")
        record(order, store)
        chosen = [one.chosen for episode in store.list() for one in episode.decisions]
        assert chosen.count("create shop/cart.py") == 1, order
        assert chosen.count("create shop/discount.py") == 1, order


def test_an_unwritable_folder_is_a_sentence_about_it(tmp_path: Path, script: Callable[..., Script]) -> None:
    log = script("s1").prompt("Add a cart").save(tmp_path / "logs")
    (tmp_path / "file").write_text("in the way")
    report = record([log], EpisodeStore(tmp_path / "file" / "episodes"))
    assert "could not be written" in report.failed[0].problem


def test_a_resumed_session_read_before_its_origin_gives_the_copies_back(
    tmp_path: Path, script: Callable[..., Script]
) -> None:
    earlier = script("earlier").prompt("Add a cart").write("shop/cart.py").run("pytest", "1 passed in 0.1s")
    later = script("later").prompt("And a discount").write("shop/discount.py")
    logs = [later.save(tmp_path / "logs", copied=earlier.records), earlier.save(tmp_path / "logs")]
    together, apart = EpisodeStore(tmp_path / "together"), EpisodeStore(tmp_path / "apart")
    record(logs, together)
    for log in (*logs, logs[0]):
        record([log], apart)
    for store in (together, apart):
        chosen = {one.session: [each.chosen for each in one.decisions] for one in store.list()}
        assert chosen == {
            "earlier": ["create shop/cart.py", "run pytest"],
            "later": ["create shop/discount.py"],
        }


def test_a_helpers_log_that_grows_updates_its_sessions_episode(tmp_path: Path, script: Callable[..., Script]) -> None:
    log = script("s1").prompt("Add a cart").write("shop/cart.py").save(tmp_path / "logs")
    store = EpisodeStore(tmp_path / "episodes")
    record([log], store)
    helper = script("s1").prompt("Look").run("pytest", "1 passed in 0.1s")
    for line in helper.records:
        line.update(isSidechain=True, agentId="abc")
    helper.save(tmp_path / "logs" / "s1" / "subagents").rename(
        tmp_path / "logs" / "s1" / "subagents" / "agent-abc.jsonl"
    )
    assert [one.session for one in record([log], store).updated] == ["s1"]
    assert [one.session for one in record([log], store).unchanged] == ["s1"]


def test_a_folder_without_a_log_is_said(tmp_path: Path) -> None:
    report = record([tmp_path], EpisodeStore(tmp_path / "episodes"))
    assert "no log in this folder" in report.failed[0].problem


def test_no_field_carries_a_secret_into_an_episode(tmp_path: Path, script: Callable[..., Script]) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    log = script("s1").prompt(f"Use {token}").run(token, "boom", code=1).run(f"./deploy-{token}.sh", "boom", code=1)
    log = log.edit(f"shop/{token}.py").run(f"make {token}", "boom", code=2).say(f"Decision: take {token}")
    store = EpisodeStore(tmp_path / "episodes")
    record([log.save(tmp_path / "logs")], store)
    assert token not in store.path_of("s1").read_text()
