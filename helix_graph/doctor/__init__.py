"""The doctor: what is wrong with a memory, and what can be done about it.

`helix_graph.doctor.api.examine` runs the checks in an order that matters, because repairing an episode changes the
graph: first ``files`` (the folder, episodes, assertions and files set aside), then ``databases`` (graph.db with its
export, and helix.db).
"""
