"""Paths in an episode: relative to the repository where they can be, and the role a file plays in it."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from helix_episodes.redaction import redact_text

if TYPE_CHECKING:
    from helix_episodes.model import Role

_DEPENDENCIES = re.compile(
    r"(^|/)(go\.(mod|sum|work)|package(-lock)?\.json|yarn\.lock|pnpm-lock\.yaml|cargo\.(toml|lock)|"
    r"requirements[\w.-]*\.txt|constraints[\w.-]*\.txt|pyproject\.toml|poetry\.lock|uv\.lock|pipfile(\.lock)?|"
    r"gemfile(\.lock)?|composer\.(json|lock)|pom\.xml|build\.gradle(\.kts)?|[\w.-]+\.csproj|packages\.config)$"
)
_CI = re.compile(
    r"(^|/)(\.github/(workflows|actions)/|\.gitlab-ci|\.circleci/|azure-pipelines|jenkinsfile$|\.travis\.yml$)"
)
_TEST = re.compile(
    r"(^|/)(tests?|testdata|__tests__|specs?|integration_test|e2e)/|(^|/)test_[^/]+$|[_.-](test|tests|spec)\.\w+$|"
    r"(^|/)conftest\.py$|test(s|case)?\.(java|kt|cs|swift|php)$"
)
#: A file that holds tests and serves no other, as its name without the folder tells.
_TEST_FILE = re.compile(r"test_[\w.-]+\.\w+|[\w.-]+[_.-](?:test|tests|spec)\.\w+")
_DOCS = re.compile(r"\.(md|mdx|rst|adoc|txt)$|(^|/)docs?/|(^|/)(readme|license|changelog|contributing)(\.|$)")
_CONFIG = re.compile(
    r"\.(ya?ml|toml|ini|cfg|conf|json|jsonc|json5|properties|env|editorconfig|xml)$|(^|/)\.[\w.-]+$|"
    r"(^|/)(dockerfile|makefile|justfile|procfile|taskfile)([.\w-]*)$"
)
#: First match wins: a test's YAML fixture is a test, a workflow is CI before it is configuration.
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("dependencies", _DEPENDENCIES),
    ("ci", _CI),
    ("test", _TEST),
    ("docs", _DOCS),
    ("config", _CONFIG),
)


@lru_cache(maxsize=4096)  # the same few files are changed in most sessions
def role_of(path: str) -> Role:
    """What a file is for, from its name alone.

    >>> role_of("cmd/cli/settings_test.go"), role_of(".github/workflows/ci.yml"), role_of("src/app.py")
    ('test', 'ci', 'source')
    """
    name = path.replace("\\", "/").lower()
    found: list[Role] = [role for role, pattern in _ROLES if pattern.search(name)]
    return found[0] if found else "source"


@lru_cache(maxsize=1024)
def is_test_file(path: str) -> bool:
    """Whether a file holds tests and serves no other; a test within it may be named after its path.

    >>> is_test_file("cart/test_cart.py::test_total"), is_test_file("tests/conftest.py")
    (True, False)
    """
    return bool(_TEST_FILE.fullmatch(file_name(path.partition("::")[0])))


@lru_cache(maxsize=1024)
def relative(path: str, *, root: str | None) -> str:
    r"""``path`` from the repository's root on; elsewhere as it is, with the home folder cut.

    One file has many names: Windows knows no case and lets Git Bash and its Linux write drives in their own way, and
    macOS keeps ``/tmp`` and ``/var`` in ``/private``.

    >>> relative("/Users/ann/shop/src/app.py", root="/Users/ann/shop")
    'src/app.py'
    >>> relative("/mnt/c/work/shop/src/App.cs", root=r"C:\Work\Shop"), relative("/private/tmp/x/a.py", root="/tmp/x")
    ('src/App.cs', 'a.py')
    """
    name, base = path.replace("\\", "/"), (root or "").replace("\\", "/").rstrip("/")
    whole, start = _canonical(name), _canonical(base)
    if base and whole.startswith(f"{start}/"):
        below = whole.count("/") - start.count("/")
        return "/".join(name.split("/")[-below:])
    return redact_text(name)


_DRIVE = re.compile(r"(?://\?/)?([A-Za-z]):(?=/|$)|/(?:mnt/)?([A-Za-z])(?=/|$)")
_PRIVATE = re.compile(r"/private(?=/(?:tmp|var|etc)(?:/|$))")


def _canonical(name: str) -> str:
    """One name for all the names of a path, for comparing."""
    drive = _DRIVE.match(name)
    if drive:
        return f"{drive[1] or drive[2]}:{name[drive.end() :]}".casefold()
    private = _PRIVATE.match(name)
    return name[private.end() :] if private else name


def is_outside(path: str) -> bool:
    """Whether a path, as `relative` gives it, leads out of the repository.

    >>> is_outside("/tmp/scratch.py"), is_outside("~/notes.md"), is_outside("src/app.py")
    (True, True, False)
    """
    return path.startswith(("/", "~", "$TMP", "../")) or path[1:3] == ":/"


def file_name(path: str) -> str:
    """The last part of a path, for comparing what different tools say of the same file."""
    return path.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]
