"""The tools, one file a subject. Each calls one method of the library and renders its answer as the command does."""
