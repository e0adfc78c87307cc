"""Does what was recorded come back as it was, whatever stands beside it?"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from helix_episodes.errors import EpisodeError, InvalidEpisode, NotFound, WriteFailed
from helix_episodes.model import Decision, Episode, Event, Evidence, Link, Metrics
from helix_episodes.store import EpisodeStore, decode_episode, encode_episode

if TYPE_CHECKING:
    from pathlib import Path

# Lone surrogates are no text: JSON files in UTF-8 cannot hold them.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=40)
evidences = st.builds(
    Evidence,
    line=st.integers(1, 10**6),
    id=st.none() | texts,
    quote=texts,
    also=st.lists(st.integers(1, 10**6), max_size=2).map(tuple),
)
decisions = st.builds(
    Decision,
    id=st.from_regex(r"d\d{3}", fullmatch=True),
    timestamp=st.none() | texts,
    type=st.sampled_from(["design", "test", "recovery"]),
    chosen=texts,
    outcome=st.sampled_from(["success", "unknown"]),
    effects=st.lists(texts, max_size=3).map(tuple),
    evidence=st.none() | evidences,
)
events = st.builds(
    Event,
    id=st.from_regex(r"e\d{3}", fullmatch=True),
    timestamp=st.none(),
    type=st.sampled_from(["error", "test", "commit"]),
    content=texts,
    passed=st.none() | st.integers(0, 9999),
    evidence=st.none() | evidences,
)
episodes = st.builds(
    Episode,
    id=st.just("episode-s"),
    session=st.just("s"),
    timestamp=st.none() | texts,
    outcome=st.sampled_from(["success", "partial", "failure", "unknown"]),
    task=texts,
    decisions=st.lists(decisions, max_size=3).map(tuple),
    events=st.lists(events, max_size=3).map(tuple),
    lessons=st.lists(texts, max_size=3).map(tuple),
    metrics=st.builds(Metrics, tool_calls=st.none() | st.integers(0, 9)),
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)


def episode(session: str = "s", **fields: Any) -> Episode:  # noqa: ANN401  (any field of an episode)
    given_fields: dict[str, Any] = {"timestamp": "2026-01-05T10:00:00Z", "outcome": "unknown", "task": "t"} | fields
    return Episode(id=f"episode-{session}", session=session, **given_fields)


@given(episodes)
def test_an_episode_comes_back_as_it_was_written(one: Episode) -> None:
    assert decode_episode(encode_episode(one)) == one
    assert encode_episode(decode_episode(encode_episode(one))) == encode_episode(one)


@given(one=episodes, unknown=st.dictionaries(st.text("xyz+", min_size=1, max_size=5), json_values, min_size=1))
def test_keys_of_a_later_version_survive_a_read_and_a_write(one: Episode, unknown: dict[str, Any]) -> None:
    raw = orjson.loads(encode_episode(one)) | unknown
    raw["decisions"] = [*raw["decisions"], {"id": "d9", "timestamp": None, "type": "test", "chosen": "c", **unknown}]
    kept = orjson.loads(encode_episode(decode_episode(orjson.dumps(raw))))
    assert {key: kept[key] for key in unknown} == unknown
    assert {key: kept["decisions"][-1][key] for key in unknown} == unknown


def test_a_file_of_the_original_schema_is_read(tmp_path: Path) -> None:
    raw = {
        "id": "episode-2026-01-01-session-126",
        "session": "2026-01-01-session-126",
        "timestamp": "2026-01-01T17:05:00Z",
        "outcome": "success",
        "task": "Choose routing",
        "decisions": [
            {"id": "d001", "timestamp": "2026-01-01T17:05:00Z", "type": "design", "context": "c", "chosen": "Lexical",
             "rationale": "Lower latency", "outcome": "success", "effects": ["e001"]},
        ],
        "events": [{"id": "e001", "timestamp": "2026-01-01T17:10:00Z", "type": "commit", "content": "Created module",
                    "caused_by": ["d001"], "leads_to": []}],
        "metrics": {"duration_minutes": 45, "tool_calls": 87, "errors": 2, "recoveries": 2, "commits": 3,
                    "files_changed": 8},
        "lessons": ["Measure first"],
    }  # fmt: skip
    (tmp_path / "episode-2026-01-01-session-126.json").write_bytes(orjson.dumps(raw))
    found = EpisodeStore(tmp_path).require("episode-2026-01-01-session-126")
    assert found.decisions[0].chosen == "Lexical"
    assert found.metrics.tool_calls == 87
    assert found == EpisodeStore(tmp_path).get("2026-01-01-session-126")


def test_the_file_is_readable_by_its_owner_only_and_ends_with_a_newline(tmp_path: Path) -> None:
    path = EpisodeStore(tmp_path / "new" / "folder").save(episode())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert path.read_text().endswith("}\n")
    assert path.read_text().startswith('{\n  "id": "episode-s",\n  "session"')


def test_unknown_is_written_as_null_and_never_as_zero(tmp_path: Path) -> None:
    raw = orjson.loads(EpisodeStore(tmp_path).save(episode()).read_bytes())
    assert raw["metrics"] == dict.fromkeys(
        ["duration_minutes", "tool_calls", "errors", "recoveries", "commits", "files_changed"]
    )


def test_an_invalid_file_is_named_with_its_field_and_hides_no_other(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    store.save(episode("good"))
    (tmp_path / "episode-bad.json").write_text('{"id": "episode-bad", "session": "bad", "timestamp": null, '
                                               '"outcome": "great", "task": "t"}')  # fmt: skip
    (tmp_path / "episode-torn.json").write_text('{"id": "epis')
    problems = {path.name: str(one) for path, one in store.scan() if isinstance(one, InvalidEpisode)}
    assert "$.outcome" in problems["episode-bad.json"]
    assert str(tmp_path / "episode-torn.json") in problems["episode-torn.json"]
    assert [one.session for one in store.list()] == ["good"]
    with pytest.raises(InvalidEpisode, match=r"\$\.outcome"):
        store.get("bad")


@pytest.mark.parametrize("session", ["../up", "a/b", "a\\b", "..", ".hidden", "", "x" * 129, "a\0b", "a\nb"])
def test_a_session_id_cannot_lead_out_of_the_folder(tmp_path: Path, session: str) -> None:
    with pytest.raises(EpisodeError):
        EpisodeStore(tmp_path).save(episode(session))
    assert list(tmp_path.rglob("*")) == []


def test_a_missing_episode_is_an_error_that_says_where_to_look(tmp_path: Path) -> None:
    assert EpisodeStore(tmp_path).get("nothing") is None
    with pytest.raises(NotFound, match="sessions list"):
        EpisodeStore(tmp_path).require("nothing")


def test_a_full_disk_leaves_the_old_file_and_no_litter(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = EpisodeStore(tmp_path)
    before = store.save(episode(task="old")).read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WriteFailed, match="No space left"):
        store.save(episode(task="new"))
    assert [path.read_bytes() for path in tmp_path.iterdir()] == [before]


def test_the_newest_come_first_whatever_their_time_zone(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    for session, moment in [
        ("a", "2026-01-05T10:00:00+02:00"),
        ("b", "2026-01-05T09:00:00Z"),
        ("c", "2026-01-04T23:00:00Z"),
    ]:
        store.save(episode(session, timestamp=moment))
    store.save(episode("undated", timestamp=None))
    assert [one.session for one in store.list()] == ["b", "a", "c", "undated"]
    assert [one.session for one in store.list(max_results=1)] == ["b"]


def test_a_list_can_be_narrowed(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    store.save(episode("a", outcome="failure", task="Fix the Cart"))
    store.save(episode("b", outcome="success", task="docs"))
    assert [one.session for one in store.list(outcome="failure")] == ["a"]
    assert [one.session for one in store.list(task="cart")] == ["a"]


def test_links_are_kept(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    store.save(episode(links=(Link(source="e001", target="d001", reason="answer"),)))
    assert store.require("s").links[0].type == "causes"


def test_the_longest_id_of_a_session_is_found_by_its_episodes_id(tmp_path: Path) -> None:
    store = EpisodeStore(tmp_path)
    longest = "s" * 128
    store.save(episode(longest))
    for name in (longest, f"episode-{longest}"):
        assert store.require(name).session == longest
    with pytest.raises(EpisodeError, match="cannot name a file"):
        store.get(f"episode-{longest}s")
