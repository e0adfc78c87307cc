"""Setup: the memory's hooks and server in an agent's settings, and out of them again.

In this order: the agent's own command, a file of our own, an edit of a shared file. An edit only ever inserts: not a
byte of what stands there is touched, and what was inserted can be cut out again.
"""
