"""What runners of many kinds print when they fail and when they pass."""

# ruff: noqa: RUF001  (signs as the tools print them)

from __future__ import annotations

from typing import NamedTuple


class Case(NamedTuple):
    """A failing run as it was printed, and what should be read from it."""

    command: str
    check: str
    families: list[str]
    output: str
    failed: int | None = None
    passed: int | None = None


FAILING = [
    Case(
        "npx markdownlint-cli2 docs/*.md",
        check="markdownlint-cli2",
        families=["MD013"],
        failed=1,
        output="""
Linting: 2 file(s)
Summary: 1 error(s)
docs/cart.md:3:81 error MD013/line-length Line length [Expected: 80; Actual: 92]
""",
    ),
    Case(
        "vale docs",
        check="vale",
        families=["Shop.Terms"],
        failed=1,
        output="""
 docs/cart.md
 3:1  error  Use 'cart' instead.  Shop.Terms

✖ 1 error, 0 warnings and 0 suggestions in 2 files.
""",
    ),
    Case(
        "go test ./... -v",
        check="go test",
        families=["test failed"],
        failed=1,
        passed=1,
        output="""
=== RUN   TestPut
    store_test.go:9: setting up
    store_test.go:14: got 1, want 2
--- FAIL: TestPut (0.00s)
--- PASS: TestGet (0.00s)
FAIL
FAIL\texample.com/shop/store\t0.2s
ok  \texample.com/shop/cart\t0.1s
FAIL
""",
    ),
    Case(
        "go test ./...",
        check="go test",
        families=["undefined name", "unused variable"],
        output="""
# example.com/shop/store [example.com/shop/store.test]
store/put.go:7:2: undefined: pric
store/put.go:9:2: declared and not used: n
FAIL\texample.com/shop/store [build failed]
FAIL
""",
    ),
    Case(
        "go test ./...",
        check="go test",
        families=["timeout"],
        output="""
panic: test timed out after 30s
running tests:
\tTestSlow (30s)

goroutine 1 [running]:
FAIL\texample.com/shop\t30.0s
FAIL
""",
    ),
    Case(
        "go build ./...",
        check="go build",
        families=["unused import"],
        output="""
# shop
cart.go:3:8: "fmt" imported and not used
""",
    ),
    Case(
        "golangci-lint run",
        check="golangci-lint",
        families=["errcheck", "dupl", "revive exported"],
        failed=3,
        output="""
a.go:1:2: Error return value is not checked (errcheck)
\tf()
\t^
b.go:3: 3-9 lines are duplicate of `b.go:12-18` (dupl)
c.go:4:1: exported: comment on exported type T (revive)
3 issues:
* dupl: 1
* errcheck: 1
* revive: 1
""",
    ),
    Case(
        "golangci-lint run",
        check="golangci-lint",
        families=["wrong arguments"],
        failed=1,
        output="""
shop/cart.go:1: : # example.com/shop [example.com/shop.test]
shop/cart_test.go:8:5: too many arguments in call to Add
\thave (string)
\twant () (typecheck)
package shop
1 issues:
* typecheck: 1
""",
    ),
    Case(
        "pytest",
        check="pytest",
        families=["AssertionError", "KeyError", "ModuleNotFoundError"],
        failed=3,
        passed=5,
        output="""
E       assert 3 == 4
E   KeyError: 'vat'
=========================== short test summary info ============================
FAILED tests/test_cart.py::test_sum - assert 3 == 4
FAILED tests/test_cart.py::test_vat - KeyError: 'vat'
ERROR tests/test_tax.py - ModuleNotFoundError: No module named 'tax'
============= 2 failed, 5 passed, 1 skipped, 1 error in 0.31s (0:00:01) ==============
""",
    ),
    Case(
        "python -m unittest",
        check="unittest",
        families=["ValueError"],
        failed=1,
        passed=1,
        output="""
E.
======
ERROR: test_vat (tests.test_cart.CartTest)
------
Traceback (most recent call last):
  File "a.py", line 3, in f
decimal.InvalidOperation: x
ValueError: bad

Ran 2 tests in 0.001s

FAILED (errors=1)
""",
    ),
    Case(
        "mypy src",
        check="mypy",
        families=["name-defined", "arg-type"],
        failed=2,
        output="""
src/a.py:3: error: Name "x" is not defined  [name-defined]
src/a.py:4:1: error: Bad  [arg-type]
Found 2 errors in 1 file (checked 3)
""",
    ),
    Case(
        "pyright",
        check="pyright",
        families=["reportAttributeAccessIssue"],
        failed=1,
        output="""
/w/a.py
  /w/a.py:3:5 - error: No such thing (reportAttributeAccessIssue)
1 error, 0 warnings, 0 informations
""",
    ),
    Case(
        "ruff check .",
        check="ruff",
        families=["F401"],
        failed=1,
        output="""
a.py:1:8: F401 [*] `os` imported but unused
Found 1 error.
""",
    ),
    Case(
        "ruff check .",
        check="ruff",
        families=["E501"],
        failed=1,
        output="""
E501 Line too long (130 > 120)
 --> a.py:3:121
  |
3 | x

Found 1 error.
""",
    ),
    Case(
        "flake8",
        check="flake8",
        families=["E501", "F401"],
        failed=2,
        output="""
a.py:1:80: E501 line too long
b.py:2:1: F401 'os' imported
""",
    ),
    Case(
        "black --check .",
        check="black",
        families=["not formatted"],
        failed=1,
        output="""
would reformat a.py
1 file would be reformatted, 2 files would be left unchanged.
""",
    ),
    Case(
        "npx jest",
        check="jest",
        families=["TypeError"],
        failed=1,
        passed=3,
        output="""
FAIL src/cart.test.js
  ● cart › adds

    TypeError: total is not a function

Test Suites: 1 failed, 1 total
Tests:       1 failed, 1 skipped, 3 passed, 5 total
""",
    ),
    Case(
        "npx vitest run",
        check="vitest",
        families=["test failed"],
        failed=1,
        passed=2,
        output="""
 FAIL  src/cart.test.ts > cart > adds
AssertionError: expected 3 to be 4

 Test Files  1 failed (1)
      Tests  1 failed | 2 passed (3)
""",
    ),
    Case(
        "mocha",
        check="mocha",
        families=["ReferenceError"],
        failed=1,
        passed=2,
        output="""
  2 passing (12ms)
  1 failing

  1) cart adds:
     ReferenceError: x is not defined
""",
    ),
    Case(
        "npx tsc --noEmit",
        check="tsc",
        families=["TS2345", "TS2304"],
        failed=2,
        output="""
src/a.ts(3,5): error TS2345: Argument of type.
src/b.ts:1:2 - error TS2304: Cannot find name 'x'.
Found 2 errors in 2 files.
""",
    ),
    Case(
        "npx eslint .",
        check="eslint",
        families=["no-unused-vars"],
        failed=1,
        output="""
/w/src/a.js
  1:7  error    'x' is assigned a value but never used  no-unused-vars
  2:1  warning  Unexpected console  no-console

✖ 2 problems (1 error, 1 warning)
""",
    ),
    Case(
        "prettier --check .",
        check="prettier",
        families=["not formatted"],
        failed=1,
        output="""
[warn] src/a.js
[warn] Code style issues found in the above file.
""",
    ),
    Case(
        "cargo build",
        check="cargo build",
        families=["E0308"],
        failed=1,
        output="""
error[E0308]: mismatched types
  --> src/main.rs:3:5
   |

error: could not compile `shop` (bin) due to 1 previous error
""",
    ),
    Case(
        "cargo clippy -- -D warnings",
        check="cargo clippy",
        families=["clippy::needless-return"],
        failed=1,
        output="""
error: unneeded `return` statement
 --> src/main.rs:2:5
  |
  = note: `-D clippy::needless-return` implied

error: could not compile `shop` (lib) due to 1 previous error
""",
    ),
    Case(
        "cargo test",
        check="cargo test",
        families=["test failed"],
        failed=1,
        passed=4,
        output="""
test cart::adds ... FAILED
thread 'cart::adds' panicked at src/cart.rs:9:5:
test result: FAILED. 4 passed; 1 failed; 2 ignored; 0 measured
""",
    ),
    Case(
        "mvn test",
        check="mvn test",
        families=["test failed"],
        failed=2,
        passed=1,
        output="""
[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 1
[INFO] BUILD FAILURE
""",
    ),
    Case(
        "./gradlew test",
        check="gradle test",
        families=["test failed"],
        failed=1,
        passed=6,
        output="""
CartTest > adds() FAILED

7 tests completed, 1 failed
BUILD FAILED in 3s
""",
    ),
    Case(
        "dotnet test",
        check="dotnet test",
        families=["test failed"],
        failed=1,
        passed=4,
        output="""
  Failed Shop.CartTests.Adds [3 ms]
Failed!  - Failed:     1, Passed:     4, Skipped:     0, Total:     5
""",
    ),
    Case(
        "dotnet build",
        check="dotnet build",
        families=["CS0103"],
        failed=1,
        output="""
/w/Cart.cs(3,5): error CS0103: The name 'x' does not exist [/w/s.csproj]
""",
    ),
    Case(
        "bundle exec rspec",
        check="rspec",
        families=["test failed"],
        failed=1,
        passed=1,
        output="""
3 examples, 1 failure, 1 pending

rspec ./spec/cart_spec.rb:3 # Cart adds
""",
    ),
    Case(
        "rake test",
        check="rake test",
        families=["test failed"],
        failed=1,
        passed=4,
        output="""
5 runs, 9 assertions, 1 failures, 0 errors, 0 skips
""",
    ),
    Case(
        "vendor/bin/phpunit",
        check="phpunit",
        families=["test failed"],
        failed=1,
        passed=2,
        output="""
1) CartTest::testAdds

Tests: 3, Assertions: 5, Failures: 1.
""",
    ),
    Case(
        "pwsh -c Invoke-Pester && make test",
        check="Pester",
        families=["test failed"],
        failed=2,
        passed=7,
        output="""
Tests Passed: 7, Failed: 2, Skipped: 1 NotRun: 0
""",
    ),
    Case(
        "gcc -c a.c",
        check="gcc",
        families=["undefined name"],
        failed=1,
        output="""
a.c:3:5: error: 'x' undeclared (first use in this function)
""",
    ),
    Case(
        "pre-commit run -a",
        check="pre-commit",
        families=["ruff"],
        failed=1,
        passed=3,
        output="""
ruff.....................................................................Failed
- hook id: ruff
- exit code: 1

trim trailing whitespace.................................................Passed
fix end of files.........................................................Passed
check toml...............................................................Passed
check yaml...........................................(no files to check)Skipped
""",
    ),
    Case(
        "make test",
        check="make test",
        families=["test failed"],
        failed=3,
        passed=12,
        output="""
12 passed, 3 failed
""",
    ),
    Case(
        "bunx biome check src",
        check="biome",
        families=["useConst", "not formatted"],
        failed=2,
        output="""
src/cart.ts:3:1 lint/style/useConst  FIXABLE  ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × This let declares a variable that is only assigned once.

    2 │
  > 3 │ let total = 1;
      │ ^^^

src/tax.ts:1:9 lint/suspicious/noExplicitAny ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  ! Unexpected any. Specify a different type.

src/tax.ts format ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Formatter would have printed the following content:

Checked 2 files in 18ms. No fixes applied.
Found 2 errors.
Found 1 warning.
check ━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━━

  × Some errors were emitted while running checks.
""",
    ),
    Case(
        "bun test",
        check="bun test",
        families=["test failed", "TypeError"],
        failed=2,
        passed=1,
        output="""
bun test v1.4.5 (a7733435c)

src/cart.test.ts:
3 | test("sums", () => { expect(total(1, 2)).toBe(4); });
                                             ^
error: expect(received).toBe(expected)

Expected: 4
Received: 3

      at <anonymous> (/srv/shop/src/cart.test.ts:3:64)
(fail) cart > sums [0.54ms]
(pass) cart > adds [0.06ms]
TypeError: undefined is not an object (evaluating 'price.tax')
      at <anonymous> (/srv/shop/src/cart.test.ts:9:15)
(fail) cart > taxes [0.11ms]

 1 pass
 2 fail
 2 expect() calls
Ran 3 tests across 1 file. [20.00ms]
""",
    ),
    Case(
        "npx playwright test",
        check="playwright test",
        families=["test failed"],
        failed=1,
        passed=4,
        output="""
Running 6 tests using 2 workers

  ✘  1 [chromium] › e2e/cart.spec.ts:2:1 › sums (44ms)
  ✓  2 [chromium] › e2e/cart.spec.ts:3:1 › adds (20ms)

  1) [chromium] › e2e/cart.spec.ts:2:1 › sums ───────────────────────────────

    Error: expect(received).toBe(expected) // Object.is equality

    Expected: 3
    Received: 2

  1 failed
    [chromium] › e2e/cart.spec.ts:2:1 › sums ────────────────────────────────
  1 skipped
  4 passed (4.0s)
""",
    ),
    Case(
        "npx vite build",
        check="vite build",
        families=["cannot resolve"],
        failed=1,
        output="""
vite v8.3.8 building client environment for production...
✓ 4 modules transformed.
✗ Build failed in 122ms
error during build:
Build failed with 1 error:

[UNRESOLVED_IMPORT] Could not resolve './cart' in src/main.ts
   ╭─[ src/main.ts:1:19 ]
""",
    ),
    Case(
        "npx webpack --mode production",
        check="webpack",
        families=["cannot resolve", "TS2322"],
        failed=2,
        output="""
./src/index.js 18 bytes [built] [code generated]

ERROR in ./src/index.js 1:0-16
Module not found: Error: Can't resolve './cart' in '/srv/shop/src'

ERROR in /srv/shop/src/tax.ts
TS2322: Type 'string' is not assignable to type 'number'.

webpack 5.112.2 compiled with 2 errors in 527 ms
""",
    ),
    Case(
        "npx next build",
        check="next build",
        families=["type error"],
        failed=1,
        output="""
 ✓ Compiled successfully
   Linting and checking validity of types ...
Failed to compile.

./app/cart/page.tsx:7:3
Type error: Property 'tax' is missing in the price.

  5 | export default function Page() {
""",
    ),
    Case(
        "flutter analyze",
        check="flutter analyze",
        families=["undefined_identifier", "unused_import"],
        failed=2,
        output="""
Analyzing shop...

  error • Undefined name 'pric' • lib/cart.dart:3:4 • undefined_identifier
warning • Unused import: 'tax.dart' • lib/cart.dart:1:8 • unused_import

2 issues found. (ran in 1.4s)
""",
    ),
    Case(
        "flutter test",
        check="flutter test",
        families=["test failed"],
        failed=1,
        passed=3,
        output="""
00:02 +3 -1: test/cart_test.dart: sums [E]
  Expected: <4>
    Actual: <3>
00:03 +3 -1: Some tests failed.
""",
    ),
]


