"""The hooks that agents call: ``helix-graph hook <event>``.

An agent starts this program at every prompt and every tool call, and waits for it. So nothing is imported that an event
does not need (no click, no networkx, no numpy), the work is done in a child process that is killed when its time is up,
and failures are written to ``.helix/hooks.log`` and never shown: the exit code is always 0.
"""

from __future__ import annotations
