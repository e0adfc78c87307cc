"""Are the paths of Windows and macOS understood: made relative, given a role, and cut at the home folder?"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from helix_episodes.extraction.paths import file_name, relative, role_of
from helix_episodes.redaction import redact_text
from whole_tables import each_row

if TYPE_CHECKING:
    from collections.abc import Callable

    from helix_episodes.model import Episode
    from session_script import Script


@each_row(
    ("path", "root", "expected"),
    [
        (r"C:\Users\ann\shop\src\app.py", r"C:\Users\ann\shop", "src/app.py"),
        (r"c:\Users\ann\shop\src\app.py", "C:\\Users\\ann\\shop\\", "src/app.py"),
        ("C:/Users/ann/shop/src/app.py", r"c:\users\ANN\shop", "src/app.py"),
        (r"\\?\C:\Users\ann\shop\src\app.py", r"C:\Users\ann\shop", "src/app.py"),
        ("/c/Users/ann/shop/src/app.py", r"C:\Users\ann\shop", "src/app.py"),
        ("/mnt/c/Users/ann/shop/src/app.py", r"C:\Users\ann\shop", "src/app.py"),
        (r"\\server\share\shop\app.py", r"\\server\share\shop", "app.py"),
        ("/private/tmp/shop/app.py", "/tmp/shop", "app.py"),  # noqa: S108  (read, not used)
        ("/tmp/shop/app.py", "/private/tmp/shop", "app.py"),  # noqa: S108  (as above)
        ("/private/var/folders/x1/y/T/shop/app.py", "/var/folders/x1/y/T/shop", "app.py"),
        ("/Users/ann/shop/app.py", "/Users/ann/shop/", "app.py"),
        ("/work/Shop/app.py", "/work/shop", "/work/Shop/app.py"),
        ("/work/shop", "/work/shop", "/work/shop"),
        ("/work/shopping/app.py", "/work/shop", "/work/shopping/app.py"),
        (r"src\app.py", r"C:\Users\ann\shop", "src/app.py"),
        (r"C:\Users\ann\other\app.py", r"C:\Users\ann\shop", "~/other/app.py"),
        (r"D:\other\app.py", None, "D:/other/app.py"),
        ("/Users/ann/other/app.py", None, "~/other/app.py"),
        ("/mnt/c/Users/ann/other/app.py", None, "~/other/app.py"),
    ],
)  # fmt: skip
def test_paths_are_relative_to_the_root_however_they_are_written(path: str, root: str | None, expected: str) -> None:
    assert relative(path, root=root) == expected


@each_row(
    ("text", "expected"),
    [
        (r"open C:\Users\ann\shop\a.py", r"open ~\shop\a.py"),
        (r'{"path": "C:\\Users\\ann\\a.py"}', r'{"path": "~\\a.py"}'),
        ("open C:/Users/ann/shop/a.py", "open ~/shop/a.py"),
        ("open c:/users/ann/a.py", "open ~/a.py"),
        ("cd /mnt/c/Users/ann/shop", "cd ~/shop"),
        ("cd /c/Users/ann/shop", "cd ~/shop"),
        ("file:///C:/Users/ann/a.py", "file:///~/a.py"),
        ("file:///Users/ann/a.py", "file://~/a.py"),
        (r"C:\Documents and Settings\ann\a.py", r"~\a.py"),
        ("ls ~/.claude/projects/C--Users-ann-shop", "ls ~/.claude/projects/C--~-shop"),
        (r"C:\Users\Public\a.py", r"C:\Users\Public\a.py"),
        ("/private/var/folders/x/a.py", "/private/var/folders/x/a.py"),
    ],
)
def test_home_folders_are_cut_however_they_are_written(text: str, expected: str) -> None:
    assert redact_text(text) == expected
    assert redact_text(expected) == expected


def test_roles_and_names_are_the_same_with_backslashes() -> None:
    paths = [r"src\app.py", r"tests\test_app.py", r".github\workflows\ci.yml", r"docs\a.md"]
    assert [role_of(path) for path in paths] == ["source", "test", "ci", "docs"]
    assert file_name(r"C:\shop\src\app.py") == file_name("/work/shop/src/app.py") == "app.py"


@pytest.mark.parametrize("root", [r"C:\Users\ann\shop", "/private/tmp/shop", "/Users/ann/shop"])
def test_a_session_on_another_system_is_extracted_alike(
    root: str, script: Callable[..., Script], episode_of: Callable[[Script], Episode]
) -> None:
    one = script("s", root=root).prompt("Fix it").write("src/cart.py").run("pytest -q", "1 passed in 0.1s")
    episode = episode_of(one)
    assert episode.decisions[0].chosen == "create src/cart.py"
    assert episode.project == "shop"
    assert "ann" not in str(episode)