PASSING = [
    ("go test ./...", "ok  \texample.com/shop\t0.2s\n?   \texample.com/shop/x\t[no test files]\n"),
    (
        "go test -v ./x",
        "=== RUN   TestFail\n    a_test.go:3: Error: FAIL as expected\n--- PASS: TestFail (0.00s)\nPASS\n",
    ),
    ("golangci-lint run", "0 issues.\n"),
    ("pytest", "tests/test_error.py::test_failed PASSED\n===== 3 passed, 1 xfailed, 2 warnings in 0.1s =====\n"),
    ("python -m unittest", "...\nRan 3 tests in 0.0s\n\nOK (skipped=1)\n"),
    ("mypy .", "Success: no issues found in 3 source files\n"),
    ("pyright", "0 errors, 0 warnings, 0 informations \n"),
    ("ruff check", "All checks passed!\n"),
    ("npx jest", "Test Suites: 2 passed, 2 total\nTests:       3 passed, 3 total\n"),
    ("npx vitest run", " Test Files  2 passed (2)\n      Tests  3 passed (3)\n"),
    ("npx eslint .", "✖ 2 problems (0 errors, 2 warnings)\n"),
    (
        "cargo test",
        "test result: ok. 3 passed; 0 failed; 0 ignored\n\ntest result: ok. 0 passed; 0 failed; 0 ignored\n",
    ),
    ("dotnet test", "Passed!  - Failed:     0, Passed:     4, Skipped:     0, Total:     4\n"),
    ("mvn test", "[INFO] Tests run: 4, Failures: 0, Errors: 0, Skipped: 0\n"),
    ("rspec", "3 examples, 0 failures\n"),
    ("phpunit", "OK (3 tests, 5 assertions)\n"),
    ("black --check .", "All done!\n3 files would be left unchanged.\n"),
    ("prettier --check .", "All matched files use Prettier code style!\n"),
    ("mocha", "  2 passing (12ms)\n"),
    ("go build ./...", ""),
    ("biome ci", "Checked 267 files in 85ms. No fixes applied.\nFound 2 warnings.\n"),
    ("bun test", " 1241 pass\n 0 fail\n 3010 expect() calls\nRan 1241 tests across 80 files. [3.20s]\n"),
    ("npx playwright test", "  1 flaky\n    [chromium] › e2e/cart.spec.ts:2:1 › sums ──\n  4 passed (3.2s)\n"),
    ("npx vite build", "dist/assets/index.js  0.68 kB │ gzip: 0.40 kB\n\n✓ built in 102ms\n"),
    ("npx webpack", "asset main.js 15 bytes [emitted]\nwebpack 5.112.2 compiled with 1 warning in 491 ms\n"),
    ("npx next build", " ✓ Compiled successfully\n ✓ Generating static pages (5/5)\n"),
    ("flutter analyze", "Analyzing shop...\nNo issues found! (ran in 2.1s)\n"),
    ("flutter test", "00:02 +5: All tests passed!\n"),
    ("pwsh -c Invoke-Pester", "Tests Passed: 7, Failed: 0, Skipped: 1 NotRun: 0\n"),
]
