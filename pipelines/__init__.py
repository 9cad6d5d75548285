"""PDF → documents → nodes. Pure: no storage, no model, no network, no global state."""
