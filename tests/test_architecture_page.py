"""Is the page on the architecture true: do its modules exist, none missing, are the layers those that are checked?"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from whole_tables import each_row

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "internals" / "architecture.md").read_text(encoding="utf-8")
PACKAGES = ("episodes/helix_episodes", "helix_graph", "cli/helix_cli")
#: What stands in code on the page and has a place in the tree: where its paths begin.
BEGINNINGS = ("", "docs", *PACKAGES)
#: Where every module has a line of its own.
DESCRIBED = ("helix_graph/graph", "helix_graph/insights", "helix_graph/causality", "episodes/helix_episodes/extraction")
#: The sections whose code names files of the repository and not of a memory.
WITH_PATHS = ("Three packages", "Where do I make a change?", "Rules that hold everywhere")


def section(title: str) -> str:
    """What the page says below a heading."""
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE)
    assert found, title
    return found[1]


def listed() -> tuple[set[str], set[str]]:
    """The paths in the trees of the page; and of these, the packages whose modules are listed too."""
    paths: set[str] = set()
    opened: set[str] = set()
    for block in re.findall(r"```\n(.*?)```", section("Modules"), re.DOTALL):
        above: list[str] = []
        for line in block.splitlines():
            found = re.match(r"( *)(\S+)", line)
            assert found, "an empty line"
            indent, name = found.groups()
            above = above[: len(indent) // 2]
            if name == "modules:":
                paths |= {"/".join([*above, f"{module}.py"]) for module in line.split()[1:]}
                opened.add("/".join(above))
                continue
            assert name.endswith((".py", "/")), line
            if above:
                opened.add("/".join(above))
            above.append(name.rstrip("/"))
            paths.add("/".join(above))
    return paths, opened


LISTED, OPENED = listed()


def modules_in(folder: str) -> set[str]:
    """The modules and packages directly in a package, as the page names them."""
    return {
        str(path.relative_to(ROOT))
        for path in (ROOT / folder).iterdir()
        if (path.suffix == ".py" and not path.stem.startswith("__")) or (path / "__init__.py").exists()
    }


def test_every_path_in_the_trees_exists() -> None:
    assert len(LISTED) > 200
    assert [path for path in sorted(LISTED) if not (ROOT / path).exists()] == []


@each_row("package", sorted(OPENED))
def test_a_package_that_is_opened_lists_all_its_modules(package: str) -> None:
    assert modules_in(package) - LISTED == set()


def test_the_important_packages_are_opened() -> None:
    below = {str(path.parent.relative_to(ROOT)) for one in DESCRIBED for path in (ROOT / one).rglob("__init__.py")}
    assert {*PACKAGES, *below} - OPENED == set()


def test_paths_in_the_text_exist() -> None:
    named = set(re.findall(r"`([\w./-]+(?:/|\.py|\.md|\.toml))`", "\n".join(map(section, WITH_PATHS))))
    assert len(named) > 30
    assert [one for one in sorted(named) if not any((ROOT / place / one).exists() for place in BEGINNINGS)] == []


def test_names_to_change_are_in_the_files_named_with_them() -> None:
    rows = [row for row in section("Where do I make a change?").splitlines() if row.startswith("| ")][2:]
    assert len(rows) > 15
    missing: list[tuple[str, str]] = []
    for row in rows:
        named = re.findall(r"`([^`]+)`", row)
        texts = "".join(text_of(one) for one in named if "/" in one or one.endswith(".py"))
        missing += [(row, one) for one in named if re.fullmatch(r"_?[A-Z]\w+", one) and one not in texts]
    assert missing == []


def text_of(path: str) -> str:
    """The text of a file or of a folder's modules, wherever the path begins."""
    for place in BEGINNINGS:
        found = ROOT / place / path
        if found.is_dir():
            return "".join(one.read_text(encoding="utf-8") for one in found.glob("*.py"))
        if found.is_file():
            return found.read_text(encoding="utf-8")
    return ""


@pytest.mark.parametrize(("column", "package"), [(0, "helix_graph"), (1, "helix_episodes")])
def test_the_layers_are_those_that_import_linter_checks(column: int, package: str) -> None:
    tools = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    (layers,) = [one["layers"] for one in tools["importlinter"]["contracts"] if one.get("containers") == [package]]
    (block,) = re.findall(r"```\nhelix_graph +helix_episodes\n(.*?)```", section("Three packages"), re.DOTALL)
    rows = [re.split(r"  +", line)[1:] for line in block.splitlines()]
    shown = [row[column] for row in rows if column < len(row)]  # the packages have more and fewer layers
    assert shown == layers
