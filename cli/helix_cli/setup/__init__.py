"""Setup: the memory's hooks and server in an agent's settings, and out of them again.

It prefers the agent's own command, then a file of our own, then an edit of a shared file. An edit only ever inserts:
not a byte of what is there changes, and what was inserted can be cut out again.
"""

from __future__ import annotations
