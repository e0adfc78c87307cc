"""Is nothing said of an error that only looks like one that was repaired, or of what is no failure?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from helix_graph import Memory
from hook_calls import call
from session_script import Script

if TYPE_CHECKING:
    from pathlib import Path

MET = "E       TypeError: unsupported operand type(s) for *: 'decimal.Decimal' and 'float'\n1 failed in 0.1s"


def raised(message: str, test: str = "tests/test_login.py::test_login") -> str:
    return f"E       {message}\nFAILED {test} - {message[:20]}...\n1 failed in 0.1s"


#: Errors of the same runner, kind or words as the one that was repaired, with another cause.
LOOKALIKES = {
    "another TypeError": raised("TypeError: 'NoneType' object is not subscriptable"),
    "a missing argument": raised("TypeError: total() missing 1 required positional argument: 'discount'"),
    "an unexpected argument": raised("TypeError: total() got an unexpected keyword argument 'rate'"),
    "not callable": raised("TypeError: 'Decimal' object is not callable"),
    "not iterable": raised("TypeError: 'float' object is not iterable"),
    "another operator and types": raised('TypeError: can only concatenate str (not "int") to str'),
    "an assertion of the same test": raised(
        "AssertionError: assert Decimal('9.0') == Decimal('9.1')", "tests/test_cart.py::test_discount"
    ),
    "another exception with the same words": raised("ValueError: unsupported operand for 'Decimal': 'float'"),
    "a missing module": raised("ModuleNotFoundError: No module named 'decimal_tools'"),
    "a type checker's complaint": 'shop/cart.py:7: error: Unsupported operand types for * ("Decimal" and "float")'
    "  [operator]\nFound 1 error in 1 file (checked 2 source files)",
}
#: Commands that went well, whatever words they print.
NOTHING: dict[str, tuple[str, str]] = {
    "a log that is shown": ("cat ci.log", MET),
    "the end of a log": ("tail -n 20 build/pytest.log", MET),
    "a search": ("grep -rn 'TypeError' shop | head", "shop/cart.py:3:    # TypeError: unsupported operand type(s)"),
    "a passing run": ("pytest -q 2>&1 | tail -3", "3 passed, 0 failed in 0.1s"),
    "a passing run with a warning": ("pytest -q", "tests/test_cart.py: DeprecationWarning: error codes\n3 passed"),
    "a history": ("git log --oneline | head", "a1b2c3d Fix TypeError: unsupported operand type(s) for *"),
    "a difference": ("git diff", "+    raise TypeError('unsupported operand type(s) for *')"),
    "a file": ("sed -n 1,20p shop/errors.py", "class CartError(Exception):\n    '''1 failed'''"),
    "an echo": ("echo 'no errors, 0 failed'", "no errors, 0 failed"),
    "an installation": ("pip install pytest | tail -1", "Successfully installed error-tools-1.0 pytest-8.0"),
}


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder: Path = tmp_path_factory.mktemp("shop")
    (folder / ".git").mkdir()
    memory = Memory.init(folder)
    log = (
        Script("met", root=str(folder))
        .prompt("A cart with a discount raises an error")
        .run(
            "pytest -q",
            MET.replace("\n", "\nFAILED tests/test_cart.py::test_discount - TypeError: unsup...\n", 1),
            code=1,
        )
        .edit("shop/cart.py", "price * rate", "price * Decimal(str(rate))")
        .run("pytest -q", "2 passed in 0.1s")
    )
    memory.extract([log.save(folder / "logs")])
    memory.graph.compile()
    return folder


def piped(project: Path, command: str, output: str) -> dict[str, Any]:
    response = {"stdout": output, "stderr": "", "interrupted": False}
    return {"cwd": str(project), "tool_name": "Bash", "tool_input": {"command": command}, "tool_response": response}


@pytest.mark.slow
def test_the_error_itself_is_answered(project: Path) -> None:
    assert "shop/cart.py" in call("tool-failure", {"cwd": str(project), "session_id": "same", "error": MET}).context
    told = piped(project, "pytest -q 2>&1 | tail -9", MET)
    assert "shop/cart.py" in call("post-tool", {**told, "session_id": "piped"}).context


@pytest.mark.parametrize("name", LOOKALIKES)
def test_a_repair_of_something_else_is_not_told(project: Path, name: str) -> None:
    failed = {"cwd": str(project), "session_id": name, "tool_name": "Bash", "error": LOOKALIKES[name]}
    assert call("tool-failure", failed).said is None


@pytest.mark.parametrize("name", NOTHING)
def test_where_nothing_failed_nothing_is_said(project: Path, name: str) -> None:
    assert call("post-tool", {**piped(project, *NOTHING[name]), "session_id": name}).said is None
