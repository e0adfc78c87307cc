"""BLAKE2b without what `hashlib` loads besides: OpenSSL takes 5 ms, and an agent waits for a hook at every tool call.

>>> blake2b(b"cart", digest_size=8).hexdigest() == __import__("hashlib").blake2b(b"cart", digest_size=8).hexdigest()
True
"""

try:
    from _blake2 import blake2b
except ImportError:  # CPython's own name for it, which no other Python needs to have
    from hashlib import blake2b

__all__ = ["blake2b"]
