"""Which language a check is of, and so which files it can have looked at.

A compiler reads the sources of its language and the files that configure it, a linter no more than that. Tests may read
any data, but no program text of another language. A check of unknown language, such as a task, may read anything.
"""

from __future__ import annotations

from helix_episodes.extraction.paths import role_of

_CHECKS_OF = {
    "go": "go golangci-lint gofmt gofumpt goimports staticcheck revive gosec",
    "rust": "cargo rustc rustfmt",
    "javascript": """
        bun npm npx yarn pnpm tsc vue-tsc vitest jest mocha ava eslint oxlint biome prettier next vite webpack rollup
        tsup playwright cypress svelte-check
    """,
    "python": "pytest unittest mypy pyright basedpyright ruff black isort flake8 pylint ty",
    "dotnet": "dotnet msbuild",
    "jvm": "mvn gradle javac kotlinc ktlint detekt",
    "swift": "swift xcodebuild swiftlint swiftformat",
}
_LANGUAGE_OF = {check: language for language, checks in _CHECKS_OF.items() for check in checks.split()}
_SOURCES = {
    "go": "go mod sum work s c h",
    "rust": "rs",
    "javascript": """
        js jsx ts tsx mjs cjs mts cts json jsonc css scss less html vue svelte astro graphql snap
    """,
    "python": "py pyi pyx ipynb",
    "dotnet": "cs fs vb csproj fsproj vbproj sln props targets resx cshtml razor",
    "jvm": "java kt kts scala groovy gradle properties xml",
    "swift": "swift m h plist",
}
_SOURCES_OF = {language: frozenset(suffixes.split()) for language, suffixes in _SOURCES.items()}
#: Program text that no test of another language takes for data.
_PROGRAM_TEXT = frozenset({
    "go", "rs", "js", "jsx", "ts", "tsx", "py", "java", "kt", "cs", "swift", "rb", "php", "ps1", "bat",
})  # fmt: skip
#: It formats prose and configuration as well.
_OF_ANY_TEXT = frozenset({"prettier"})
#: Tools whose name says little: the scripts of a package run anything.
_RUNS_SCRIPTS = frozenset({"bun", "npm", "npx", "yarn", "pnpm"})


def language_of(check: str) -> str | None:
    """The language that a check is of, as far as its name tells."""
    return _LANGUAGE_OF.get(check.partition(" ")[0])


#: Endings in a language's sources that only some of its checks read: data, styles, what a build is configured by.
_BESIDES = frozenset({
    "json", "jsonc", "css", "scss", "less", "html", "graphql", "snap", "sum", "work", "xml", "properties", "plist",
    "resx", "props", "targets",
})  # fmt: skip


def is_source_for(check: str, path: str, kind: str) -> bool:
    """Whether a check of that kind reads every file with this one's ending: program text of its own language.

    >>> is_source_for("biome", "styles.css", "lint"), is_source_for("go test", "cart/cart.go", "test")
    (False, True)
    >>> is_source_for("mise lint", "deny.toml", "lint"), is_source_for("go build", "cart_test.go", "build")
    (False, False)
    >>> is_source_for("bun css:build", "cart.tsx", "build")
    False
    """
    name = path.replace("\\", "/").lower().rpartition("/")[2]
    suffix, language = name.rpartition(".")[2], language_of(check)
    if language is None or (check == "tsc" and suffix not in {"ts", "tsx", "mts", "cts"}):
        return False
    if kind == "build" and (role_of(path) == "test" or "css" in check):
        return False
    return suffix in _SOURCES_OF[language] and suffix not in _BESIDES


def may_read(check: str, path: str, *, tests: bool) -> bool:
    """Whether a check can have looked at a file; ``tests`` is true for one that runs tests. No path may be any.

    >>> may_read("go build", "README.md", tests=False), may_read("go test", "testdata/cart.json", tests=True)
    (False, True)
    >>> may_read("golangci-lint", ".golangci.yml", tests=False), may_read("make lint", "x.ps1", tests=False)
    (True, True)
    """
    program, language = check.partition(" ")[0], language_of(check)
    if not path or language is None or program in _OF_ANY_TEXT or (program in _RUNS_SCRIPTS and check != "bun test"):
        return True
    name = path.replace("\\", "/").lower().rpartition("/")[2]
    suffix, role = name.rpartition(".")[2], role_of(path)
    if suffix in _SOURCES_OF[language] or (role == "dependencies" and suffix not in _PROGRAM_TEXT):
        return True
    if name.startswith(".git") or role in {"ci", "docs"}:
        return False
    return (tests and suffix not in _PROGRAM_TEXT) or program.partition("-")[0] in name
