"""The text forms of the seed document, made of what the library answers: one function for each kind of answer.

They are what agents read, so they are compact; a program takes the values themselves. ``form_of`` knows which is whose.
"""

from __future__ import annotations

from helix_graph.topics.forms.registry import form_of

__all__ = ["form_of"]
