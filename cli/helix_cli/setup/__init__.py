"""Setup: add the memory's hooks and server to an agent's settings, and remove them again.

It prefers the agent's own command, then a file of our own, then an edit of a shared file. An edit only inserts: every
other byte stays, and the backup of the file restores it.
"""

from __future__ import annotations
