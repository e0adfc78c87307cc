"""Is one issue recognised wherever it is met, and kept apart from every other? Examples in the form of each tool."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import pytest

from helix_episodes.extraction.fingerprints import Diagnostic, diagnostics_in, is_noise, keys_of_text
from whole_tables import each_row


class Example(NamedTuple):
    """An output, one of the same issue at another place, one of another issue, and what its diagnostic names."""

    tool: str
    output: str
    same: str
    other: str
    names: Mapping[str, str] = MappingProxyType({})


EXAMPLES = (
    Example(
        "pytest",
        "FAILED tests/test_cart.py::TestSum::test_add[1-2] - ValueError: 3 is not 4\n1 failed in 0.12s",
        (
            "/w/tests/test_cart.py::TestSum::test_add FAILED\nFAILED "
            "tests/test_cart.py::TestSum::test_add[7] - ValueError: no"
        ),
        "FAILED tests/test_cart.py::TestSum::test_remove - ValueError: 3 is not 4",
        {"file": "tests/test_cart.py", "test": "tests/test_cart.py::TestSum::test_add[1-2]", "raised": "ValueError"},
    ),
    Example(
        "unittest",
        "FAIL: test_add (tests.test_cart.SumTest.test_add)\n-----\nTraceback (most recent call last):",
        "ERROR: test_add (tests.test_cart.SumTest)",
        "FAIL: test_remove (tests.test_cart.SumTest.test_remove)",
    ),
    Example(
        "tox",
        "py39: skipped because could not find python interpreter with spec(s): py39\n  py39: SKIP (0.01 seconds)",
        "could not find python interpreter with spec(s): py39",
        "py38: failed with could not find python interpreter with spec(s): py38",
    ),
    Example(
        "ruff",
        "shop/cart.py:3:8: F401 [*] `os` imported but unused\nFound 1 error.",
        "F401 [*] `os` imported but unused\n --> lib/price.py:1:8",
        "shop/cart.py:4:8: F401 [*] `sys` imported but unused",
        {"rule": "F401", "symbol": "os", "file": "shop/cart.py"},
    ),
    Example(
        "flake8",
        "./shop/cart.py:12:80: E501 line too long (82 > 79 characters)",
        "lib/price.py:7:80: E501 line too long (120 > 79 characters)",
        "./shop/cart.py:12:80: W291 trailing whitespace",
        {"rule": "E501", "file": "./shop/cart.py"},
    ),
    Example(
        "mypy",
        'shop/cart.py:9: error: Argument 1 to "add" has incompatible type "str"; expected "int"  [arg-type]',
        'lib/sum.py:21:5: error: Argument 1 to "add" has incompatible type "str"; expected "int"  [arg-type]',
        'shop/cart.py:9: error: Argument 1 to "put" has incompatible type "str"; expected "int"  [arg-type]',
        {"rule": "arg-type", "symbol": "add"},
    ),
    Example(
        "pyright",
        '  /w/shop/cart.py:9:5 - error: "total" is possibly unbound (reportPossiblyUnbound)\n1 error, 0 warnings',
        '  /x/lib/sum.py:2:1 - error: "total" is possibly unbound (reportPossiblyUnbound)',
        '  /w/shop/cart.py:9:5 - error: "price" is possibly unbound (reportPossiblyUnbound)',
        {"rule": "reportPossiblyUnbound", "symbol": "total"},
    ),
    Example(
        "jest",
        "FAIL src/cart.test.js\n  \u25cf cart \u203a adds two prices\n\n    expect(received).toBe(expected)",
        "  \u25cf cart \u203a adds two prices",
        "FAIL src/cart.test.js\n  \u25cf cart \u203a removes a price",
        {"file": "src/cart.test.js", "test": "cart \u203a adds two prices"},
    ),
    Example(
        "vitest",
        " FAIL  src/cart.test.ts > cart > adds two prices\nAssertionError: expected 3 to be 4",
        " FAIL  |unit| src/cart.test.ts > cart > adds two prices",
        " FAIL  src/cart.test.ts > cart > removes a price",
        {"file": "src/cart.test.ts", "test": "cart > adds two prices"},
    ),
    Example(
        "mocha",
        "  1 failing\n\n  1) cart\n       adds two prices:\n     AssertionError: expected 3 to equal 4",
        "  2) cart\n       adds two prices:",
        "  1) cart\n       removes a price:",
        {"test": "cart > adds two prices"},
    ),
    Example(
        "playwright",
        "  1) [chromium] \u203a tests/cart.spec.ts:12:3 \u203a cart \u203a adds two prices \u2500\u2500\u2500\u2500",
        "    [firefox] \u203a tests/cart.spec.ts:40:3 \u203a cart \u203a adds two prices",
        "  1) [chromium] \u203a tests/cart.spec.ts:12:3 \u203a cart \u203a removes a price \u2500\u2500",
        {"file": "tests/cart.spec.ts", "test": "cart \u203a adds two prices"},
    ),
    Example(
        "tsc",
        "src/cart.ts(12,5): error TS2304: Cannot find name 'total'.\nFound 1 error.",
        "lib/sum.ts:3:1 - error TS2304: Cannot find name 'total'.",
        "src/cart.ts(12,5): error TS2304: Cannot find name 'price'.",
        {"file": "src/cart.ts", "rule": "TS2304", "symbol": "total"},
    ),
    Example(
        "eslint",
        (
            "/w/src/cart.js\n  12:5  error  'total' is assigned a value but never used  "
            "no-unused-vars\n\n\u2716 1 problem"
        ),
        "/x/lib/sum.js\n  3:1  error  'total' is assigned a value but never used  no-unused-vars",
        "/w/src/cart.js\n  12:5  error  'price' is assigned a value but never used  no-unused-vars",
        {"file": "/w/src/cart.js", "rule": "no-unused-vars", "symbol": "total"},
    ),
    Example(
        "biome",
        (
            "src/cart.ts:12:5 lint/suspicious/noDoubleEquals \u2501\u2501\u2501\u2501\n\n  \u00d7 "
            "Using == may be unsafe."
        ),
        (
            "lib/sum.ts:3:1 lint/suspicious/noDoubleEquals  FIXABLE  \u2501\u2501\u2501\n\n  "
            "\u00d7 Using == may be unsafe."
        ),
        (
            "src/cart.ts:12:5 lint/style/useConst \u2501\u2501\u2501\n\n  \u00d7 This let "
            "declares a variable that is only assigned once."
        ),
        {"file": "src/cart.ts", "rule": "noDoubleEquals"},
    ),
    Example(
        "npm",
        (
            'npm error Missing script: "verify"\nnpm error\nnpm error To see a list of scripts, '
            "run:\nnpm error   npm run"
        ),
        'npm ERR! missing script: "verify"'.replace("missing", "Missing"),
        'npm error Missing script: "check"',
        {"symbol": "verify"},
    ),
    Example(
        "pnpm",
        " ERR_PNPM_NO_SCRIPT\u2009 Missing script: verify",
        "\u2009ERR_PNPM_NO_SCRIPT\u2009 Missing script: verify",
        " ERR_PNPM_NO_SCRIPT\u2009 Missing script: check",
        {"rule": "ERR_PNPM_NO_SCRIPT"},
    ),
    Example(
        "yarn",
        "\u27a4 YN0028: \u2502 The lockfile would have been modified by this install, which is explicitly forbidden.",
        "YN0028: The lockfile would have been modified by this install, which is explicitly forbidden.",
        "\u27a4 YN0001: \u2502 RequestError: socket hang up",
        {"rule": "YN0028"},
    ),
    Example(
        "bun",
        'error: Script not found "verify"',
        '$ bun run verify\nerror: Script not found "verify"',
        'error: Script not found "check"',
    ),
    Example(
        "bun test",
        "(fail) cart > adds two prices [0.54ms]\n\n 1241 pass\n 1 fail",
        "(fail) cart > adds two prices [1.20ms]",
        "(fail) cart > removes a price [0.54ms]",
        {"test": "cart > adds two prices [0.54ms]"},
    ),
    Example(
        "go test",
        "--- FAIL: TestAdd (0.01s)\n    cart_test.go:12: got 3\nFAIL\nFAIL\texample.com/shop\t0.012s",
        "    --- FAIL: TestAdd/two_prices (0.00s)",
        "--- FAIL: TestRemove (0.01s)",
        {"test": "TestAdd"},
    ),
    Example(
        "go build",
        "# example.com/shop/cart\ncart/cart.go:12:5: undefined: total",
        "vet: store/sum.go:3:1: undefined: total",
        "# example.com/shop/cart\ncart/cart.go:12:5: undefined: price",
        {"file": "cart/cart.go", "symbol": "total"},
    ),
    Example(
        "golangci-lint",
        "cart.go:12:5: Error return value of `os.Remove` is not checked (errcheck)\n1 issues:\n* errcheck: 1",
        "[lint] store/sum.go:3:1: Error return value of `os.Remove` is not checked (errcheck)",
        "cart.go:12:5: Error return value of `os.Chdir` is not checked (errcheck)",
        {"file": "cart.go", "rule": "errcheck", "symbol": "os.Remove"},
    ),
    Example(
        "rustc",
        "error[E0425]: cannot find value `total` in this scope\n --> src/cart.rs:12:5\n  |",
        "error[E0425]: cannot find value `total` in this scope\n --> src/sum.rs:3:1",
        "error[E0425]: cannot find value `price` in this scope\n --> src/cart.rs:12:5",
        {"file": "src/cart.rs", "rule": "E0425", "symbol": "total"},
    ),
    Example(
        "cargo test",
        "test cart::tests::adds_two_prices ... FAILED\n\ntest result: FAILED. 3 passed; 1 failed; 0 ignored",
        "thread 'cart::tests::adds_two_prices' panicked at src/cart.rs:12:5:",
        "test cart::tests::removes_a_price ... FAILED",
        {"test": "cart::tests::adds_two_prices"},
    ),
    Example(
        "clippy",
        (
            "warning: this loop could be written as a `for` loop\n --> src/cart.rs:12:5\n  = "
            "note: `#[warn(clippy::while_let_on_iterator)]` on by default"
        ),
        "error: this loop could be written as a `for` loop\n --> src/sum.rs:3:1",
        "warning: redundant clone\n --> src/cart.rs:12:5",
        {"rule": "clippy::while_let_on_iterator"},
    ),
    Example(
        "gradle",
        (
            "> Task :test FAILED\n\nCartTest > addsTwoPrices() FAILED\n    "
            "org.opentest4j.AssertionFailedError at CartTest.java:12"
        ),
        "CartTest > addsTwoPrices() FAILED",
        "CartTest > removesAPrice() FAILED",
        {"test": "CartTest > addsTwoPrices()"},
    ),
    Example(
        "maven",
        (
            "[ERROR] Failures: \n[ERROR]   CartTest.addsTwoPrices:12 expected: <4> but was: <3>\n"
            "[INFO] \n[ERROR] BUILD FAILURE"
        ),
        "[ERROR]   CartTest.addsTwoPrices:40 expected: <9> but was: <8>",
        "[ERROR]   CartTest.removesAPrice:12 expected: <4> but was: <3>",
        {"test": "CartTest.addsTwoPrices"},
    ),
    Example(
        "javac",
        (
            "src/Cart.java:12: error: cannot find symbol\n    total();\n    ^\n  symbol:   method "
            "total()\n  location: class Cart"
        ),
        "[ERROR] /w/src/Sum.java:[3,9] cannot find symbol\n[ERROR]   symbol:   method total()",
        "src/Cart.java:12: error: cannot find symbol\n    price();\n    ^\n  symbol:   method price()",
        {"file": "src/Cart.java"},
    ),
    Example(
        "kotlinc",
        "e: file:///w/src/Cart.kt:12:5 Unresolved reference: total",
        "e: /x/src/Sum.kt: (3, 9): Unresolved reference: total",
        "e: file:///w/src/Cart.kt:12:5 Unresolved reference: price",
        {"symbol": "total"},
    ),
    Example(
        "cmake",
        (
            "CMake Error at CMakeLists.txt:12 (find_package):\n\n  Could not find a package "
            'configuration file provided by "Boost" with any of\n\n-- Configuring incomplete, '
            "errors occurred!"
        ),
        (
            "CMake Error at lib/CMakeLists.txt:3 (find_package):\n  Could not find a package "
            'configuration file provided by "Boost" with any of'
        ),
        (
            "CMake Error at CMakeLists.txt:12 (find_package):\n  Could not find a package "
            'configuration file provided by "Qt6" with any of'
        ),
        {"file": "CMakeLists.txt", "symbol": "Boost"},
    ),
    Example(
        "ctest",
        "3/5 Test #3: adds_two_prices ..................***Failed    0.01 sec\n\nThe following tests FAILED:",
        "\t  3 - adds_two_prices (Failed)",
        "3/5 Test #3: removes_a_price ..................***Failed    0.01 sec",
        {"test": "adds_two_prices"},
    ),
    Example(
        "make",
        "make: *** No rule to make target 'cart.o', needed by 'shop'.  Stop.",
        "make[2]: *** No rule to make target 'cart.o', needed by 'shop'.  Stop.",
        "make: *** No rule to make target 'price.o', needed by 'shop'.  Stop.",
        {"symbol": "cart.o"},
    ),
    Example(
        "gcc",
        (
            "src/cart.c: In function 'main':\nsrc/cart.c:12:5: error: 'total' undeclared (first "
            "use in this function)\nmake: *** [Makefile:3: all] Error 1"
        ),
        "lib/sum.c:3:1: error: 'total' undeclared (first use in this function)",
        "src/cart.c:12:5: error: 'price' undeclared (first use in this function)",
        {"file": "src/cart.c", "symbol": "total"},
    ),
    Example(
        "clang",
        "src/cart.cpp:12:5: error: unused variable 'total' [-Werror,-Wunused-variable]\n1 error generated.",
        "lib/sum.cpp:3:1: error: unused variable 'total' [-Werror,-Wunused-variable]",
        "src/cart.cpp:12:5: error: unused variable 'price' [-Werror,-Wunused-variable]",
        {"rule": "unused-variable", "symbol": "total"},
    ),
    Example(
        "ld",
        (
            "/usr/bin/ld: /tmp/ccA1b2C3.o: in function `main':\ncart.c:(.text+0x15): undefined "
            "reference to `total'\ncollect2: error: ld returned 1 exit status"
        ),
        "sum.c:(.text+0x40): undefined reference to `total'",
        "cart.c:(.text+0x15): undefined reference to `price'",
    ),
    Example(
        "dotnet build",
        "/w/Cart.cs(12,5): error CS0103: The name 'total' does not exist in the current context [/w/Shop.csproj]",
        "Sum.cs(3,1): error CS0103: The name 'total' does not exist in the current context",
        "/w/Cart.cs(12,5): error CS0103: The name 'price' does not exist in the current context [/w/Shop.csproj]",
        {"rule": "CS0103", "symbol": "total"},
    ),
    Example(
        "dotnet test",
        "  Failed Shop.CartTests.AddsTwoPrices [12 ms]\n  Error Message:\n   Assert.Equal() Failure",
        "  Failed Shop.CartTests.AddsTwoPrices(a: 1) [3 ms]",
        "  Failed Shop.CartTests.RemovesAPrice [12 ms]",
        {"test": "Shop.CartTests.AddsTwoPrices"},
    ),
    Example(
        "rspec",
        "Failed examples:\n\nrspec ./spec/cart_spec.rb:12 # Cart adds two prices",
        "rspec ./spec/cart_spec.rb:40 # Cart adds two prices",
        "rspec ./spec/cart_spec.rb:12 # Cart removes a price",
        {"file": "./spec/cart_spec.rb", "test": "Cart adds two prices"},
    ),
    Example(
        "rubocop",
        "app/cart.rb:12:5: W: [Correctable] Lint/UselessAssignment: Useless assignment to variable - total.",
        "lib/sum.rb:3:1: W: Lint/UselessAssignment: Useless assignment to variable - total.",
        "app/cart.rb:12:5: W: Lint/UselessAssignment: Useless assignment to variable - price.",
        {"file": "app/cart.rb", "rule": "Lint/UselessAssignment"},
    ),
    Example(
        "bundler",
        "Could not find gem 'rails (~> 7.1)' in locally installed gems.",
        "Could not find gem 'rails (~> 7.2)' in locally installed gems.",
        "Could not find gem 'puma (~> 7.1)' in locally installed gems.",
    ),
    Example(
        "phpunit",
        (
            "There was 1 failure:\n\n1) Tests\\CartTest::testAdds with data set #0 (1, 2)\nFailed "
            "asserting that 3 matches 4."
        ),
        "3) Tests\\CartTest::testAdds",
        "1) Tests\\CartTest::testRemoves",
        {"test": "Tests\\CartTest::testAdds"},
    ),
    Example(
        "terraform",
        (
            '\u2577\n\u2502 Error: Reference to undeclared resource "aws_vpc" "main"\n\u2502 \n'
            '\u2502   on main.tf line 12, in output "vpc":'
        ),
        (
            '\u2502 Error: Reference to undeclared resource "aws_vpc" "main"\n\u2502   on net.tf '
            'line 3, in output "vpc":'
        ),
        "\u2502 Error: Unsupported argument\n\u2502   on main.tf line 12",
        {"file": "main.tf"},
    ),
    Example(
        "docker",
        'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
        'failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1',
        "ERROR: failed to solve: node:99: not found",
    ),
    Example(
        "kubectl",
        'Error from server (NotFound): deployments.apps "cart" not found',
        'Error from server (NotFound): deployments.apps "cart" not found\n',
        'Error from server (NotFound): deployments.apps "price" not found',
        {"rule": "NotFound", "symbol": "cart"},
    ),
    Example(
        "shellcheck",
        "In deploy.sh line 12:\nrm $dir\n   ^--^ SC2086 (info): Double quote to prevent globbing and word splitting.",
        "build.sh:3:5: note: Double quote to prevent globbing and word splitting. [SC2086]",
        "In deploy.sh line 12:\ncd src\n^----^ SC2164 (warning): Use 'cd ... || exit' in case cd fails.",
        {"file": "deploy.sh", "rule": "SC2086"},
    ),
    Example(
        "pre-commit",
        (
            "trim trailing whitespace.................................................Failed\n- "
            "hook id: trailing-whitespace\n- exit code: 1"
        ),
        "Trim Trailing Whitespace........Failed\n- hook id: trailing-whitespace".replace(
            "Trim Trailing Whitespace", "trim trailing whitespace"
        ),
        "check yaml...............................................................Failed\n- hook id: check-yaml",
        {"rule": "trailing-whitespace"},
    ),
    Example(
        "gh",
        "lint\tpass\t9s\thttps://x/2\nnightly\tfail\t1m35s\thttps://x/1",
        "JOBS\nX nightly in 2m3s (ID 4)\n  X Run cargo test",
        "docs\tfail\t1m35s\thttps://x/1",
    ),
    Example(
        "git",
        "Auto-merging shop/cart.py\nCONFLICT (content): Merge conflict in shop/cart.py\nAutomatic merge failed",
        "CONFLICT (content): Merge conflict in shop/cart.py",
        "CONFLICT (content): Merge conflict in shop/price.py",
    ),
)


def _first(output: str) -> Diagnostic:
    found = diagnostics_in(output)
    assert found, f"no diagnostic in {output!r}"
    return found[0]


@each_row("example", EXAMPLES, ids=lambda one: one.tool)
def test_an_issue_is_one_at_any_place_and_no_other(example: Example) -> None:
    first = _first(example.output)
    again = [one.fingerprint for one in diagnostics_in(example.same)]
    # Of a test a text that says less has one of the keys of the text that says more.
    assert first.fingerprint in again or set(again) & set(first.keys)
    assert not set(first.keys[:1]) & {one.fingerprint for one in diagnostics_in(example.other)}
    assert {name: getattr(first, name) for name in example.names} == example.names


def test_there_are_the_tools_of_the_docs() -> None:
    assert len({example.tool for example in EXAMPLES}) >= 40


@each_row(
    "line",
    [
        "[lint:go] $ golangci-lint run ./...",
        "$ vitest run",
        "> shop@1.0.0 test",
        "# example.com/shop/cart [example.com/shop/cart.test]",
        "Found 3 errors in 2 files (checked 12 source files)",
        "12 issues:",
        "* errcheck: 3",
        "========================= 2 failed, 3 passed in 0.42s =========================",
        "FAIL\texample.com/shop\t0.012s",
        "[test:e2e] ERROR task failed",
        "npm error A complete log of this run can be found in: /home/dev/.npm/_logs/x-debug-0.log",
        "npm ERR! code ELIFECYCLE",
        "make: *** [Makefile:3: all] Error 1",
        'error: script "lint" exited with code 1',
        "error: could not compile `shop` (lib) due to 1 previous error",
        "Process completed with exit code 1.",
        "exit status 1",
        "BUILD FAILED in 3s",
        "Tests:       1 failed, 12 passed, 13 total",
        "\u2716 3 problems (2 errors, 1 warning)",
    ],
)
def test_a_banner_or_a_total_is_never_what_is_wrong(line: str) -> None:
    assert is_noise(line)
    assert list(keys_of_text(line)) == []


def test_the_compile_error_is_one_issue_in_every_check() -> None:
    build = "# example.com/shop\ncart.go:12:5: declared and not used: total"
    tests = (
        "# example.com/shop [example.com/shop.test]\n./cart.go:12:5: total declared and not "
        "used\nFAIL\texample.com/shop [build failed]"
    )
    lint = "cart.go:12:5: declared and not used: total (typecheck)\n1 issues:\n* typecheck: 1"
    editor = "declared and not used: total"
    issues = {_first(output).fingerprint for output in (build, tests, lint)}
    assert issues == set(keys_of_text(editor)) & issues
    assert len(issues) == 1


def test_a_traceback_of_pytest_finds_the_test_that_the_summary_names() -> None:
    cut = (
        "________________________ test_add ________________________\n\n    def test_add():\n> "
        "      assert total() == 4\n"
        "E       AssertionError: wrong total\n\ntests/test_cart.py:12: AssertionError"
    )
    whole = Diagnostic(
        tool="pytest",
        test="tests/test_cart.py::test_add",
        file="tests/test_cart.py",
        message="AssertionError: wrong total",
    )
    assert _first(cut).fingerprint == whole.fingerprint
    assert set(keys_of_text("E       AssertionError: wrong total")) & set(whole.keys)


@pytest.mark.parametrize("text", ["TestAdd", "TestAdd/two_prices", "--- FAIL: TestAdd (0.00s)"])
def test_a_tests_name_finds_it(text: str) -> None:
    assert set(keys_of_text(text)) & set(Diagnostic(tool="go test", test="TestAdd", file="cart_test.go").keys)


def test_a_failure_for_another_reason_is_another_issue() -> None:
    one = Diagnostic(tool="pytest", test="tests/test_cart.py::test_add", raised="KeyError", file="tests/test_cart.py")
    other = Diagnostic(tool="pytest", test="tests/test_cart.py::test_add", raised="OSError", file="tests/test_cart.py")
    assert one.fingerprint != other.fingerprint


def test_one_word_is_an_issue_of_its_tool_only() -> None:
    assert (
        Diagnostic(tool="shop", message="Killed").fingerprint != Diagnostic(tool="cart", message="Killed").fingerprint
    )


def test_steps_of_a_dockerfile_are_issues_of_their_own() -> None:
    failed = 'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1'
    other = failed.replace("npm ci", "pip install shop")
    assert _first(failed).fingerprint != _first(other).fingerprint
    for said in ("RUN npm ci", "#9 [4/5] RUN npm ci", " > [4/5] RUN npm ci:", "Step 4/5 : RUN npm ci"):
        assert _first(failed).fingerprint in set(keys_of_text(said))
    assert (
        _first("The command '/bin/sh -c npm ci' returned a non-zero code: 1").fingerprint == _first(failed).fingerprint
    )


@pytest.mark.parametrize(
    "cut",
    [
        "    def test_add():\n>       assert total() == 4\nE       assert 3 == 4",
        "tests/test_cart.py:12: in test_add\n    assert total() == 4\nE   assert 3 == 4",
    ],
)
def test_a_traceback_without_its_heading_finds_its_test(cut: str) -> None:
    whole = Diagnostic(tool="pytest", test="tests/test_cart.py::test_add", file="tests/test_cart.py")
    assert set(keys_of_text(cut)) & set(whole.keys)
