"""The doors through which agents' hooks come in: ``helix-graph hook <event>``.

An agent starts this program at every prompt and every tool call, and waits for it. So nothing is imported here that an
event doesn't need (no click, no networkx, no numpy), the work is done in a child process that is killed when its time
is up, and whatever goes wrong is written to ``.helix/hooks.log`` and never shown: the exit code is always 0.
"""
