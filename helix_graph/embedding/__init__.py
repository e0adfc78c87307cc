"""Text to vectors: the protocol, the engines, finding their weights. Nothing heavy loads before it is used."""
