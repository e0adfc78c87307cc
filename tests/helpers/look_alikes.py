"""Errors that only look like the one that was repaired, and commands of sessions in which nothing failed.

The repaired one is the harness's: ``unsupported operand type(s) for *: 'decimal.Decimal' and 'float'`` in shop/cart.py.
"""

from __future__ import annotations

MET = "E       TypeError: unsupported operand type(s) for *: 'decimal.Decimal' and 'float'\n1 failed in 0.1s\n"
IMPORTS = "from decimal import Decimal\n\nfrom shop.cart import total\n\n\n"
#: By name: the body of a test that fails with another cause, though runner, kind or words are the same.
ERRORS = {
    "subscript": "    assert total([])[0] == 0\n",
    "missing": "    assert total() == 0\n",
    "keyword": "    assert total([], rate=0.1) == 0\n",
    "called": "    assert Decimal(3)(2) == 6\n",
    "iterated": "    assert total(1.5) == 0\n",
    "joined": "    assert '3' + 4 == 7\n",
    "asserted": "    assert total([Decimal('10.00')]) == Decimal('9.00')\n",
    "worded": "    raise ValueError('unsupported operand for Decimal and float')\n",
    "absent": "    import decimal_tools\n",
    "nothing": "    assert None * Decimal(2) == 2\n",
}
COMMANDS = {name: f"python -m pytest -q others/test_{name}.py" for name in ERRORS}
#: The error itself, met elsewhere; with it a session shows that the memory would have spoken.
SAME = "python -m pytest -q others/test_same.py"
FILES = {
    **{f"others/test_{name}.py": f"{IMPORTS}def test_{name}():\n{body}" for name, body in ERRORS.items()},
    "others/test_same.py": f"{IMPORTS}def test_same():\n    assert Decimal(20) * 1.2 == 24\n",
    "pytest.ini": "[pytest]\ntestpaths = tests\n",
    "ci.log": MET,
    "shop/errors.py": "class CartError(Exception):\n    '''TypeError: unsupported operand; 1 failed'''\n",
}
#: By prompt: a command that goes well, whatever words it prints.
QUIET = {
    "Show me the log of the build.": "cat ci.log",
    "What were its last lines?": "tail -n 1 ci.log",
    "Where do we mention such errors?": "grep -rn TypeError shop | head",
    "Are the tests green?": "python -m pytest -q tests 2>&1 | tail -3",
    "Which tests do we have?": "python -m pytest -q --collect-only tests",
    "What was done lately?": "git log --oneline | head",
    "What differs from the commit?": "git diff HEAD~1 | tail -n 30",
    "What is in the module of errors?": "sed -n 1,20p shop/errors.py",
    "Say that all is well.": "echo 'no errors, 0 failed'",
    "Does it compile?": "python -m compileall -q shop && echo ok",
}
