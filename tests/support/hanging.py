"""How long a test waits for an event that comes unless the code is wrong."""

MAX_HANG_S = 300.0
"""Makes a hang a failure, on however slow a machine; no outcome depends on it."""
