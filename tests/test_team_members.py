"""Who sees which members of a project, and does whoever is refused learn who may do it, with nothing left behind?"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from helix_cli.app import run
from helix_graph.sharing.administration import add_member

if TYPE_CHECKING:
    from pathlib import Path

    from postgres_server import TeamDatabase


@pytest.fixture
def shop(team_server: TeamDatabase) -> TeamDatabase:
    """A server with the project shop, and another one that has one member of it."""
    add_member(team_server.url(), "shop", "root_of_all", role="admin")
    add_member(team_server.url(), "bakery", "bob")
    return team_server


def test_an_administrator_sees_all_members_of_its_projects_and_others_themselves(
    shop: TeamDatabase, capsys: pytest.CaptureFixture[str]
) -> None:
    def listed(role: str, *project: str) -> tuple[list[str], list[str]]:
        assert run(["team", "list", *project, "--to", shop.url(role), "--json"]) == 0
        said = json.loads(capsys.readouterr().out)
        return [" ".join(one.values()) for one in said["members"]], said["partial"]

    everybody = ["bakery bob member", "shop ann member", "shop bob member", "shop root_of_all admin"]
    assert listed("postgres") == (everybody, [])
    assert listed("root_of_all") == (everybody[1:], [])
    assert listed("bob") == ([everybody[0], everybody[2]], ["bakery", "shop"])
    assert listed("bob", "shop") == ([everybody[2]], ["shop"])
    assert run(["team", "list", "--to", shop.url("bob")]) == 0
    assert "Of shop you see yourself alone" in capsys.readouterr().out
    assert run(["team", "list", "bakery", "--to", shop.url("root_of_all")]) == 1
    assert "sees no member of bakery" in capsys.readouterr().err


def test_whoever_lacks_a_right_learns_who_has_it(shop: TeamDatabase, capsys: pytest.CaptureFixture[str]) -> None:
    asked = {
        ("setup",): "a role with CREATE on the database",
        ("add", "shop", "ann"): "only an administrator of shop",
        ("add", "my shop", "ann"): "'my shop' is no name of a project",
    }
    for arguments, said in asked.items():
        assert run(["team", *arguments, "--to", shop.url("bob")]) == 1
        error = capsys.readouterr().err
        assert said in error
        assert "--as" not in error
    shop.execute("CREATE ROLE fresh LOGIN")
    assert run(["team", "add", "shop", "fresh", "--to", shop.url("root_of_all")]) == 1
    shop.execute("DROP ROLE fresh")  # roles are those of all databases of the server
    assert "only a role with CREATEROLE open the tables to fresh" in capsys.readouterr().err


@pytest.mark.parametrize(("folder", "said"), [("my shop", "is no name of a project"), ("frontend", "is no member of")])
def test_a_first_sync_that_the_server_refuses_leaves_no_memory(
    shop: TeamDatabase,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    folder: str,
    said: str,
) -> None:
    here = tmp_path / folder
    (here / ".git").mkdir(parents=True)
    monkeypatch.chdir(here)
    assert run(["sync", "--to", shop.url("bob")]) == 1
    error = capsys.readouterr().err
    assert said in error
    assert "`helix-graph sync --to --as NAME`" in error
    assert not (here / ".helix").exists()
    monkeypatch.setenv("HELIX_DATABASE", shop.url("bob"))
    assert run(["sync", "--to", "--as", "shop"]) == 0
    assert (here / ".helix").exists()
    assert run(["sync", "--to", "--as", "nosuch"]) == 1
    assert "if the project has another name there" not in capsys.readouterr().err


def test_what_one_became_is_said(shop: TeamDatabase, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["--role", "reader"], ["--role", "member"]):
        assert run(["team", "add", "bakery", "bob", *arguments, "--to", shop.url()]) == 0
    assert run(["team", "remove", "bakery", "bob", "--to", shop.url()]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == ["bob is a reader of bakery.", "bob is a member of bakery.", "bob is no member of bakery."]
